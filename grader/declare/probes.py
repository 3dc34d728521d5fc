"""Probes that most exercises share: call a function, call a layer, inspect gradients and side effects.

A probe is sent to the sandbox as source text, together with the functions of the declaration that
it calls. Nothing here contains an answer: a probe only calls the student's code and returns its
result. A probe raises WrongForm if it cannot inspect a result.

Names in this module: `returns` contains the names of the returned values, and None for a value that
is left out. `grad_outputs` maps the name of a returned value to the direction of its gradient.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from grader.records import Finding


def failed(message: str) -> Finding:
    """Return a judge's finding for a trial that does not pass. The student reads the message."""
    return Finding(passed=False, message=message)


class WrongForm(Exception):
    """A returned value cannot be inspected any further. The student reads the message."""


# ---------------------------------------------------------------- functions


def call_function(function, arguments: Mapping[str, Any], returns: list[str | None]) -> dict[str, Any]:
    """Call a function with positional arguments. Return its results by name."""
    return named(function(*arguments.values()), returns)


def function_gradients(
    function, arguments: Mapping[str, Any], returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Call a function with keyword arguments. Return its side effects, results and gradients by name."""
    return purity_and_gradients(lambda **given: named(function(**given), returns), arguments, grad_outputs)


def inputs_unchanged(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Call a function with keyword arguments. Return whether its inputs are unchanged, and which it changed."""
    return effects_of(function, arguments)


def function_effects(function, arguments: Mapping[str, Any], returns: list[str | None]) -> dict[str, Any]:
    """Return the report of `inputs_unchanged`, together with the results by name for non-contiguous tensors."""
    given = {name: strided(value.clone()) if isinstance(value, Tensor) else value for name, value in arguments.items()}
    return {**effects_of(function, arguments), **named(function(**given), returns)}


# ---------------------------------------------------------------- functions of NumPy arrays, which travel as tensors


def call_with_arrays(function, arguments: Mapping[str, Any], returns: list[str | None]) -> dict[str, Any]:
    """Call a function with positional arguments, with NumPy arrays instead of tensors. Return its results by name."""
    back = named(function(*[as_array(value) for value in arguments.values()]), returns)
    return {name: from_array(value) for name, value in back.items()}


def arrays_unchanged(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Call a function with NumPy arrays as keyword arguments. Return whether its inputs are unchanged."""
    given = {name: as_array(value) for name, value in arguments.items()}
    function(**given)
    return side_effects(arguments, {name: from_array(value) for name, value in given.items()})


def as_array(value: Any) -> Any:
    """Return a tensor as a separate NumPy array, and any other value as it is."""
    return value.detach().cpu().numpy().copy() if isinstance(value, Tensor) else value


def from_array(value: Any) -> Any:
    """Return a NumPy array as a tensor, a NumPy number as a Python number, and any other value as it is.

    Raises:
        WrongForm: torch has no dtype for the numbers of the array.
    """
    if type(value) in (list, tuple):
        return type(value)(map(from_array, value))
    if type(value).__module__.partition(".")[0] != "numpy":
        return value
    if not hasattr(value, "__array__") or not value.shape:
        return value.item()
    try:
        return torch.from_numpy(value.copy())
    except TypeError:
        raise WrongForm(f"got an array of the type {value.dtype}, expected one of numbers") from None


# ---------------------------------------------------------------- layers


def call_layer(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Create a layer, load the given weights, and call it with positional arguments. Return its results by name."""
    layer = load(layer_class(*sizes.values()), weights)
    return named(layer(*arguments.values()), returns)


def layer_gradients(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Create a layer, load the given weights, and call it with keyword arguments.

    Return its side effects, its results, and the gradients of the inputs and of the given weights.
    """
    return gradients_of(load(layer_class(**sizes), weights), weights, arguments, returns, grad_outputs)


def call_zeroed_layer(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Do the same as `call_layer`, but set every parameter that is not among the given weights to zero."""
    layer = load_alone(layer_class(*sizes.values()), weights)
    return named(layer(*arguments.values()), returns)


def zeroed_layer_gradients(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Do the same as `layer_gradients`, but set every parameter that is not among the given weights to zero."""
    return gradients_of(load_alone(layer_class(**sizes), weights), weights, arguments, returns, grad_outputs)


def gradients_of(
    layer: nn.Module, weights: Mapping, arguments: Mapping, returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Call a layer with keyword arguments. Return its side effects, results and gradients.

    The gradients are those of the inputs and of the parameters named in `weights`.
    """
    parameters = learned(layer, weights)
    return purity_and_gradients(lambda **given: named(layer(**given), returns), arguments, grad_outputs, parameters)


def load_alone(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """Load weights as `load` does, and set every other parameter of the layer to zero.

    Then a superfluous bias changes no value. Another check reports it.
    """
    with torch.no_grad():
        for name, parameter in as_module(layer).named_parameters():
            if name not in weights:
                parameter.zero_()
    return load(layer, weights)


def load(layer: nn.Module, weights: Mapping[str, Tensor]) -> nn.Module:
    """Copy the given weights into a layer, convert the layer to their dtype and device, and return it.

    Args:
        weights: by parameter name, such as "W_Q.weight".

    Raises:
        WrongForm: the layer is not a module, or a parameter is missing or has another shape.
    """
    as_module(layer)
    if not weights:
        return layer
    first = next(iter(weights.values()))
    layer = layer.to(device=first.device, dtype=first.dtype)
    for part in layer.modules():
        if isinstance(part, nn.LayerNorm) and part.eps < 1e-4:
            part.eps = 1e-5  # PyTorch's; other libraries have 1e-6 or 1e-12, and no task asks for one
    with torch.no_grad():
        for name, value in weights.items():
            parameter = part_of(layer, name)
            try:
                parameter.copy_(value)
            except RuntimeError:
                text = f"{name}: shape {tuple(parameter.shape)}, expected {tuple(value.shape)}"
                raise WrongForm(text) from None
    return layer


def as_module(layer: Any) -> nn.Module:
    """Return a value that is an nn.Module unchanged.

    Raises:
        WrongForm: the value is not a module.
    """
    if not isinstance(layer, nn.Module):
        raise WrongForm(f"{type(layer).__name__} is not an nn.Module")
    return layer


def part_of(layer: nn.Module, path: str) -> Tensor:
    """Return a layer's parameter or buffer by its name, such as "W_Q.weight".

    Raises:
        WrongForm: the layer has no parameter or buffer with this name. If a part of the name is missing, the message
            lists the names that the layer has.
    """
    owner: Any = layer
    where = "your layer"
    *parts, last = path.split(".")
    for count, part in enumerate([*parts, last], start=1):
        found, wanted = getattr(owner, part, None), nn.Module if count <= len(parts) else Tensor
        if found is None:
            there = [name for name, _ in owner.named_children()]
            there += [name for name, _ in owner.named_parameters(recurse=False)]
            raise WrongForm(f"{where} has no {part}; it has {', '.join(there[:8]) or 'no parameters'}")
        where = part if where == "your layer" else f"{where}.{part}"
        if not isinstance(found, wanted):
            expected = "a layer" if wanted is nn.Module else "a single parameter"
            raise WrongForm(f"{where} has the type {type(found).__name__}, expected {expected}")
        owner = found
    return owner


def learned(layer: nn.Module, names: Iterable[str]) -> dict[str, Tensor]:
    """Return the parameters of a layer with these names.

    Raises:
        WrongForm: one of them is not an nn.Parameter, or two names belong to the same parameter.
    """
    found: dict[str, Tensor] = {}
    for name in names:
        parameter = part_of(layer, name)
        if not isinstance(parameter, nn.Parameter):
            raise WrongForm(f"{name} is not an nn.Parameter, so it does not learn")
        for other, same in found.items():
            if same is parameter:
                raise WrongForm(f"{other} and {name} are one parameter, expected two")
        found[name] = parameter
    return found


# ---------------------------------------------------------------- what comes back


def named(returned: Any, names: list[str | None]) -> dict[str, Any]:
    """Return the result of a call by name: one value, or both values of a pair. A value named None is left out.

    Raises:
        WrongForm: there are two names, and the result is not a pair.
    """
    values = pair(returned, names) if len(names) == 2 else [returned]
    return {name: value for name, value in zip(names, values, strict=True) if name is not None}


def pair(returned: Any, names: Sequence[str | None] = ("output", "weights")) -> tuple[Any, Any]:
    """Return both values of a pair, which may be a tuple, a list or a named tuple.

    Args:
        names: the names of the two values, for the message.

    Raises:
        WrongForm: the value is not a pair.
    """
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return returned[0], returned[1]
    several = isinstance(returned, (tuple, list)) and len(returned) != 1
    got = "None" if returned is None else f"{len(returned)} values" if several else "one value"
    both = f": {names[0]} and {names[1]}" if all(names) else ""
    raise WrongForm(f"got {got}, expected two{both}")


def as_tensor(value: Any, name: str) -> Tensor:
    """Return a tensor as it is, and raise WrongForm for any other value.

    Otherwise an error in the grader's own arithmetic would look like the student's error.
    """
    if not isinstance(value, Tensor):
        got = "None" if value is None else type(value).__name__
        raise WrongForm(f"{name}: {got}, expected a tensor")
    return value


def as_number(value: Any, name: str) -> float:
    """Return an int, a float, or a tensor with one number as a float.

    Raises:
        WrongForm: the value is none of these.
    """
    one = isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex()
    if not one and not isinstance(value, (int, float)):
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise WrongForm(f"{name}: {'None' if value is None else got}, expected one number")
    return float(value)


def raised(call: Callable[[], Any]) -> str:
    """Return the name of the exception that a call raises, or "no error" if it raises none.

    The name is "ValueError" for subclasses of ValueError, too. The exception of a stub is raised again.
    """
    try:
        call()
    except NotImplementedError as error:
        if str(error).startswith("TODO "):  # the stub's
            raise
        return type(error).__name__
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error"


def strided(tensor: Tensor) -> Tensor:
    """Return a copy of a tensor that is not contiguous in memory.

    Return a tensor with fewer than two axes as it is.
    """
    if tensor.ndim < 2:
        return tensor
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)


def purity_and_gradients(
    call: Callable[..., Mapping[str, Tensor]],
    inputs: Mapping[str, Any],
    grad_outputs: Mapping[str, Tensor],
    parameters: Mapping[str, Tensor] | None = None,
) -> dict[str, Any]:
    """Return a report on whether a call changes its inputs, and on its gradients.

    Args:
        call: takes the inputs by name and returns tensors by name.
        inputs: tensors and other values. Gradients are computed for the floating-point tensors. The call gets
            non-contiguous tensors, and must not write to them.
        grad_outputs: for each returned name, the direction along which its gradient is taken.
        parameters: the parameters of the layer that is called. Gradients are computed for them, too.

    Returns:
        The report of `side_effects`. If the inputs are unchanged, also the outputs, and "gradient of NAME" for each
        floating-point input and each parameter (None if no gradient reaches it).
    """
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    effects = effects_of(call, inputs)
    if not effects["inputs unchanged"]:
        return effects  # nothing else is worth a look, and gradients may raise
    leaves = {
        name: strided(value.clone()).requires_grad_() for name, value in tensors.items() if value.is_floating_point()
    }
    # A copy of each leaf goes in: work in place on a leaf raises, and here it may only come from keeping state.
    outputs = call(**{**inputs, **tensors, **{name: leaf.clone() for name, leaf in leaves.items()}})
    sources = {**leaves, **(parameters or {})}
    total = sum((along(outputs[name], way, name) * way).sum() for name, way in grad_outputs.items())
    learning = {name: source for name, source in sources.items() if source.requires_grad}
    gradients: dict[str, Tensor | None] = {}
    if total.requires_grad:  # else nothing leads back to any of them
        found = torch.autograd.grad(total, list(learning.values()), allow_unused=True)
        gradients = dict(zip(learning, found, strict=True))
    report = {f"gradient of {name}": gradients.get(name) for name in sources}
    values = {name: value.detach() if isinstance(value, Tensor) else value for name, value in outputs.items()}
    return {**effects, **values, **report}


def along(output: Any, direction: Tensor, name: str) -> Tensor:
    """Return a tensor that has the same shape as its direction.

    Raises:
        WrongForm: the output is not a tensor, or has another shape than the direction.
    """
    if as_tensor(output, name).shape != direction.shape:
        raise WrongForm(f"{name}: shape {tuple(output.shape)}, expected {tuple(direction.shape)}")
    return output


def effects_of(call: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call a function with copies of its inputs as keyword arguments. Return the report of `side_effects`.

    The function is called with two layouts of memory, until it changes an input. With contiguous tensors, a change
    through a view becomes visible (`x = x.reshape(-1, 3)`, then `x -= 1`). With non-contiguous tensors, reshape makes a
    copy, and `.view` raises an exception.
    """
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    for layout in (torch.Tensor.contiguous, strided):
        given = {name: layout(value.clone()) for name, value in tensors.items()}
        call(**{**inputs, **given})
        effects = side_effects(tensors, given)
        if not effects["inputs unchanged"]:
            break
    return effects


def side_effects(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report on whether a call changed its tensors.

    Args:
        before: copies of the tensors from before the call, by name.
        after: the same tensors after the call.

    Returns:
        {"inputs unchanged": True}; or {"inputs unchanged": False, "changed": names of the changed tensors}.
    """

    def same(one: Tensor, other: Tensor) -> bool:
        return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)

    changed = [name for name, value in before.items() if isinstance(value, Tensor) and not same(value, after[name])]
    return {"inputs unchanged": False, "changed": changed} if changed else {"inputs unchanged": True}
