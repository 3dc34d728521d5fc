"""Relations in which the numbers that came are those that are due, at other places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from grader.diagnosis.values.pair import (
    DISTINCT,
    Pair,
    Phrase,
    agree,
    axis_words,
    many_of,
    slice_words,
    whole_sizes,
)

MOST_COMPARED = 200_000  # numbers in the comparison of all slices with all slices


def reordered(pair: Pair) -> Iterator[Phrase]:
    """Find that the right numbers came in another order."""
    if pair.few or _is_plain(pair.want) or not _same_numbers(pair):
        return
    yield from _transposed(pair)
    if not pair.passed:
        yield from _permuted(pair)
        if not pair.discrete:
            yield from _recut(pair)


def _transposed(pair: Pair) -> Iterator[Phrase]:
    """Find two axes of one length that have changed places."""
    words = axis_words(tuple(pair.want.shape), pair.sizes)
    for one, other in combinations(range(pair.want.ndim), 2):
        if pair.want.shape[one] != pair.want.shape[other] or pair.want.shape[one] == 1:
            continue
        if agree(pair.got, pair.want.transpose(one, other), pair.near):
            if other == pair.want.ndim - 1 and one == other - 1:
                yield Phrase(f"Rows and columns of {pair.the} have changed places.")
            else:
                yield Phrase(f"In {pair.the}, {words[one][-1]} and {words[other][-1]} have changed places.")


def _recut(pair: Pair) -> Iterator[Phrase]:
    """Find that a reshape cut the numbers in the order of memory where two axes should change places."""
    for want, words in _views(pair):
        for one, other in combinations(range(want.ndim), 2):
            if 1 in (want.shape[one], want.shape[other]):
                continue
            if not agree(pair.got.flatten(), want.transpose(one, other).flatten(), pair.near):
                continue
            if want.shape != pair.want.shape and one == want.ndim - 2:
                yield Phrase(
                    f"The features of the heads are interleaved in {pair.the}: each head has a block of its own, "
                    "one behind the other.",
                    kind="free",
                )
            for first in words[one]:
                for second in words[other]:
                    yield Phrase(
                        f"The numbers of {pair.the} are right, but in another order: {first} and {second} are mixed. "
                        "A reshape cuts the numbers anew and swaps no axes; transpose does.",
                        kind="free",
                    )
    if pair.want.ndim < 2 or not bool((_same_rows(pair).sum(-1) > 0).all()):
        yield Phrase(
            f"The numbers of {pair.the} are right, but at other places. Check each reshape and each swap of axes.",
            kind="free",
            vague=True,
        )


def _permuted(pair: Pair) -> Iterator[Phrase]:
    """Find that the slices along one axis came in another order."""
    slices = slice_words(tuple(pair.want.shape), pair.sizes)
    for axis, words in enumerate(slices):
        order = _order(pair, axis)
        for word in words if order else ():
            many = many_of(word, pair)
            if len(order) == 2:
                yield Phrase(f"The two {many} have changed places.", kind="free")
            elif order == sorted(order, reverse=True):
                yield Phrase(f"The {many} come in reverse order.", kind="free")
            elif order in [[*range(k, len(order)), *range(k)] for k in range(1, len(order))]:
                yield Phrase(f"The {many} are moved round, the last ones to the front.", kind="free")
            elif _is_grid(order):
                yield Phrase(
                    f"The {many} come as if a grid were read column by column, not row by row.",
                    kind="free",
                )
            yield Phrase(f"The {many} are right, but come in another order.", kind="free")


def shifted(pair: Pair) -> Iterator[Phrase]:
    """Find that all slices along an axis stand one place too early or too late."""
    if pair.few or pair.passed or _is_plain(pair.want):
        return
    for axis, length in enumerate(pair.want.shape):
        if length < DISTINCT:
            continue
        early, late = pair.want.narrow(axis, 1, length - 1), pair.want.narrow(axis, 0, length - 1)
        for says, due, start in (("late", late, 1), ("early", early, 0)):
            came = pair.got.narrow(axis, start, length - 1)
            if agree(came, due, pair.near) and not agree(early, late, pair.near):
                for word in axis_words(tuple(pair.want.shape), pair.sizes)[axis]:
                    yield Phrase(
                        f"Everything in {pair.the} stands one place too {says} along {word}.", kind="free"
                    )


def rearranged(pair: Pair) -> Iterator[Phrase]:
    """Find that in each batch entry the rows came in another order, or some of them twice."""
    if pair.few or pair.passed or pair.discrete or pair.want.ndim < 2:
        return
    if pair.want.shape[-2] < 2 or not pair.want.isfinite().all():
        return
    same = _same_rows(pair)
    if not bool((same.sum(-1) == 1).all()):
        return
    if bool(same.diagonal(dim1=-2, dim2=-1).all(-1).any()):
        return  # some batch entries are right as they are: which ones is what says something
    for word in slice_words(tuple(pair.want.shape), pair.sizes)[-2]:
        if bool((same.sum(-2) == 1).all()):
            yield Phrase(f"The {many_of(word, pair)} are right, but come in another order.", kind="free")
        else:
            yield Phrase(f"Some {many_of(word, pair)} came twice, and others are lost.", kind="free")


def repeated(pair: Pair) -> Iterator[Phrase]:
    """Find that all slices along an axis came out the same, where different ones are due."""
    if pair.few or pair.passed or pair.want.ndim < 2 or not pair.got.isfinite().all():
        return
    if float(pair.got.max()) == float(pair.got.min()):
        return  # one number everywhere is said elsewhere
    slices = slice_words(tuple(pair.want.shape), pair.sizes)
    views = [
        (pair.want, slices),
        *((view, [*slices[:-1], ["head"], ["column"]]) for view, _ in _views(pair)[1:]),
    ]
    for want, words in views:
        got = pair.got.reshape(want.shape)
        for axis, length in enumerate(want.shape):
            if length < 2 or (want is not pair.want and axis != want.ndim - 2):
                continue
            first = got.narrow(axis, 0, 1)
            if not agree(got, first.expand_as(got), pair.near) or _is_repeated(want, axis, pair.near):
                continue
            for word in words[axis]:
                one = f"Every {word} of {pair.the}"
                if agree(first, want.mean(axis, keepdim=True), pair.near):
                    yield Phrase(f"{one} came out as the mean over all of them.", kind="free")
                elif agree(first, want.narrow(axis, 0, 1), pair.near):
                    yield Phrase(f"{one} came out as the first one.", kind="free")
                elif agree(first, want.narrow(axis, length - 1, 1), pair.near):
                    yield Phrase(f"{one} came out as the last one.", kind="free")
                yield Phrase(f"{one} came out the same; they should differ.", kind="free", vague=True)


def _same_rows(pair: Pair) -> Tensor:
    """Tell of each row that came which rows of its batch entry it equals: (..., rows that came, rows that are due)."""
    length = pair.want.shape[-2]
    if length * pair.want.numel() > MOST_COMPARED:
        return torch.zeros((*pair.want.shape[:-1], length), dtype=torch.bool)
    allowed = pair.near * float(pair.want.abs().max())
    return ((pair.got.unsqueeze(-2) - pair.want.unsqueeze(-3)).abs() <= allowed).all(-1)


def _is_plain(tensor: Tensor) -> bool:
    return tensor.ndim == 0 or tensor.numel() < DISTINCT


def _is_repeated(tensor: Tensor, axis: int, near: float) -> bool:
    return agree(tensor, tensor.narrow(axis, 0, 1).expand_as(tensor), near)


def _same_numbers(pair: Pair) -> bool:
    """Tell whether what came holds the same numbers, in whatever order."""
    if not pair.got.isfinite().all() or not pair.want.isfinite().all():
        return False
    return agree(pair.got.flatten().sort().values, pair.want.flatten().sort().values, pair.near)


def _views(pair: Pair) -> list[tuple[Tensor, list[list[str]]]]:
    """Return what is due as it is, and where there are heads also with their features cut into heads."""
    words = axis_words(tuple(pair.want.shape), pair.sizes)
    whole = whole_sizes(pair.sizes)
    heads = whole.get("heads", whole.get("num_heads", 0))
    views = [(pair.want, words)]
    if heads > 1 and pair.want.shape[-1] % heads == 0 and pair.want.shape[-1] > heads:
        cut = pair.want.unflatten(-1, (heads, -1))
        views.append((cut, [*words[:-1], ["the heads"], ["the features of a head"]]))
    return views


def _order(pair: Pair, axis: int) -> list[int]:
    """Return which slice that is due came at each place along an axis; [] if no order of slices explains what came."""
    length = pair.want.shape[axis]
    if length < 2 or length * pair.want.numel() > MOST_COMPARED:
        return []
    got = pair.got.movedim(axis, 0).reshape(length, 1, -1)
    want = pair.want.movedim(axis, 0).reshape(1, length, -1)
    finite = want[want.isfinite()]
    allowed = pair.near * (float(finite.abs().max()) if finite.numel() else 1.0)
    same = (((got - want).abs() <= allowed) | (got == want)).all(-1)
    if not bool((same.sum(0) == 1).all()) or not bool((same.sum(1) == 1).all()):
        return []
    order = same.long().argmax(1).tolist()
    return order if order != sorted(order) else []


def _is_grid(order: Sequence[int]) -> bool:
    """Tell whether this order reads a grid of numbers in rows column by column."""
    length = len(order)
    return any(
        torch.arange(length).reshape(rows, -1).T.flatten().tolist() == list(order)
        for rows in range(2, length)
        if length % rows == 0
    )
