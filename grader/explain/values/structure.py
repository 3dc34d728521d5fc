"""Explains mistakes in the form of a value: its type, shape or dtype.

A leaf is a single value in a nested result. In phrases, "the output" is a name for a leaf.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import Any

import torch
from torch import Tensor

from grader.explain.values.wording import (
    NEAR,
    BySize,
    Phrase,
    agree,
    axis_names,
    called,
    is_length,
    slice_words,
    the_leaf,
    whole_sizes,
    with_article,
)

NO_RETURN = "your code reaches no `return`, or the value that it returns is None."
MOST_AXES = 5  # of a tensor whose axes are tried in every order


def structure(
    name: str, got: Any, want: Any, sizes: Mapping[str, Any] | None = None, sure: bool = False
) -> list[Phrase]:
    """Return the phrases that are true about the form of one leaf, the simplest first.

    Return [] if the form is right or no phrase applies.

    Args:
        name: the name of the leaf: "output", "gradient of key".
        sizes: the sizes of the trial, by name: {"rows": 3, "width": 4}. Phrases use them to name axes.
        sure: leave out phrases that follow only from shapes and that the numbers do not confirm.
    """
    return list(dict.fromkeys(_form_of(the_leaf(name), name, got, want, sizes or {}, sure)))


def _form_of(the: str, name: str, got: Any, want: Any, sizes: Mapping[str, Any], sure: bool) -> Iterator[Phrase]:
    if want is None:
        if got is not None:
            if (whose := name.removeprefix("gradient of ")) != name:
                yield f"The result depends on `{whose}`, but it should not."
            yield f"Expected None for {the}, but your function returned a value."
    elif got is None and isinstance(want, str) and want.endswith("Error"):
        yield (
            f"Expected {with_article(want)}, but your code raised nothing. "
            f"Check for this case first, and raise the {want}."
        )
    elif got is None:
        if name.isidentifier() and type(want) is int:
            yield f"`{name}` is None, but should be {want}: the task asks for an attribute with this name."
        # A gradient that is None is no matter of form, nor is a yes or no that is not known.
        elif " of " not in name and not isinstance(want, bool):
            yield f"Expected a value for {the}, but got None: {NO_RETURN}"
    elif isinstance(want, Tensor):
        if isinstance(got, Tensor):
            yield from _shapes(the, got, want, sizes, sure) if got.shape != want.shape else ()
            yield from _dtypes(the, got, want) if got.dtype != want.dtype else ()
        elif want.ndim or not isinstance(got, (bool, int, float)):
            yield from _no_tensor(the, got)
    elif isinstance(want, str) and want.endswith("Error"):
        if not sure and isinstance(got, str) and got.endswith("Error") and got != want:
            yield (
                f"Expected {with_article(want)}, but got {with_article(got)}. "
                f"Check for this case yourself, and raise the {want}."
            )
    elif isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)) and got and any(want):
        if all(item is None for item in got):
            yield f"Expected values for {the}, but got only None: {NO_RETURN}"
        elif None in got and None not in want:
            yield f"Some values of {the} are None: in some cases your code reaches no `return`."
    elif isinstance(got, Tensor) and got.numel() != 1 and isinstance(want, (int, float)):
        yield f"Expected one number for {the}, but got a tensor of several."
    elif isinstance(want, int) and not isinstance(want, bool) and isinstance(got, float):
        yield f"Expected a whole number for {the}, but got a float."


def _no_tensor(the: str, got: Any) -> Iterator[str]:
    if isinstance(got, (bool, int, float)):
        yield f"Expected a tensor for {the}, but got a plain number. No gradient passes through a plain number."
    elif isinstance(got, (list, tuple)):
        yield f"Expected a tensor for {the}, but got a Python list. No gradient passes through a list."
    elif isinstance(got, str):
        yield f"Expected a tensor for {the}, but got a string."
    else:
        yield f"Expected a tensor for {the}, but got an object of the type {type(got).__name__}."


# ---------------------------------------------------------------- dtype


def _dtypes(the: str, got: Tensor, want: Tensor) -> Iterator[str]:
    came, due = (str(tensor.dtype).removeprefix("torch.") for tensor in (got, want))
    if want.dtype == torch.bool:
        numbers = set(got.flatten()[:1000].tolist())
        if numbers <= {0.0, 1.0}:
            yield f"Expected True and False for {the} (a bool tensor), but got the numbers 0 and 1."
        if numbers <= {0.0, float("-inf")}:
            yield f"Expected True and False for {the} (a bool tensor), but got 0 and −∞, as in an additive mask."
        yield f"Expected True and False for {the} (a bool tensor), but got numbers."
    elif got.dtype == torch.bool:
        yield f"Expected numbers for {the}, but got True and False."
    elif not want.is_floating_point():
        if got.is_floating_point():
            yield f"Expected whole numbers for {the}, but got {came}."
    elif not got.is_floating_point():
        yield f"Expected {due} for {the}, as in the inputs, but got whole numbers ({came})."
    elif due == "float64":
        made = " `.float()` returns float32, and so does `torch.zeros(…)` without dtype=…." if came == "float32" else ""
        yield f"Expected float64 for {the}, as in the inputs, but got {came}.{made}"
    elif came == "float64":
        yield f"Expected {due} for {the}, as in the inputs, but got float64. Convert it back."
    else:
        yield f"Expected {due} for {the}, as in the inputs, but got {came}."


# ---------------------------------------------------------------- shape


def _shapes(the: str, got: Tensor, want: Tensor, sizes: Mapping[str, Any], sure: bool) -> Iterator[Phrase]:
    """Yield phrases about the difference of two shapes. Phrases that also explain the numbers are first."""
    near = NEAR.get(want.dtype, 1e-9)
    names = axis_names(tuple(want.shape), sizes)
    numbers = got.detach().cpu().double(), want.detach().cpu().double()
    telling = got.numel() == 1 or bool((numbers[0].flatten() != numbers[0].flatten()[:1]).any())
    certain: list[Phrase] = []
    possible: list[Phrase] = []
    for rule in (_ones, _missing, _too_many, _swapped, _joined, _longer):
        # In some trials two sizes are the same, and an axis has no name: then its position is said in all.
        for named in (names, [""] * len(names)):
            for says, made in rule(the, *numbers, named, sizes):
                (certain if made is not None and telling and _gives(made, numbers[1], near) else possible).append(says)
    yield from certain
    if not sure:
        yield from possible
        yield from _other_size(the, got, want, sizes)


def _gives(made: Tensor, want: Tensor, near: float) -> bool:
    return made.shape == want.shape and agree(made, want, near)


Rule = Iterator[tuple[Phrase, Tensor | None]]  # a phrase, and what came, put right; None if that is not known


def _place(axis: int, ndim: int) -> str:
    return "in front" if axis == 0 and ndim > 1 else "at the end" if axis == ndim - 1 else f"at axis −{ndim - axis}"


def _ones(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find superfluous and missing axes of length 1."""
    for axis in range(got.ndim):
        if got.shape[axis] == 1 and got.squeeze(axis).shape == want.shape:
            says = f"In {the}, there is an extra axis of length 1 {_place(axis, got.ndim)}: remove this axis."
            yield says, got.squeeze(axis)
    for axis in range(want.ndim):
        if want.shape[axis] == 1 and want.squeeze(axis).shape == got.shape:
            says = f"In {the}, an axis of length 1 is missing {_place(axis, want.ndim)}: keep this axis, or add it."
            yield says, got.unsqueeze(axis)
    missing = want.ndim - got.ndim
    if missing > 0 and got.shape == want.squeeze().shape:
        yield f"Axes of length 1 are missing from {the}, as after `squeeze()`: keep them.", got.reshape(want.shape)
    elif got.ndim > want.ndim and got.squeeze().shape == want.shape and got.ndim - want.ndim > 1:
        yield f"There are several extra axes of length 1 in {the}: remove them.", got.squeeze()
    if got.ndim == want.ndim and got.shape != want.shape:
        differ = [axis for axis in range(want.ndim) if got.shape[axis] != want.shape[axis]]
        if all(got.shape[axis] == 1 for axis in differ):
            word = _axis(differ[0], names)
            for end, index in (("first", 0), ("last", want.shape[differ[0]] - 1)):
                if len(differ) == 1 and agree(got, want.narrow(differ[0], index, 1), 1e-4):
                    yield f"Expected all entries of {the} along {word}, but got only the {end} one.", want
            yield (f"In {the}, {word} has length 1: did you sum or average over it?", (got.expand(want.shape)))


def _axis(axis: int, names: list[str]) -> str:
    return f"the axis of {names[axis]}" if names[axis] else f"axis −{len(names) - axis}"


def _missing(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find a missing axis."""
    for axis in range(want.ndim):
        if got.shape == (*want.shape[:axis], *want.shape[axis + 1 :]) and want.shape[axis] > 1:
            word = _axis(axis, names)
            yield f"In {the}, {word} is missing: did you sum, average or index along it?", None


def _too_many(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find a superfluous axis, or batch entries that are combined with each other."""
    came = axis_names(tuple(got.shape), sizes)
    if want.ndim == 0 and got.numel() > 1:
        for way, one in (("mean", got.mean()), ("sum", got.sum())):
            if agree(one, want, 1e-4):
                yield f"Expected one number for {the}, but got several: take their {way}.", want
                return
        yield f"Expected one number for {the}, but got several.", None
        return
    if _own_entries(got, want):
        word = slice_words(tuple(want.shape), sizes)[0][-1]
        yield (f"In {the}, each {word} is combined with every other {word}. Combine it only with itself.", want)
        return
    for axis in range(got.ndim):
        if (*got.shape[:axis], *got.shape[axis + 1 :]) == want.shape and got.shape[axis] > 1:
            yield f"There is an extra axis in {the}: {_axis(axis, came)}.", None


def _own_entries(got: Tensor, want: Tensor) -> bool:
    """Return True if the result has the leading axes twice, and its diagonal along them is the expected tensor."""
    twice = got.ndim - want.ndim
    lead = want.shape[:twice]
    for start in range(twice, got.ndim - twice + 1) if twice > 0 and got.shape[:twice] == lead else ():
        if got.shape[start : start + twice] == lead:
            own = got
            for index in range(twice):
                own = own.diagonal(dim1=0, dim2=start - index)
            if agree(own.movedim(tuple(range(-twice, 0)), tuple(range(twice))), want, 1e-4):
                return True
    return False


def _swapped(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find an order of the axes in which the result equals the expected tensor."""
    if got.ndim != want.ndim or got.ndim > MOST_AXES or sorted(got.shape) != sorted(want.shape):
        return
    for order in sorted(permutations(range(got.ndim)), key=_moved):
        if [got.shape[axis] for axis in order] != list(want.shape) or not agree(got.permute(order), want, 1e-4):
            continue
        turned = [axis for axis, other in enumerate(order) if axis != other]
        if len(turned) == 2:
            one, other = (names[axis] for axis in turned)
            if turned == [got.ndim - 2, got.ndim - 1]:
                yield f"The last two axes of {the} are swapped.", want
            if one and other:
                yield f"In {the}, the axes of {one} and {other} are swapped.", want
            yield (f"In {the}, axis −{got.ndim - turned[0]} and axis −{got.ndim - turned[1]} are swapped.", want)
        yield f"The axes of {the} are in the wrong order.", want
        return


def _moved(order: tuple[int, ...]) -> int:
    return sum(axis != other for axis, other in enumerate(order))


def _joined(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find neighbouring axes that were merged into one, or an axis that was split into two."""
    if got.numel() != want.numel():
        return
    if got.ndim < want.ndim and got.squeeze().shape != want.squeeze().shape:
        if got.ndim == 1:
            yield f"All axes of {the} are merged into one axis.", got.reshape(want.shape)
        elif got.shape[1:] == want.shape[want.ndim - got.ndim + 1 :]:
            says = f"The leading axes of {the} are merged into one axis, but they must keep their shape."
            yield says, got.reshape(want.shape)
        elif got.shape[:-1] == want.shape[: got.ndim - 1]:
            yield f"The last axes of {the} are merged into one axis.", got.reshape(want.shape)
        else:
            yield f"Some axes of {the} are merged into one axis.", got.reshape(want.shape)
    elif got.ndim > want.ndim:
        yield f"There are too many axes in {the}: merge two of them into one.", got.reshape(want.shape)


def _longer(the: str, got: Tensor, want: Tensor, names: list[str], sizes: Mapping[str, Any]) -> Rule:
    """Find a single axis along which the result is longer or shorter than expected."""
    if got.ndim != want.ndim:
        return
    differ = [axis for axis in range(want.ndim) if got.shape[axis] != want.shape[axis]]
    if len(differ) != 1:
        return
    axis, word = differ[0], _axis(differ[0], names)
    came, due = got.shape[axis], want.shape[axis]
    if 1 in (came, due) and came < due:
        return
    short, long = (want, got) if came > due else (got, want)
    length = short.shape[axis]
    start = agree(long.narrow(axis, 0, length), short, 1e-4)
    end = agree(long.narrow(axis, long.shape[axis] - length, length), short, 1e-4)
    if came > due:
        if start or end:
            where = "after" if start else "before"
            yield f"In {the}, there are extra entries {where} the expected entries, along {word}.", None
        elif came == 2 * due:
            yield f"In {the}, {word} is twice as long as expected: did you append instead of add?", None
        else:
            for name, size in whole_sizes(sizes).items():
                if came - due == size > 1 and is_length(name):
                    says = f"In {the}, {word} is too long by {called(name)}: did you join something to it?"
                    yield BySize("longer by", (called(name),), says), None
            if came == due + 1:
                yield f"In {the}, {word} is one entry too long.", None
    elif start or end:
        yield f"In {the}, the {'last' if start else 'first'} entries along {word} are missing.", None
    elif came == due - 1:
        yield f"In {the}, {word} is one entry too short.", None


def _other_size(the: str, got: Tensor, want: Tensor, sizes: Mapping[str, Any]) -> Iterator[Phrase]:
    """Yield phrases about an axis that has the length of a wrong size, such as the number of keys."""
    if got.ndim != want.ndim:
        few = "few" if got.ndim < want.ndim else "many"
        yield f"There are too {few} axes in {the}."
        return
    whole = {name: size for name, size in whole_sizes(sizes).items() if is_length(name)}
    for axis, (came, due) in enumerate(zip(got.shape, want.shape, strict=True)):
        names = [[called(name) for name, size in whole.items() if size == length] for length in (came, due)]
        for one, other in product(*names) if came != due else ():
            says = f"In {the}, the length of axis −{got.ndim - axis} is {one}, but should be {other}."
            yield BySize("as long as", (one, other), says)
    differ = [axis for axis in range(want.ndim) if got.shape[axis] != want.shape[axis]]
    for word in (_axis(differ[0], axis_names(tuple(want.shape), sizes)), f"axis −{got.ndim - differ[0]}"):
        if len(differ) == 1:
            yield f"In {the}, {word} is too {'long' if got.shape[differ[0]] > want.shape[differ[0]] else 'short'}."
