"""Relations in which every number came out as one function of the numbers that are due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, log, log10, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu, log_softmax, softmax

from grader.diagnosis.values.pair import (
    DISTINCT,
    Pair,
    Phrase,
    agree,
    agreeing,
    called,
    constants,
    every_number,
    root,
    same_number,
    sentence,
    whole_sizes,
)

LARGEST_FIXED = 128  # the largest number that a student may have written in the place of a size
LN_2 = log(2)
ENOUGH_FREE = 3  # numbers that fit beyond those that the factors were chosen by
SAMPLE = 8  # numbers that a function must fit before all are looked at
PLACES = 6  # decimals that somebody may round to
FUNCTIONS = {
    "1 minus what is due": lambda x: 1 - x,
    "the exp of what is due: a log is missing, or an exp too many": torch.exp,
    "the log of what is due: an exp is missing, or a log too many": torch.log,
    "minus the log of what is due: there is a log too many": lambda x: -torch.log(x),
    "the exp of minus what is due: a log is missing": lambda x: torch.exp(-x),
    "the square of what is due: a root is missing": torch.square,
    "the root of what is due: there is one root too many": torch.sqrt,
    "1 divided by what is due: have numerator and denominator changed places?": torch.reciprocal,
    "what is due without its sign: negative numbers came out positive": torch.abs,
    "what is due with 0 for all negative numbers, as after a ReLU": torch.relu,
    "the GELU of what is due: there is one too many": gelu,
    "the tanh of what is due": torch.tanh,
    "the sigmoid of what is due": torch.sigmoid,
    "what is due, rounded to whole numbers": torch.round,
    "what is due, rounded down to whole numbers, as `//` does": torch.floor,
    "what is due without its decimals, as `int` does": torch.trunc,
}
ALONG_ROWS = {
    "The softmax of what is due came: there is a softmax too many.": lambda x: softmax(x, -1),
    "The log-softmax of what is due came: there is one too many.": lambda x: log_softmax(x, -1),
    "The softmax of what is due came, taken over axis −2: there is a softmax too many.": lambda x: softmax(
        x, -2
    ),
    "What is due came divided by the length of each row: the rows are normalised to length 1.": (
        lambda x: x / x.norm(dim=-1, keepdim=True)
    ),
    "What is due came divided by its sum over each row: the rows are normalised to sum to 1.": (
        lambda x: x / x.sum(-1, keepdim=True)
    ),
    "What is due came less the mean of each row.": lambda x: x - x.mean(-1, keepdim=True),
}


def elementwise(pair: Pair) -> Iterator[Phrase]:
    """Find a function of single numbers that makes what came of what is due, or what is due of what came."""
    if pair.discrete:
        return
    step = max(1, pair.want.numel() // SAMPLE)
    due, came = pair.want.flatten()[::step], pair.got.flatten()[::step]
    made = torch.stack([function(due) for function in FUNCTIONS.values()])
    promising = (
        agreeing(came.expand_as(made), made, 100 * pair.near).all(1).tolist()
    )  # the largest may not be in it
    for (says, function), holds in zip(FUNCTIONS.items(), promising, strict=True):
        if holds and agree(pair.got, function(pair.want), pair.near):
            # Nothing but zeros has many causes.
            yield Phrase(f"{every_number(pair)} is {says}." if pair.passed or bool(pair.got.any()) else "")


def along_rows(pair: Pair) -> Iterator[Phrase]:
    """Find a function of rows that makes what came of what is due, or the softmax that makes what is due of what came."""
    if pair.discrete or pair.few or pair.want.ndim < 1:
        return
    for says, function in ALONG_ROWS.items():
        if "−2" in says and pair.want.ndim < 2:
            continue
        if agree(pair.got, function(pair.want), pair.near):
            yield Phrase(f"{sentence(pair.the)}: {says[0].lower()}{says[1:]}")
    if not pair.passed and pair.got.isfinite().all():
        if agree(softmax(pair.got, -1), pair.want, pair.near):
            yield Phrase(f"The softmax of {pair.the} would be right: a softmax is missing.")
            return
        off = pair.got - pair.want
        by_row = off.mean(-1, keepdim=True)
        apart = float((by_row - by_row.mean()).abs().max())
        if apart > 1e-3 * float(pair.want.abs().max()) and float((off - by_row).abs().max()) < 1e-3 * apart:
            yield Phrase(
                f"In {pair.the}, all numbers of a row are off by the same amount, and each row by its own."
            )


def scaled(pair: Pair) -> Iterator[Phrase]:
    """Find one factor between all numbers that came and those that are due."""
    if pair.discrete or not pair.got.isfinite().all() or not pair.want.isfinite().all():
        return
    factor = float((pair.got * pair.want).sum() / pair.want.square().sum().clamp_min(1e-300))
    if abs(factor) < 1e-5 or not agree(pair.got, factor * pair.want, pair.near):
        return
    if factor < 0:
        sign = "has the wrong sign" if same_number(factor, -1) else "has the wrong sign, and"
        if same_number(factor, -1):
            yield Phrase(f"{every_number(pair)} {sign}.")
            return
        yield from factor_phrases(-factor, pair.sizes, f"{every_number(pair)} {sign}")
        return
    yield from factor_phrases(factor, pair.sizes, f"{every_number(pair)}")
    if pair.few:
        return
    yield Phrase(
        f"All numbers of {pair.the} are off by one and the same factor. Check by what they are divided or multiplied.",
        vague=True,
    )


def factor_phrases(factor: float, sizes: Mapping[str, Any], subject: str) -> Iterator[Phrase]:
    """Say how many times too large or too small something is: by a named constant, or by a number.

    A factor of 1 is what a right answer shows: then the phrases come that say nothing in this trial, such as √d_k times
    too large where d_k is 1.
    """
    times, way = (factor, "large") if factor > 1 else (1 / factor, "small")
    for noun, value in constants(sizes):
        for towards in (way,) if times > 1.001 else ("large", "small"):
            if same_number(times, value):
                weak = same_number(value, round(value))
                yield Phrase(_times_too(subject, noun, towards), group="named", weak=weak)
    temperature = sizes.get("temperature")
    if isinstance(temperature, float) and temperature > 0:
        for often, power in (("once", 1), ("twice", 2)):
            for done, value in (("multiplied", temperature**power), ("divided", temperature**-power)):
                if same_number(factor, value):
                    says = f"{subject} is {done} by the temperature {often} too often."
                    yield Phrase(says, group="named", weak=True)
    if same_number(times, 1 / LN_2):
        yield Phrase(f"{subject} is too {way}, by the factor ln 2: log and log2 are mixed.", group="named")
    yield from _other_size_phrases(factor, sizes, subject)
    if times > 1.001:
        yield Phrase(f"{subject} is {times:.3g} times too {way}.", group="number")


def _times_too(subject: str, noun: str, way: str) -> str:
    if noun.startswith("the number of "):
        return f"{subject} is too {way}, as many times as there are {noun.removeprefix('the number of ')}."
    if noun.startswith("the "):
        done = "divided" if way == "large" else "multiplied"
        return f"{subject} is too {way}: {done} by {noun} it would be right."
    return f"{subject} is {noun} times too {way}."


def _other_size_phrases(factor: float, sizes: Mapping[str, Any], subject: str) -> Iterator[Phrase]:
    """Say that another size, another function of a size, or a fixed number came in the place of a divisor."""
    whole = {name: size for name, size in whole_sizes(sizes).items() if size > 0}
    for name, size in whole.items():
        forms = ((root(name), sqrt(size)), (called(name), size), (f"the log of {called(name)}", log(size)))
        halves = ((f"half of {called(name)}", size / 2), (f"the square of {called(name)}", size**2))
        for due, divisor in forms if size > 1 else ():
            for way, other in (*forms, *halves):
                if due != way and same_number(factor * other, divisor):
                    says = f"{subject} is off as if it were divided by {way} in the place of {due}."
                    yield Phrase(says, group="form", weak=True, needs=2)
    for square, sign in ((factor**2, "√"), (factor, "")):
        for name, size in whole.items():
            divisor_due = root(name) if sign else called(name)
            for second, length in whole.items():
                if second != name and same_number(square, size / length):
                    came = root(second) if sign else called(second)
                    says = f"{subject} is off as if it were divided by {came} in the place of {divisor_due}."
                    yield Phrase(says, group=f"ratio{sign}", weak=True)
            fixed = size / square
            if 1.5 < fixed < LARGEST_FIXED and same_number(fixed, round(fixed)):
                says = f"{subject} is off as if {name} were {round(fixed)} in every trial: is it written as a number?"
                yield Phrase(says, group=f"fixed{sign}", weak=True, needs=2)


def offset(pair: Pair) -> Iterator[Phrase]:
    """Find one amount that was added to all numbers, or from which all were taken away."""
    if pair.yes_or_no or not pair.got.isfinite().all() or not pair.want.isfinite().all():
        return
    for signed, words in (
        (pair.got - pair.want, "is too large by"),
        (pair.got + pair.want, "is taken away from"),
    ):
        amount = float(signed.mean())
        if not agree(signed, torch.full_like(signed, amount), pair.near) or abs(amount) < pair.near:
            continue
        if words == "is taken away from":
            if not same_number(amount, 1) and not pair.few:
                yield Phrase(f"{every_number(pair)} is a constant minus what is due.", vague=True)
            continue
        size, way = (amount, "large") if amount > 0 else (-amount, "small")
        yield Phrase(f"{every_number(pair)} is {size:.3g} too {way}.", group="number")
        if not pair.few:
            yield Phrase(f"All numbers of {pair.the} are too {way} by one and the same amount.", vague=True)


def shifted_rows(pair: Pair) -> Iterator[Phrase]:
    """Find one vector that was added to every row, as a bias is."""
    if pair.few or pair.discrete or pair.passed or pair.want.ndim < 2 or not pair.got.isfinite().all():
        return
    rows = (pair.got - pair.want).flatten(0, -2)
    same = agree(rows, rows[:1].expand_as(rows), pair.near) if len(rows) > 1 and rows.shape[-1] > 1 else False
    if same and not agree(rows[0], rows[0].mean().expand_as(rows[0]), pair.near):
        yield Phrase(
            f"In {pair.the}, every row is off by the same vector: is there a bias that nobody asked for?"
        )


def rows_scaled(pair: Pair) -> Iterator[Phrase]:
    """Find a factor for each row, or for each column, between what came and what is due."""
    if pair.few or pair.discrete or pair.passed or pair.want.ndim < 2:
        return
    if not pair.got.isfinite().all() or not pair.want.isfinite().all():
        return
    for axis, noun, length in ((-1, "row", pair.want.shape[-1]), (-2, "column", pair.want.shape[-2])):
        squares = pair.want.square().sum(axis, keepdim=True)
        factors = (pair.got * pair.want).sum(axis, keepdim=True) / squares.clamp_min(1e-300)
        free = int((squares > 0).sum())
        if (
            int((pair.want != 0).sum()) - free < ENOUGH_FREE
            or length < 2
            or bool((factors.abs() < 1e-6).all())
        ):
            continue
        if not agree(pair.got, factors * pair.want, pair.near) or agree(
            factors, factors.mean().expand_as(factors), pair.near
        ):
            continue
        yield Phrase(
            f"In {pair.the}, each {noun} is off by a factor of its own, the same for all its numbers.",
            vague=True,
        )


def clamped(pair: Pair) -> Iterator[Phrase]:
    """Find a smallest or largest number that was put in the place of all beyond it."""
    if pair.few or pair.passed or pair.discrete or not pair.got.isfinite().all():
        return
    low, high = float(pair.got.min()), float(pair.got.max())
    if low == high:
        return
    if agree(pair.got, pair.want.clamp(min=low), pair.near) and int((pair.got == low).sum()) > 1 and low != 0:
        yield Phrase(f"In {pair.the}, all small numbers are lifted to one and the same.", kind="free")
    elif low < 0 < high and agree(pair.got, pair.want.clamp(low, high), pair.near):
        yield Phrase(f"In {pair.the}, large and small numbers are cut off.", kind="free")
    if agree(pair.got, pair.want.clamp(max=high), pair.near) and int((pair.got == high).sum()) > 1:
        yield Phrase(f"In {pair.the}, all large numbers are cut off at one and the same.", kind="free")


def lower_precision(pair: Pair) -> Iterator[Phrase]:
    """Find that what came is what is due, rounded to fewer decimals or to a smaller dtype."""
    if pair.discrete or pair.passed or not pair.got.isfinite().all():
        return
    largest = max(float(pair.want.abs().max()), 1e-30)
    off = float((pair.got - pair.want).abs().max())
    for places in range(PLACES):
        step = 10.0**-places
        if off > step * 1.01 or ceil(log10(largest)) + places < 0:
            break
        steps = pair.got / step
        if agree_exactly(steps, steps.round(), 2e-7 * largest / step + 1e-9):
            if places:
                words = f"{places} decimal{'s' if places > 1 else ''}"
                yield Phrase(
                    f"{sentence(pair.the)} came rounded to {words}. Leave the numbers as they are.",
                    kind="free",
                )
            return
    for dtype, error in ((torch.bfloat16, 1e-1), (torch.float16, 2e-2), (torch.float32, 1e-5)):
        name = str(dtype).removeprefix("torch.")
        if (
            off <= error * largest
            and torch.equal(pair.got.to(dtype).double(), pair.got)
            and not torch.equal(pair.want.to(dtype).double(), pair.want)
        ):
            yield Phrase(
                f"{sentence(pair.the)} came with the precision of {name} only: is there a cast on the way?",
                kind="free",
            )
            return


def agree_exactly(one: Tensor, other: Tensor, allowed: float) -> bool:
    """Tell whether two tensors differ by no more than an absolute amount."""
    return bool(((one - other).abs() <= allowed).all())


def with_inputs(pair: Pair) -> Iterator[Phrase]:
    """Find that an input came back, or was added, taken away or multiplied where it is not due."""
    if pair.few or pair.discrete:
        return
    for name, tensor in pair.inputs.items():
        if tensor.shape != pair.want.shape or not tensor.is_floating_point():
            continue
        value = tensor.detach().cpu().double()
        if agree(pair.got, value, pair.near):
            yield Phrase(f"{sentence(pair.the)} came out as {name} went in.")
        if agree(pair.got, pair.want + value, pair.near):
            yield Phrase(f"{name} is added to {pair.the}, which is not asked for.")
        if agree(pair.got, pair.want - value, pair.near):
            yield Phrase(f"{name} is missing from {pair.the}: it should be added.")
        if agree(pair.got, pair.want * value, pair.near):
            yield Phrase(f"{sentence(pair.the)} came out multiplied by {name}, which is not asked for.")
        if agree(pair.got, pair.want + value - 2 * pair.want, pair.near):
            yield Phrase(f"{sentence(pair.the)} came out as {name} minus what is due.")


def unmoved(pair: Pair) -> Iterator[Phrase]:
    """Find that the wrong ones of whole numbers are those of an input at the same places."""
    if not pair.discrete or pair.yes_or_no or pair.passed:
        return
    wrong = pair.got != pair.want
    for name, tensor in pair.inputs.items():
        if (
            tensor.shape == pair.want.shape
            and not tensor.is_floating_point()
            and int(wrong.sum()) >= DISTINCT
        ):
            came = tensor.cpu().double()[wrong]
            if torch.equal(came, pair.got[wrong]) and len(came.unique()) > 1:
                yield Phrase(
                    f"Where {pair.the} came out wrong, the number of {name} at the same place came.",
                    kind="free",
                )


def dropped_out(pair: Pair) -> Iterator[Phrase]:
    """Find that some numbers are 0 and all others too large by one factor, as after dropout."""
    if pair.few or pair.passed or pair.discrete or not pair.got.isfinite().all():
        return
    gone = (pair.got == 0) & (pair.want != 0)
    kept = (pair.got != 0) & (pair.want != 0)
    if int(gone.sum()) < 2 or int(kept.sum()) < 3 or gone.all():
        return
    factors = pair.got[kept] / pair.want[kept]
    if float(factors.std()) < 1e-3 * float(factors.mean()) and float(factors.mean()) > 1.02:
        yield Phrase(
            f"Some numbers of {pair.the} are 0, and all others too large by one factor, as after dropout.",
            kind="free",
        )
