"""Compare a value with the expected one, and describe the difference in words that a student can use.

Names in this module: `got` is the answer's value, and `want` the expected one.
A place is the index of one number in a tensor.
"""

from collections.abc import Callable, Iterator, Mapping
from math import isclose, isfinite
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.records import Case, Finding, Value

# The allowed difference by device of the answer and dtype, relative to the scale of the expected tensor. The reference
# always runs on the CPU, and the difference is computed there, in float64.
ON_CPU = {
    torch.float64: 1e-5,  # as float32: an answer may compute in float32, and give the dtype back
    torch.float32: 1e-5,  # keeps 7 digits, and a sum of a few hundred products loses one or two of them
    torch.float16: 1e-2,  # keeps 3 digits, and loses one
    torch.bfloat16: 3e-2,  # keeps 2 digits (8 bits): four units in the last place
}
# On a GPU, float32 gets twice the tolerance, and float64 gets twice its own. TensorFloat-32, which
# keeps 3 digits, is switched off. Then only the order of sums and the last two bits of exp differ.
# Answer and reference both round, and each may be off by as much as on the CPU. The other dtypes
# have room for the order of sums; those of 16 bits are summed in float32 (reduced-precision
# reductions are off).
TOLERANCE = {"cpu": ON_CPU, "cuda": {**ON_CPU, torch.float32: 2e-5, torch.float64: 2e-5}}

OF_GRADIENT = "gradient of "  # how the names of gradients begin
# A gradient is only as exact as the gradients that cancel in it, however small the rest is: behind
# a softmax whose rows are nearly 0 and 1, the rest may be a millionth. So each gradient is compared
# on a scale of at least this share of the largest gradient of its trial.
GRADIENT_SHARE = 0.1


class Difference(NamedTuple):
    """A value that differs from the expected one, with a message for the student."""

    name: str
    got: Any
    want: Any
    message: str


def equals_reference(case: Case) -> Finding:
    """Judge a trial by comparison with the reference. This is the judge of a check that declares no other.

    The answer must return every value that the reference returns, equal within the tolerance.
    """
    return compare(case.got, case.expected(), rtol=case.rtol, device=case.device)


def compare(got: Mapping[str, Value], expected: Mapping[str, Value], rtol: float = 1.0, device: str = "cpu") -> Finding:
    """Judge an answer's values. The message describes the first one that differs from the expected value.

    Values that are not expected are ignored.
    """
    found = first_difference(got, expected, rtol, device)
    return Finding(passed=found is None, message=found.message if found else "")


def with_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Any:
    """Return a copy of a nested value in which `change` has replaced each tensor. Tuples become lists."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {name: with_tensors(inner, change) for name, inner in value.items()}
    return [with_tensors(inner, change) for inner in value] if isinstance(value, (list, tuple)) else value


def first_difference(
    got: Mapping[str, Value], expected: Mapping[str, Value], rtol: float = 1.0, device: str = "cpu"
) -> Difference | None:
    """Return the first expected value that is missing or differs, or None if all values are as expected."""
    values, wanted = dict(flatten(got)), dict(flatten(expected))
    gradients = [value for name, value in wanted.items() if name.startswith(OF_GRADIENT)]
    largest = max((_largest(value.double()) for value in gradients if isinstance(value, Tensor)), default=0.0)
    for name, want in wanted.items():
        if name not in values:
            return Difference(name, None, want, f"{name} is missing from the result")
        least = GRADIENT_SHARE * largest if name.startswith(OF_GRADIENT) else 0.0
        if message := difference(name, values[name], want, rtol, device, least):
            return Difference(name, values[name], want, message)
    return None


def flatten(tree: Value, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a nested value as pairs (name, leaf). A name is, for example, "a.b[0]".

    For a list of tensors or mappings, yield its length and the leaves of its items. Any other list is a leaf.
    """
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from flatten(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(tree, (list, tuple)) and any(isinstance(item, (Tensor, Mapping)) for item in tree):
        yield f"{prefix} (number)", len(tree)
        for index, value in enumerate(tree):
            yield from flatten(value, f"{prefix}[{index}]")
    else:
        yield prefix, list(tree) if isinstance(tree, tuple) else tree


def difference(name: str, got: Any, want: Any, rtol: float = 1.0, device: str = "cpu", least: float = 0.0) -> str:
    """Return a message on how a value differs from the expected one, or "" if it does not differ.

    Args:
        rtol: a factor that multiplies the tolerance.
        least: the smallest scale, in the tensors' unit, that the tolerance is relative to.
    """
    if isinstance(want, Tensor):
        return _tensor_difference(name, got, want, rtol, device, least)
    if isinstance(got, Tensor) and got.ndim == 0:
        got = got.item()
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        return _number_difference(name, got, want, rtol)
    if type(got) is type(want) and got == want:
        return ""
    if name == "inputs unchanged":
        return "the inputs were changed: work on new tensors, not in place"
    return f"{name}: {_in_words(got)}, expected {_in_words(want)}"


def _number_difference(name: str, got: float, want: float, rtol: float) -> str:
    """Return a message on how a plain number differs from the expected one, or "" if it does not differ."""
    if isclose(got, want, rel_tol=1e-5 * rtol, abs_tol=1e-6 * rtol):
        return ""
    if not (isfinite(got) and isfinite(want)):
        return f"{name}: {got:.4g}, expected {want:.4g}"
    allowed = rtol * max(1e-5 * abs(want), 1e-6)
    return f"{name}: {got:.4g}, off by {abs(got - want):.2g}, allowed {allowed:.0e}"


def _tensor_difference(name: str, got: Any, want: Tensor, rtol: float, device: str, least: float) -> str:
    """Return a message on how a value differs from an expected tensor, or "" if it does not differ.

    The two may differ in type, shape, dtype or numbers.
    """
    if got is None:
        kind, of, source = name.partition(" of ")
        return f"no {kind} reaches {source}" if of else f"{name}: None, expected a tensor of shape {shape(want)}"
    if isinstance(got, (bool, int, float)) and want.ndim == 0:
        got = torch.tensor(got, dtype=want.dtype)
    if not isinstance(got, Tensor):
        return f"{name}: {_in_words(got)}, expected a tensor of shape {shape(want)}"
    if got.shape != want.shape:
        return f"{name}: shape {shape(got)}, expected {shape(want)}"
    if got.dtype != want.dtype:
        return f"{name}: {_dtype(got)}, expected {_dtype(want)}"
    wrong = places_off(got, want, rtol, device, least)
    if not wrong.any():
        return ""
    if not want.is_floating_point():
        return f"{name}: wrong in {int(wrong.sum())} of {want.numel()} places{_first(wrong)}"
    if want.isfinite().all() and not got.isfinite().all():
        return f"{name}: some are {'NaN' if got.isnan().any() else 'infinite'}{_first(~got.isfinite())}"
    allowed = _allowed(want, rtol, device, least)
    return f"{name}: off by {_distance(got, want).max().item():.2g}, allowed {allowed:.0e}{_first(wrong)}"


def places_off(got: Tensor, want: Tensor, rtol: float = 1.0, device: str = "cpu", least: float = 0.0) -> Tensor:
    """Return a bool mask of the places in which two tensors differ by more than the tolerance.

    The tensors and the mask have the same shape. The tensors have the same dtype.
    """
    if not want.is_floating_point():
        return got != want
    return _distance(got, want) > _allowed(want, rtol, device, least)


def _allowed(want: Tensor, rtol: float, device: str, least: float) -> float:
    """Return the allowed absolute difference between a tensor's numbers and the expected ones."""
    return TOLERANCE[device].get(want.dtype, 1e-5) * rtol * max(scale(want.double()), least)


def _distance(got: Tensor, want: Tensor) -> Tensor:
    """Return the absolute difference of two tensors in each place, as float64.

    The difference is infinite if only one of the two numbers is NaN, or if one is infinite and the other is different.
    """
    got, want = got.double(), want.double()
    # NaN equals NaN, so that a mistake that gives NaN is recognised.
    same = (got == want) | (got.isnan() & want.isnan())
    return torch.where(same, 0.0, (got - want).abs()).nan_to_num(nan=torch.inf, posinf=torch.inf)


def first_place(wrong: Tensor) -> tuple[int, ...]:
    """Return the index of the first True in a bool tensor."""
    return tuple(wrong.nonzero()[0].tolist())


def _first(wrong: Tensor) -> str:
    """Return the end of a message that names the first wrong place, or "" if all places are wrong."""
    return "" if wrong.all() else f", first at {list(first_place(wrong))}"


def scale(tensor: Tensor) -> float:
    """Return the largest finite magnitude in a tensor.

    Return 1 if it is 0 or if no number is finite, so that zeros are compared absolutely.
    """
    return _largest(tensor) or 1.0


def _largest(tensor: Tensor) -> float:
    """Return the largest finite magnitude in a tensor, or 0 if the tensor has no finite number."""
    finite = tensor[tensor.isfinite()].abs()
    return finite.max().item() if finite.numel() else 0.0


def shape(tensor: Tensor) -> str:
    """Return a tensor's shape as text: "(5, 7)"; a scalar's is "()"."""
    return "(" + ", ".join(map(str, tensor.shape)) + ("," if tensor.ndim == 1 else "") + ")"


def _dtype(tensor: Tensor) -> str:
    """Return the name of a tensor's dtype: "float32"."""
    return str(tensor.dtype).removeprefix("torch.")


def _in_words(value: Any) -> str:
    """Return words for a value in a message, at most 120 characters long.

    They are "yes", "no", "nothing", "a tensor of shape (5, 7)", or the value's repr.
    """
    if isinstance(value, Tensor):
        return f"a tensor of shape {shape(value)}"
    text = "yes" if value is True else "no" if value is False else "nothing" if value is None else repr(value)
    return text if len(text) <= 120 else text[:117].rpartition(" ")[0] + " …"
