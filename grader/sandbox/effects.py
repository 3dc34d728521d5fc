"""Compare the inputs of a probe outside of the sandbox: inside, student code could replace what compares them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.records import Inputs, Value

UNCHANGED, CHANGED = "inputs unchanged", "changed"  # what `side_effects` in declare/probes.py reports


def with_true_effects(values: dict[str, Value], after: Sequence[Any], inputs: Inputs) -> dict[str, Value]:
    """Return what a probe reported, corrected if it says that its inputs are unchanged and they are not.

    Args:
        after: for each call that the probe looked at, the inputs by name as they came back from the sandbox.
        inputs: the inputs that were sent. A probe may derive others from them, under other names: those are not compared.
    """
    if values.get(UNCHANGED) is not True:
        return values
    sent: dict[
        str, list[Tensor]
    ] = {}  # by name: two may have one, as an input and the direction of a result's gradient
    for name, tensor in _tensors(inputs):
        sent.setdefault(name, []).append(tensor)
    changed = {
        name: None
        for call in after
        for name, value in (call.items() if isinstance(call, dict) else ())
        if name in sent and not any(_is_same(value, tensor) for tensor in sent[name])
    }
    if changed or not after:  # nothing came back of a call that was looked at
        return {**values, UNCHANGED: False, CHANGED: list(changed)}
    return values


def _tensors(inputs: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors among inputs and in mappings of inputs, each with its own name."""
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, Mapping):
            yield from _tensors(value)


def _is_same(value: Any, sent: Tensor) -> bool:
    """Return True if a value is a tensor with the dtype, the shape and the numbers of the one that was sent."""
    if not isinstance(value, Tensor) or value.dtype != sent.dtype or value.shape != sent.shape:
        return False
    sent = sent.detach().cpu()
    return bool(((value == sent) | ((value != value) & (sent != sent))).all())  # NaN is not equal to itself
