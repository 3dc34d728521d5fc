"""A leaf that came back beside the expected one, and names for its axes and for constants."""

import re
from collections.abc import Mapping
from math import isclose, isfinite, log, sqrt
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

# How far two numbers may be apart and still count as the same, relative to the largest.
NEAR = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 3e-2}
DISTINCT = 3  # different numbers that must fit before one trial alone shows a relation
SINGULAR = {"queries": "query", "patches": "patch", "batches": "batch entry", "batch": "batch entry"}


class Pair(NamedTuple):
    """A leaf that came back and the expected one, of the same shape and dtype."""

    the: str  # "the output": what a phrase calls it
    got: Tensor  # in float64, as is what is due
    want: Tensor
    near: float  # how far two numbers may be apart and still count as the same, relative to the largest
    sizes: Mapping[str, Any]  # of the trial, by name: {"rows": 3, "width": 4}
    inputs: Mapping[str, Tensor]  # of the trial, by name; empty if not known
    passed: bool  # what came back is right
    few: bool  # too few different numbers for one trial to show a relation
    discrete: bool  # the leaf is of whole numbers, or of True and False
    yes_or_no: bool  # the leaf is of True and False


class Trial(Protocol):
    """What one trial showed of an answer; `explain.Seen` is one."""

    @property
    def passed(self) -> bool: ...
    @property
    def error(self) -> str: ...
    @property
    def got(self) -> Mapping[str, Any]: ...
    @property
    def expected(self) -> Mapping[str, Any]: ...
    @property
    def inputs(self) -> Mapping[str, Any]: ...
    @property
    def sizes(self) -> Mapping[str, Any]: ...
    @property
    def near(self) -> float: ...


class Phrase(NamedTuple):
    """What holds of a pair, in words."""

    says: str  # "": this trial shows too little for any phrase of the relation
    kind: str = "transform"  # "transform": holds of a right answer, too; "free": may not
    group: str = ""  # of phrases of one group only one can be true
    weak: bool = False  # a constant that is the same in all trials is the simpler explanation
    vague: bool = False  # says what is seen, and little about the cause
    needs: int = 1  # failing trials; 0: one trial is enough, even of few numbers


def make_pair(
    name: str,
    got: Any,
    want: Any,
    sizes: Mapping[str, Any],
    inputs: Mapping[str, Tensor] | None = None,
    passed: bool = False,
) -> Pair | None:
    """Return the pair of two leaves; None unless they are numbers or tensors of the same shape and dtype."""
    if _are_floats(got) and _are_floats(want):
        got, want = torch.tensor(got), torch.tensor(want)
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        got, want = torch.tensor(float(got)), torch.tensor(want)
    if not isinstance(got, Tensor) or not isinstance(want, Tensor):
        return None
    if got.shape != want.shape or got.dtype != want.dtype or not want.numel():
        return None
    discrete = not want.is_floating_point()
    near = 1e-9 if discrete else NEAR.get(want.dtype, 1e-4)
    yes_or_no = want.dtype == torch.bool
    got, want = got.detach().cpu().double(), want.detach().cpu().double()
    few = want.numel() < DISTINCT**2 if discrete else len(set(want.flatten()[:64].tolist()) - {0.0}) < DISTINCT
    tensors = {key: value for key, value in (inputs or {}).items() if isinstance(value, Tensor)}
    return Pair(the_leaf(name), got, want, near, sizes, tensors, passed, few, discrete, yes_or_no)


def _are_floats(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, float) for item in value)


def the_leaf(name: str) -> str:
    """Return what a phrase calls a leaf: "the output"; "“maps[0]”" where that is no noun."""
    if name == "aligned":
        return "the aligned tokens"
    if name.startswith("what "):
        return name
    return f"the {name}" if re.fullmatch(r"[a-z_ ]+", name) and "without" not in name else _quoted(name)


def _quoted(name: str) -> str:
    gradient, of, source = name.partition(" of ")
    return f"the {gradient} of {source}" if of else f"“{name}”"


def sentence(text: str) -> str:
    """Begin a text with a capital, unless it begins with a name from the code."""
    return text[0].upper() + text[1:] if text.startswith(("the ", "what ")) else text


def with_article(name: str) -> str:
    """Put an article before the name of an exception: "an AttributeError", "a ValueError"."""
    return f"an {name}" if name[0] in "AEIO" else f"a {name}"


def every_number(pair: Pair) -> str:
    """Return the subject of a phrase about each number: "every number of the scores", "the loss"."""
    return sentence(pair.the) if pair.want.ndim == 0 else f"Every number of {pair.the}"


def agreeing(one: Tensor, other: Tensor, near: float) -> Tensor:
    """Tell for each place whether two tensors hold the same number there, up to rounding."""
    finite = other[other.isfinite()]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return ((one - other).abs() <= near * (largest or 1.0)) | (one == other) | (one.isnan() & other.isnan())


def agree(one: Tensor, other: Tensor, near: float) -> bool:
    """Tell whether two tensors have the same shape and the same numbers, up to rounding."""
    if one.shape != other.shape:
        return False
    if not one.numel():
        return True
    off, largest = float((one - other).abs().max()), float(other.abs().max())
    if isfinite(off) and isfinite(largest):
        return off <= near * (largest or 1.0)
    return bool(agreeing(one, other, near).all())


def whole_sizes(sizes: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that are whole numbers; a batch of several axes counts with all its entries."""
    whole = {name: value for name, value in sizes.items() if isinstance(value, int) and not isinstance(value, bool)}
    if isinstance(shape := sizes.get("batch_shape"), tuple) and shape:
        whole["batch"] = int(torch.Size(shape).numel())
    heads = whole.get("heads", 0)
    if heads and "d_model" not in whole and "d_head" in whole:
        whole["d_model"] = heads * whole["d_head"]
    if heads and "d_head" not in whole and whole.get("d_model", 1) % heads == 0:
        whole["d_head"] = whole["d_model"] // heads
    return whole


def called(name: str) -> str:
    """Return what a phrase calls a size: "d_k", "the number of keys"."""
    if name == "batch":
        return "the size of the batch"
    if name in ("text", "image"):
        return f"the number of {name} tokens"
    if name in ("context", "window", "width", "temperature"):
        return f"the {name}"
    return f"the number of {name}" if name.isalpha() and name.endswith("s") else name


def root(name: str) -> str:
    """Return what a phrase calls the root of a size."""
    return f"√{name}" if "_" in name or len(name) == 1 else f"the root of {called(name)}"


def constants(sizes: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the constants greater than 1 that have a name in this trial: √d_k, d_k, the number of keys."""
    whole = {name: size for name, size in whole_sizes(sizes).items() if size > 0}
    named = [(root(name), sqrt(size)) for name, size in whole.items()]
    named += [(called(name), float(size)) for name, size in whole.items()]
    named += [(f"the log of {called(name)}", log(size)) for name, size in whole.items() if size > 2]
    named += [(f"{name}/({name} − 1)", size / (size - 1)) for name, size in whole.items() if size > 1]
    others = [(name, size) for name, size in whole.items() if name != "batch"]
    if "batch" in whole:
        named += [(f"batch × {name}", float(whole["batch"] * size)) for name, size in others]
    return named


def same_number(one: float, other: float) -> bool:
    """Tell whether two constants are the same, as well as float32 can tell."""
    return isclose(one, other, rel_tol=2e-4)


def is_length(name: str) -> bool:
    """Tell whether a size may be the length of an axis."""
    return not re.search(r"^max_|_id$|_index$|layers$|^steps?$|^seed$|^window$|^dim$|^cross", name)


def axis_names(shape: tuple[int, ...], sizes: Mapping[str, Any]) -> list[str]:
    """Return for each axis the name of the size that it has; "" where none or several have this length."""
    whole = whole_sizes(sizes)
    names = []
    for length in shape:
        fitting = [name for name, size in whole.items() if size == length and is_length(name)]
        names.append(fitting[0] if len(fitting) == 1 and list(shape).count(length) == 1 else "")
    return names


def slice_words(shape: tuple[int, ...], sizes: Mapping[str, Any]) -> list[list[str]]:
    """Return for each axis what a phrase may call one of its slices: ["query", "row"], ["batch entry"]."""
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
