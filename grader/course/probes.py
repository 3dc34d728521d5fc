"""What probes share. Sent to the sandbox as source text together with the probe that calls it.

Nothing here knows an answer: a probe only calls what the student wrote and returns what came back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def load(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """Put our weights into a layer, by parameter name ("W_Q.weight"), and give it their dtype and device."""
    first = next(iter(weights.values()))
    layer = layer.to(device=first.device, dtype=first.dtype)
    with torch.no_grad():
        for name, value in weights.items():
            owner, _, parameter = name.rpartition(".")
            getattr(layer.get_submodule(owner), parameter).copy_(value)
    return layer


def strided(tensor: Tensor) -> Tensor:
    """The same numbers, not contiguous in memory."""
    if tensor.ndim < 2:
        return tensor
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)


def pair(returned: Any) -> tuple[Any, Any]:
    """A returned pair, whether tuple, list or named tuple.

    Raises:
        TypeError: it is no pair.
    """
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError(f"expected two values, output and weights, but {type(returned).__name__} came back")
    return returned[0], returned[1]


def conduct(
    call: Callable[..., Mapping[str, Tensor]],
    inputs: Mapping[str, Tensor | None],
    along: Mapping[str, Tensor],
    parameters: Mapping[str, Tensor] | None = None,
) -> dict[str, Any]:
    """How a call behaves beside its values: whether it leaves its inputs alone, and how gradients flow.

    Args:
        call: takes the inputs by name, returns tensors by name.
        inputs: tensors, or None for one that is left out; gradients are asked for the floating-point ones. The call
            gets them non-contiguous, and must not write to them.
        along: for each returned name the direction that its gradient is taken along.
        parameters: of the layer that is called; gradients are asked for them too.

    Returns:
        "inputs unchanged", and where they are: the outputs, and "gradient of NAME" for each input and parameter (None
        where none reaches it).
    """
    given = {name: None if value is None else strided(value.clone()) for name, value in inputs.items()}
    call(**given)
    if not all(value is None or torch.equal(value, given[name]) for name, value in inputs.items()):
        return {"inputs unchanged": False}  # nothing else is worth a look, and gradients may raise
    leaves = {
        name: strided(value.clone()).requires_grad_()
        if value is not None and value.is_floating_point()
        else value
        for name, value in inputs.items()
    }
    # A copy of each leaf goes in: work in place on a leaf raises, and here it may only come from keeping state.
    outputs = call(
        **{
            name: leaf.clone() if leaf is not None and leaf.requires_grad else leaf
            for name, leaf in leaves.items()
        }
    )
    sources = {name: leaf for name, leaf in leaves.items() if leaf is not None and leaf.requires_grad}
    sources |= dict(parameters or {})
    total = sum((outputs[name] * direction).sum() for name, direction in along.items())
    gradients = torch.autograd.grad(total, list(sources.values()), allow_unused=True)
    report = {f"gradient of {name}": gradient for name, gradient in zip(sources, gradients, strict=True)}
    return {"inputs unchanged": True, **{name: output.detach() for name, output in outputs.items()}, **report}
