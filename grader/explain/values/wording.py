"""Words for results, axes, sizes and lengths in phrases, and functions that compare two tensors."""

import re
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

# How far two numbers may be apart and still count as the same, relative to the largest.
NEAR = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 3e-2}
SINGULAR = {"queries": "query", "patches": "patch", "batches": "batch entry", "batch": "batch entry"}

WITH_ARRAYS = ("call_with_arrays", "arrays_unchanged")  # probes of functions of NumPy arrays
OF_ARRAYS = {
    r"No gradient passes through a (?:plain number|list)\.": "`np.array(…)` makes an array.",
    r"`\.float\(\)` returns float32, and so does `torch\.zeros\(…\)` without dtype=…\.": (
        "Is there a `dtype=np.float32`?"
    ),
    r"\.clone\(\)": ".copy()",
    r"\b([Aa]) tensor": r"\1n array",
    r"(?<!\.)\btensor": "array",
}


class BySize(NamedTuple):
    """A phrase that is true because an axis has the length of a certain size of the trial.

    If a rule yields several such phrases with different sizes, the phrases are not used.
    """

    rule: str  # what found it: phrases of one rule compete
    sizes: tuple[str, ...]  # the words for the sizes that it names
    says: str


Phrase = str | BySize


class ObservedTrial(Protocol):
    """The results of an answer in one trial. `explain.Seen` has these attributes."""

    @property
    def passed(self) -> bool: ...
    @property
    def error(self) -> str: ...
    @property
    def got(self) -> Mapping[str, Any]: ...
    @property
    def expected(self) -> Mapping[str, Any]: ...
    @property
    def sizes(self) -> Mapping[str, Any]: ...


def in_words_of(probes: Collection[str], text: str) -> str:
    """Return a text in the words of NumPy if one of the probes calls with arrays, and otherwise unchanged.

    Args:
        probes: the names of the probes.
    """
    for old, new in OF_ARRAYS.items() if set(WITH_ARRAYS) & set(probes) else ():
        text = re.sub(old, new, text)
    return text


def the_leaf(name: str) -> str:
    """Return the words for a leaf in a phrase: "the output", or "“maps[0]”" if its name is not a noun."""
    has_article = name == "aligned" or _is_noun(name) or (" of " in name and not name.startswith("what "))
    return f"the {leaf(name)}" if has_article else leaf(name)


def leaf(name: str) -> str:
    """Return the words for a leaf in a phrase, without an article: "output", or "“maps[0]”" if it is not a noun."""
    if name == "aligned":
        return "aligned tokens"
    return name if name.startswith("what ") or _is_noun(name) or " of " in name else f"“{name}”"


def _is_noun(name: str) -> bool:
    return bool(re.fullmatch(r"(?!what )[a-z_ ]+", name)) and "without" not in name


def with_article(name: str) -> str:
    """Return the name of an exception with its article: "an AttributeError", "a ValueError"."""
    return f"an {name}" if name[0] in "AEIO" else f"a {name}"


def agreeing(one: Tensor, other: Tensor, near: float) -> Tensor:
    """Return a bool mask of the places in which two tensors have the same number, except for rounding.

    Args:
        near: the allowed difference, relative to the largest finite number of `other`.
    """
    finite = other[other.isfinite()]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return ((one - other).abs() <= near * (largest or 1.0)) | (one == other) | (one.isnan() & other.isnan())


def agree(one: Tensor, other: Tensor, near: float) -> bool:
    """Return True if two tensors have the same shape and the same numbers, except for rounding.

    Args:
        near: the allowed difference, relative to the largest number of `other`.
    """
    if one.shape != other.shape:
        return False
    if not one.numel():
        return True
    off, largest = float((one - other).abs().max()), float(other.abs().max())
    if isfinite(off) and isfinite(largest):
        return off <= near * (largest or 1.0)
    return bool(agreeing(one, other, near).all())


def whole_sizes(sizes: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that are whole numbers, with the derived sizes "batch", "d_model" and "d_head".

    The size of a batch with several axes is the product of their lengths.
    """
    whole = {name: value for name, value in sizes.items() if isinstance(value, int) and not isinstance(value, bool)}
    if isinstance(shape := sizes.get("batch_shape"), tuple) and shape:
        whole["batch"] = int(torch.Size(shape).numel())
    heads = whole.get("heads", 0)
    if heads and "d_model" not in whole and "d_head" in whole:
        whole["d_model"] = heads * whole["d_head"]
    if heads and "d_head" not in whole and "d_model" in whole and whole["d_model"] % heads == 0:
        whole["d_head"] = whole["d_model"] // heads
    return whole


def called(name: str) -> str:
    """Return the words for a size in a phrase: "d_k", "the number of keys"."""
    if name == "batch":
        return "the size of the batch"
    if name in ("text", "image"):
        return f"the number of {name} tokens"
    if name in ("context", "window", "width", "temperature"):
        return f"the {name}"
    return f"the number of {name}" if name.isalpha() and name.endswith("s") else name


def is_length(name: str) -> bool:
    """Return True if a size may be the length of an axis.

    Return False for sizes that are counts, ids or settings, such as `seed`.
    """
    return not re.search(r"^max_|_id$|_index$|layers$|^steps?$|^seed$|^window$|^dim$|^cross", name)


def axis_names(shape: tuple[int, ...], sizes: Mapping[str, Any]) -> list[str]:
    """Return for each axis the name of the size that it has, or "" if no size or more than one has this length."""
    whole = whole_sizes(sizes)
    names = []
    for length in shape:
        fitting = [name for name, size in whole.items() if size == length and is_length(name)]
        names.append(fitting[0] if len(fitting) == 1 and list(shape).count(length) == 1 else "")
    return names


def slice_words(shape: tuple[int, ...], sizes: Mapping[str, Any]) -> list[list[str]]:
    """Return for each axis the words that a phrase may use for one of its slices: ["query", "row"], ["batch entry"]."""
    words = []
    for axis, name in enumerate(axis_names(shape, sizes)):
        from_end = len(shape) - axis
        countable = name in SINGULAR or (name.isalpha() and name.endswith("s"))
        if from_end <= 2:
            place = "number" if len(shape) == 1 else "column" if from_end == 1 else "row"
        else:
            place = "head" if from_end == 3 and "heads" in sizes else "batch entry"
        words.append([*([SINGULAR.get(name, name.removesuffix("s"))] if countable else []), place])
    return words


TWO_LENGTHS = re.compile(
    r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|length \((\d+)\) exceeds dimension size \((\d+)\)"
    r"|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
    r"|\(\d+x(\d+) and (\d+)x\d+\)"
)


class RaisingTrial(Protocol):
    """A trial in which an answer raised an exception."""

    @property
    def message(self) -> str: ...
    @property
    def line(self) -> str: ...
    @property
    def sizes(self) -> Mapping[str, Any]: ...


def two_lengths(trials: Sequence[RaisingTrial]) -> str:
    """Return a sentence with the two lengths that do not match in the line of the first trial.

    Return "" if a length does not have the same single name in all trials that raised in this line.
    """
    named: list[set[str]] = []
    for trial in trials:
        found = TWO_LENGTHS.search(trial.message) if trial.line == trials[0].line else None
        if found:
            both = [_names(int(length), trial.sizes) for length in found.groups() if length]
            named = [one & other for one, other in zip(named, both, strict=True)] if named else both
    one, other = named or [set(), set()]
    if not len(one) == len(other) == 1:
        return ""
    return f"Two sizes on this line do not match: {one.pop()} and {other.pop()}."


def _names(length: int, sizes: Mapping[str, Any]) -> set[str]:
    """Return the possible words for a length: the sizes that have it, or else sizes multiplied by the batch size."""
    whole = {name: size for name, size in whole_sizes(sizes).items() if is_length(name)}
    alone = {called(name) for name, size in whole.items() if size == length}
    batch = whole.get("batch", 0)
    return alone or {f"{called(name)} in the whole batch" for name, size in whole.items() if batch * size == length}
