"""Probes that most exercises share: call a function, call a layer, look at gradients and side effects.

They are sent to the sandbox as source text, together with the functions of the declaration that they call. Nothing here
knows an answer: a probe only calls what the student wrote and returns what came back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

# ---------------------------------------------------------------- functions


def call_function(function, arguments: Mapping[str, Any], returns: list[str | None]) -> dict[str, Any]:
    """Call a function with its arguments in their order; name what it returns."""
    return named(function(*arguments.values()), returns)


def function_gradients(
    function, arguments: Mapping[str, Any], returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Call a function with keywords; report side effects and gradients."""

    def call(**given: Any) -> dict[str, Any]:
        return named(function(**given), returns)

    return purity_and_gradients(call, arguments, grad_outputs)


# ---------------------------------------------------------------- layers


def call_layer(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Make a layer of some sizes, put our weights into it, and call it with its arguments in their order."""
    layer = load(layer_class(*sizes.values()), weights)
    return named(layer(*arguments.values()), returns)


def layer_gradients(
    layer_class,
    sizes: Mapping,
    weights: Mapping,
    arguments: Mapping,
    returns: list[str | None],
    grad_outputs: Mapping,
) -> dict[str, Any]:
    """Make and call a layer with keywords; report side effects, and gradients of inputs and of our weights."""
    layer = load(layer_class(**sizes), weights)

    def call(**given: Any) -> dict[str, Any]:
        return named(layer(**given), returns)

    parameters = {name: layer.get_parameter(name) for name in weights}
    return purity_and_gradients(call, arguments, grad_outputs, parameters)


def call_zeroed_layer(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Do what `call_layer` does, with every parameter that has no weights here, such as a bias, set to zero."""
    layer = load(zero_others(layer_class(*sizes.values()), weights), weights)
    return named(layer(*arguments.values()), returns)


def zeroed_layer_gradients(
    layer_class,
    sizes: Mapping,
    weights: Mapping,
    arguments: Mapping,
    returns: list[str | None],
    grad_outputs: Mapping,
) -> dict[str, Any]:
    """Do what `layer_gradients` does, with every parameter that has no weights here set to zero."""
    layer = load(zero_others(layer_class(**sizes), weights), weights)

    def call(**given: Any) -> dict[str, Any]:
        return named(layer(**given), returns)

    every = dict(layer.named_parameters())  # lists a parameter that serves under two names once
    return purity_and_gradients(call, arguments, grad_outputs, {name: every[name] for name in weights})


def zero_others(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """Set every parameter of a layer that `weights` does not name to zero.

    A bias that should not be there then changes no value: a check of its own reports it.
    """
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name not in weights:
                parameter.zero_()
    return layer


def load(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """Put our weights into a layer, by parameter name ("W_Q.weight"), and give it their dtype and device."""
    if not weights:
        return layer
    first = next(iter(weights.values()))
    layer = layer.to(device=first.device, dtype=first.dtype)
    with torch.no_grad():
        for name, value in weights.items():
            owner, _, parameter = name.rpartition(".")
            getattr(layer.get_submodule(owner), parameter).copy_(value)
    return layer


# ---------------------------------------------------------------- what comes back


def named(returned: Any, names: list[str | None]) -> dict[str, Any]:
    """Give what a call returned its names: one value, or a pair. A value whose name is None is left out.

    Raises:
        TypeError: two names are given, and no pair came back.
    """
    values = pair(returned) if len(names) == 2 else [returned]
    return {name: value for name, value in zip(names, values, strict=True) if name is not None}


def pair(returned: Any) -> tuple[Any, Any]:
    """Return a pair, whether tuple, list or named tuple.

    Raises:
        TypeError: it is no pair.
    """
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError(f"expected two values, output and weights, but {type(returned).__name__} came back")
    return returned[0], returned[1]


def as_tensor(value: Any, name: str) -> Tensor:
    """Return a value that must be a tensor.

    Raises:
        TypeError: it is none. Whatever our arithmetic raised instead would look like the student's.
    """
    if not isinstance(value, Tensor):
        came = "nothing" if value is None else type(value).__name__
        raise TypeError(f"{name}: expected a tensor, but {came} came back")
    return value


def raised(call: Callable[[], Any]) -> str:
    """Say what a call raised: "ValueError" for it and its subclasses, another error's name, or "no error"."""
    try:
        call()
    except NotImplementedError:
        raise
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error"


def strided(tensor: Tensor) -> Tensor:
    """Return the same numbers, not contiguous in memory."""
    if tensor.ndim < 2:
        return tensor
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)


def purity_and_gradients(
    call: Callable[..., Mapping[str, Tensor]],
    inputs: Mapping[str, Any],
    grad_outputs: Mapping[str, Tensor],
    parameters: Mapping[str, Tensor] | None = None,
) -> dict[str, Any]:
    """Report whether a call leaves its inputs alone, and how gradients flow through it.

    Args:
        call: takes the inputs by name, returns tensors by name.
        inputs: tensors and other values; gradients are computed for the floating-point tensors. The call gets tensors
            non-contiguous, and must not write to them.
        grad_outputs: for each returned name the direction along which its gradient is taken.
        parameters: of the layer that is called; gradients are computed for them too.

    Returns:
        "inputs unchanged", and where that is true: the outputs, and "gradient of NAME" for each input and parameter
        (None where none reaches it).
    """
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    given = {**inputs, **{name: strided(value.clone()) for name, value in tensors.items()}}
    call(**given)
    if not all(torch.equal(value, given[name]) for name, value in tensors.items()):
        return {"inputs unchanged": False}  # nothing else is worth a look, and gradients may raise
    leaves = {
        name: strided(value.clone()).requires_grad_()
        for name, value in tensors.items()
        if value.is_floating_point()
    }
    # A copy of each leaf goes in: work in place on a leaf raises, and here it may only come from keeping state.
    outputs = call(**{**inputs, **tensors, **{name: leaf.clone() for name, leaf in leaves.items()}})
    sources = {**leaves, **(parameters or {})}
    directions = [(as_tensor(outputs[name], name), direction) for name, direction in grad_outputs.items()]
    total = sum((output * direction).sum() for output, direction in directions)
    gradients = [None] * len(sources)
    if total.requires_grad:  # else nothing leads back to any of them
        gradients = torch.autograd.grad(total, list(sources.values()), allow_unused=True)
    report = {f"gradient of {name}": gradient for name, gradient in zip(sources, gradients, strict=True)}
    return {"inputs unchanged": True, **{name: output.detach() for name, output in outputs.items()}, **report}
