"""Exercises 4.1, 4.2 and 4.4 written in other right ways, as students write them: the slips in these explain wrong answers, too."""

import torch
from torch import Tensor, nn


def rollout_in_one_product(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    """Multiply the layers first, then look at the image."""
    identity = torch.eye(cross_map.shape[-2], dtype=cross_map.dtype, device=cross_map.device)
    rollout = identity
    for weights in self_maps:
        layer = 0.5 * weights.mean(dim=-3) + 0.5 * identity
        rollout = layer @ rollout
    return rollout @ cross_map.mean(dim=-3)


def gradient_in_steps(weights: Tensor, score: Tensor) -> Tensor:
    """Name each step."""
    gradient = torch.autograd.grad(score.sum(), weights, retain_graph=True)[0]
    product = weights * gradient
    positive = torch.relu(product)
    return positive.mean(dim=-3).detach()


def patch_with_stack(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Put the heads together anew."""
    seen = model.inside(token_ids, clean)

    def edit(heads):
        parts = list(heads.unbind(1))
        parts[head] = seen.heads[:, head]
        return torch.stack(parts, dim=1)

    changed = model.inside(token_ids, twin, edit)
    return changed.logits
