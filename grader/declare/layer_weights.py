"""Random weights for layers. The student's layer and the reference get the same weights."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from grader.declare.sampler import InputSampler

Layer = TypeVar("Layer", bound=nn.Module)


def draw_layer_weights(
    sampler: InputSampler, layer: nn.Module, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Draw new values for every parameter of a layer, by name.

    The weights of norm layers are not 1 and biases are not 0, so an answer that leaves one out fails.
    """

    def draw(name: str, parameter: Tensor) -> Tensor:
        if name.endswith("weight") and "norm" in name:
            return 1 + sampler.normal(*parameter.shape, scale=0.4, dtype=dtype)
        is_matrix = parameter.ndim > 1 and "embedding" not in name
        scale = 1.2 / parameter.shape[-1] ** 0.5 if is_matrix else 0.7
        return sampler.normal(*parameter.shape, scale=scale, dtype=dtype)

    return {name: draw(name, parameter) for name, parameter in layer.named_parameters()}


def build_quietly(build: Callable[..., Layer], *sizes: Any, **options: Any) -> Layer:
    """Return build(*sizes, **options) without changing torch's global random state.

    Otherwise, drawing the initial weights of a new layer would change this state.
    """
    with torch.random.fork_rng(devices=[]):
        return build(*sizes, **options)
