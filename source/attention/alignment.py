"""Alignment: image tokens are carried into the space of the words.

A linear projection is what LLaVA learns first (Liu et al. 2023, section 4.1: https://arxiv.org/abs/2304.08485);
the two-layer form is LLaVA-1.5's (https://arxiv.org/abs/2310.03744).
Axes: N tokens in all, V words.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

METHODS = ("linear", "mlp", "identity")


class TokenAligner(nn.Module):
    """Image tokens in, tokens as wide as the text out.

    `proj` is the only part: Linear ("linear"), Linear → GELU → Linear ("mlp"), or nothing at all ("identity").

    Raises:
        ValueError: the method is unknown, or it is "identity" between different widths.
    """

    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__()
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError(f"identity needs equal widths, but d_vision = {d_vision} and d_text = {d_text}")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            self.proj = nn.Identity()

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (..., n, d_vision) → (..., n, d_text)."""
        return self.proj(tokens)


def explained_variance(tokens: Tensor, aligned: Tensor) -> Tensor:
    """Return how much of the tokens can be read back, linearly, from what an aligner made of them.

    1 − residual / total sum of squares, summed over the dimensions of tokens, for the least-squares readout with
    intercept from aligned back to tokens. The best readout projects the centred tokens onto the span of the centred
    aligned ones; singular vectors of that span also serve where it has fewer dimensions than columns.

    Args:
        tokens: (..., d_vision)
        aligned: (..., d_text), the same leading dimensions; all of them are pooled.

    Returns:
        A scalar in [0, 1], in the dtype of tokens.
    """
    before, after = (side.detach().flatten(0, -2).double() for side in (tokens, aligned))
    before, after = before - before.mean(0), after - after.mean(0)
    basis, sizes, _ = torch.linalg.svd(after, full_matrices=False)
    noise = torch.finfo(aligned.dtype).eps * max(after.shape) * sizes.max()  # below it, a direction is rounding
    explained = (basis[:, sizes > noise].T @ before).square().sum()
    return (explained / before.square().sum()).clamp(0, 1).to(tokens.dtype)


def alignment_loss(aligned: Tensor, words: Tensor, labels: Tensor, temperature: float = 0.1) -> Tensor:
    """Pull each token to its own word and away from all other words.

    Cross-entropy over cosine similarities divided by a temperature, as in the image-to-text half of CLIP (Radford
    et al. 2021, figure 3: https://arxiv.org/abs/2103.00020), but against a fixed vocabulary.

    Args:
        aligned: (..., d)
        words: (V, d)
        labels: (...) integers of 0…V−1.

    Returns:
        A scalar, the mean over all tokens.
    """
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T  # (..., V)
    return F.cross_entropy(similarity.reshape(-1, len(words)) / temperature, labels.reshape(-1))
