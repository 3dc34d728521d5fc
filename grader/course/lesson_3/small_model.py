"""A small model with which probes test `train_step` (3.6) and `generate` (3.7).

A probe is a function that calls the student's code and returns the values to compare. The model
contains no code of students, so an error in 3.3 or 3.4 costs no points in 3.6 and 3.7.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from grader.declare.probes import load
from grader.declare.sampler import InputSampler


def small_model(weights: Mapping, dropout: float = 0.0) -> nn.Module:
    """Return a small model with the interface of MiniVLM.

    Its list `calls` contains a tuple for each call: training mode, gradient mode, number of words.
    """
    vocabulary, width = weights["words.weight"].shape

    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.look = nn.Linear(weights["look.weight"].shape[1], width, bias=False)
            self.head = nn.Linear(width, vocabulary)
            self.dropout = nn.Dropout(dropout)
            self.calls: list = []

        def forward(self, token_ids: Tensor, image_patches: Tensor):
            self.calls.append((self.training, torch.is_grad_enabled(), token_ids.shape[-1]))
            bias, count = self.head.bias, token_ids.shape[-1]
            position = torch.arange(1, count + 1, dtype=bias.dtype, device=bias.device).unsqueeze(-1)
            seen = self.words(token_ids).cumsum(-2) / position.sqrt()
            seen = torch.tanh(seen + self.look(image_patches.mean(-2)).unsqueeze(-2))
            return self.head(self.dropout(seen)), []

    return load(Small(), weights)


def draw_small_weights(
    sampler: InputSampler, vocabulary: int, width: int, d_vision: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Draw weights for `small_model`, by parameter name."""
    return {
        "words.weight": sampler.normal(vocabulary, width, dtype=dtype),
        "look.weight": sampler.normal(width, d_vision, dtype=dtype),
        "head.weight": sampler.normal(vocabulary, width, dtype=dtype),
        "head.bias": sampler.normal(vocabulary, dtype=dtype),
    }
