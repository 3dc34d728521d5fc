"""Five pieces of a training, mended: a mask, a scale, what learns, a mirror and a bonus.

The faulty ones are in the lab, where students find the fault and mend it; `short_trainings` trains with either.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    """Let every word look at every patch of its own scene, and at no cell that is padding.

    Args:
        cross_attn: a MultiHeadAttention; its mask is True where a word may look.
        words: (B, T, d_model)
        patches: (B, S, d_model)
        padding: (B, S) bool, True where a cell is padding; no scene is padding alone.

    Returns:
        what is seen (B, T, d_model), weights (B, H, T, S).
    """
    return cross_attn(words, patches, ~padding.unsqueeze(-2))


def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Compute attention with its scale.

    The formula is softmax(QKᵀ / √d_k) V (Vaswani et al. 2017, eq. 1: https://arxiv.org/abs/1706.03762).

    Args:
        query: (..., T, d_k)
        key: (..., S, d_k)
        value: (..., S, d_v)

    Returns:
        what is seen (..., T, d_v), weights (..., T, S).
    """
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    """Encode patches with an encoder that stays as it is, and align them with an aligner that learns.

    Args:
        encoder: takes patches (B, S, 64).
        aligner: takes what the encoder returns.

    Returns:
        (B, S, d), with gradients for the aligner alone.
    """
    with torch.no_grad():
        features = encoder(patches)
    return aligner(features)


def mirror_left_right(cells: Tensor, patches: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """Mirror some scenes of 3×3 patches, and the places that are asked about along with them.

    The patches change places; the digits on them stay as they were written.

    Args:
        cells: (B,) 0…8, the place that is asked about, row by row.
        patches: (B, 9, d)
        turned: (B,) bool, which scenes are mirrored.

    Returns:
        both, of the same shapes.
    """
    mirrored = patches.unflatten(1, (3, 3)).flip(2).flatten(1, 2)
    column = cells % 3
    return (
        torch.where(turned, cells - column + (2 - column), cells),
        torch.where(turned[:, None, None], mirrored, patches),
    )


def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Return the cross-entropy of the answers, less a bonus for looking around.

    The bonus is strength × the mean entropy of the maps.

    A bonus on entropy keeps a choice open until it is known what is good (Williams and Peng 1991, for actions:
    https://doi.org/10.1080/09540099108946587).

    Args:
        logits: (B, V)
        answers: (B,) integers of 0…V−1.
        weights: (B, S), rows sum to 1; a weight may be 0, and 0 · log 0 is 0.
        strength: of the bonus; 0 is none.

    Returns:
        A scalar.
    """
    # A weight of exactly 0 must give no NaN, neither here nor in a gradient.
    surprise = -weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
