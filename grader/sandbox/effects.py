"""Compare the inputs of a probe outside of the sandbox: inside, student code could replace what compares them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.records import Inputs, Value

UNCHANGED, CHANGED = "inputs unchanged", "changed"  # what `side_effects` in declare/probes.py reports


def with_true_effects(values: dict[str, Value], after: Sequence[Any], inputs: Inputs) -> dict[str, Value]:
    """Return what a probe reported, corrected if it says that its inputs are unchanged and they are not.

    A probe that tries changed answers reports that once for each of them.

    Args:
        after: for each call that the probe looked at, the inputs by name as they came back from the sandbox.
        inputs: the inputs that were sent. A probe may derive others from them, under other names: those are not compared.
    """
    claims = _claims(values)
    if not claims:
        return values
    # By name: two may have one, as an input and the direction of a result's gradient.
    sent: dict[str, list[Tensor]] = {}
    for name, tensor in _tensors(inputs):
        sent.setdefault(name, []).append(tensor)
    changed = {
        name: None
        for call in after
        for name, value in (call.items() if isinstance(call, dict) else ())
        if name in sent and not any(_is_same(value, tensor) for tensor in sent[name])
    }
    if changed or len(after) < claims:  # of a call that the probe looked at, the inputs are missing
        return _corrected(values, list(changed))
    return values


def _claims(value: Value) -> int:
    """Return how often a reported value says that inputs are unchanged."""
    if isinstance(value, dict):
        return (value.get(UNCHANGED) is True) + sum(map(_claims, value.values()))
    return sum(map(_claims, value)) if isinstance(value, list) else 0


def _corrected(value: Any, changed: list[str]) -> Any:
    """Return a reported value in which every statement that inputs are unchanged is replaced."""
    if isinstance(value, dict):
        report = {UNCHANGED: False, CHANGED: changed} if value.get(UNCHANGED) is True else {}
        return {**{name: _corrected(inner, changed) for name, inner in value.items()}, **report}
    return [_corrected(inner, changed) for inner in value] if isinstance(value, list) else value


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
