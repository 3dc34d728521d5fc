"""A trained model whose heads share keys and values from now on: what that costs, and what a short training repairs.

Ainslie et al. 2023, section 2.1: https://arxiv.org/abs/2305.13245. The keys' and values' matrices of the heads of a group
are averaged, and the model is trained on for a tenth of its steps.
Axes: H heads, G groups, B questions, T tokens.
"""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.data.tokens import EOS, Questions
from attention.experiments.recipe import LEARNING_RATE, STEPS, adamw, training_questions


class SharedLinear(nn.Module):
    """Makes keys or values of G groups, and gives each head those of its group: (..., d) → (..., H · d_head).

    `weight` (G · d_head, d) is the mean over the heads of each group of a layer with a matrix for each head.
    """

    def __init__(self, each: nn.Linear, num_heads: int, groups: int) -> None:
        super().__init__()
        self.num_heads, self.groups = num_heads, groups
        by_group = each.weight.detach().unflatten(0, (groups, num_heads // groups, -1))
        self.weight = nn.Parameter(by_group.mean(1).flatten(0, 1))

    def forward(self, tokens: Tensor) -> Tensor:
        grouped = F.linear(tokens, self.weight).unflatten(-1, (self.groups, -1))
        return grouped.repeat_interleave(self.num_heads // self.groups, -2).flatten(-2)


def share_keys(model: nn.Module, groups: int) -> nn.Module:
    """Return a copy of a model in which the heads of each attention share keys and values in groups."""
    shared = deepcopy(model)
    for block in shared.blocks:
        for layer in (block.self_attn, block.cross_attn):
            if layer is not None:
                layer.W_K = SharedLinear(layer.W_K, layer.num_heads, groups)
                layer.W_V = SharedLinear(layer.W_V, layer.num_heads, groups)
    return shared


def train_on(model: nn.Module, train_step: Callable, seed: int, steps: int = STEPS // 10) -> None:
    """Train a trained model further on full scenes, in place; the learning rate falls to zero.

    Args:
        train_step: called as train_step(model, optimizer, batch) → the loss.
    """
    device, optimizer = next(model.parameters()).device, adamw(model)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - step / steps)
        train_step(model, optimizer, training_questions(STEPS + step, seed, STEPS).to(device).batch)


@torch.no_grad()
def words_right(model: nn.Module, questions: Questions) -> float:
    """Return the share of the answers' words that a model gets right, each after the right words before it."""
    token_ids, lengths, image_patches = questions.to(next(model.parameters()).device).batch
    after = token_ids[:, 1:]
    place = torch.arange(after.shape[1], device=after.device)
    answered = (place + 1 >= lengths[:, None]) & (after > EOS)
    said = model(token_ids[:, :-1], image_patches)[0].argmax(-1)
    return (said == after)[answered].float().mean().item()
