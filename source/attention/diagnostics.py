"""When training goes wrong: how to tell what.

"Collapse" has two opposite meanings. A map may be uniform, so that every query gets the same average. Or its entropy
may collapse, so that every query looks at one and the same patch (Zhai et al. 2023 call this entropy collapse and tie
it to instability: https://arxiv.org/abs/2303.06296). Both are measured here; neither is called just "collapse".

Axes: T queries, S patches.
"""

from collections.abc import Mapping
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.training import shift_targets

FINDINGS = ("frozen", "no gradient", "uniform", "one patch", "misaligned")


def sharpness(weights: Tensor) -> tuple[float, float]:
    """Return how spread the maps are, and how alike.

    Args:
        weights: (..., T, S), rows sum to 1.

    Returns:
        entropy: the mean entropy of the rows, over log S: 1 for uniform rows, 0 for rows on one patch.
        share: the largest weight in the mean of all rows: 1 where every row is on the same patch.
    """
    rows = weights.flatten(0, -2)
    entropy = torch.special.entr(rows).sum(-1).mean() / log(rows.shape[-1])
    return entropy.item(), rows.mean(0).max().item()


def gradient_reach(model: nn.Module, loss: Tensor) -> dict[str, float | None]:
    """Return the norm of every parameter's gradient, by the parameter's name; None where it is frozen.

    A parameter that the loss does not depend on has 0.
    """
    named = dict(model.named_parameters())
    learns = {name: parameter for name, parameter in named.items() if parameter.requires_grad}
    found = torch.autograd.grad(loss, list(learns.values()), allow_unused=True) if learns else ()
    norms = {name: 0.0 if one is None else one.norm().item() for name, one in zip(learns, found, strict=True)}
    return {name: norms.get(name) for name in named}


def convergence(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> dict[str, float]:
    """Return how far each parameter moved between two checkpoints, relative to its size before."""
    return {
        name: ((after[name] - start).norm() / start.norm().clamp_min(1e-12)).item() for name, start in before.items()
    }


def alignment_accuracy(aligned: Tensor, words: Tensor, labels: Tensor) -> float:
    """Return the share of image tokens whose nearest word by cosine similarity is the right one.

    Args:
        aligned: (..., d)
        words: (V, d)
        labels: (...) integers of 0…V−1.
    """
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    return (similarity.argmax(-1) == labels).float().mean().item()


def diagnose(model: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> list[str]:
    """Return what is wrong with a model, in the order of `FINDINGS`; empty where nothing is found.

    - "frozen": a parameter does not ask for gradients.
    - "no gradient": a parameter asks, and the loss gives it none, or only zeros.
    - "uniform": the entropy of the cross-attention at the last position of the prompt is above 0.99 of log S.
    - "one patch": in the mean of those rows over heads and batch one patch has more than 0.9 of the weight.
    - "misaligned": with the images of the batch moved on by one scene the loss is not even 1 % higher, so what the
      model says has little to do with what its image shows.

    The loss is the mean cross-entropy over `shift_targets`. The last cross-attention is looked at. The model's mode
    and gradients stay as they were.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision).
    """
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()

    def loss_with(patches: Tensor) -> tuple[Tensor, Tensor]:
        logits, maps = model(token_ids, patches)
        return F.cross_entropy(logits.flatten(0, -2), targets), maps[-1]

    loss, weights = loss_with(image_patches)
    with torch.no_grad():
        shuffled, _ = loss_with(image_patches.roll(1, 0))
    asking = weights[torch.arange(len(token_ids)), :, prompt_lengths - 1].detach()  # (B, H, S)
    entropy, share = sharpness(asking)
    reach = gradient_reach(model, loss)
    found = {
        "frozen": None in reach.values(),
        "no gradient": 0.0 in reach.values(),
        "uniform": entropy > 0.99,
        "one patch": share > 0.9,
        "misaligned": shuffled.item() < 1.01 * loss.item(),
    }
    return [name for name in FINDINGS if found[name]]
