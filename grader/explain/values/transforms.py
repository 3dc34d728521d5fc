"""Relations in which every number came out as one function of the numbers that are due."""

from collections.abc import Iterator, Mapping
from math import log, sqrt
from typing import Any

import torch
from torch.nn.functional import gelu

from grader.explain.values.pair import (
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
SAMPLE = 8  # numbers that a function must fit before all are looked at
FUNCTIONS = {
    "1 minus what is due": lambda x: 1 - x,
    "the log of what is due: an exp is missing, or a log too many": torch.log,
    "the root of what is due: there is one root too many": torch.sqrt,
    "what is due with 0 for all negative numbers, as after a ReLU": torch.relu,
    "the GELU of what is due: there is one too many": gelu,
    "what is due, rounded down to whole numbers, as `//` does": torch.floor,
}


def elementwise(pair: Pair) -> Iterator[Phrase]:
    """Find a function of single numbers that makes what came of what is due, or what is due of what came."""
    if pair.discrete:
        return
    step = max(1, pair.want.numel() // SAMPLE)
    due, came = pair.want.flatten()[::step], pair.got.flatten()[::step]
    made = torch.stack([function(due) for function in FUNCTIONS.values()])
    promising = agreeing(came.expand_as(made), made, 100 * pair.near).all(1).tolist()  # the largest may not be in it
    for (says, function), holds in zip(FUNCTIONS.items(), promising, strict=True):
        if holds and agree(pair.got, function(pair.want), pair.near):
            # Nothing but zeros has many causes.
            yield Phrase(f"{every_number(pair)} is {says}." if pair.passed or bool(pair.got.any()) else "")


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
    yield from factor_phrases(factor, pair.sizes, every_number(pair))
    if not pair.few:
        by = "off by one and the same factor. Check by what they are divided or multiplied."
        yield Phrase(f"All numbers of {pair.the} are {by}", vague=True)


def factor_phrases(factor: float, sizes: Mapping[str, Any], subject: str) -> Iterator[Phrase]:
    """Say how many times too large or too small something is: by a named constant, or by a number.

    A factor of 1 is what a right answer shows: then the phrases come that say nothing in this trial, such as the root of a
    width times too large where that width is 1.
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
        by = "1/ln 2" if way == "large" else "ln 2"
        yield Phrase(f"{subject} is too {way}, by the factor {by}: log and log2 are mixed.", group="named")
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
    """Find one amount that was added to all numbers."""
    if pair.yes_or_no or not pair.got.isfinite().all() or not pair.want.isfinite().all():
        return
    more = pair.got - pair.want
    amount = float(more.mean())
    if abs(amount) >= pair.near and agree(more, torch.full_like(more, amount), pair.near):
        way = "large" if amount > 0 else "small"
        yield Phrase(f"{every_number(pair)} is {abs(amount):.3g} too {way}.", group="number")
        if not pair.few:
            yield Phrase(f"All numbers of {pair.the} are too {way} by one and the same amount.", vague=True)


def shifted_rows(pair: Pair) -> Iterator[Phrase]:
    """Find one vector that was added to every row, as a bias is."""
    if pair.few or pair.discrete or pair.passed or pair.want.ndim < 2 or not pair.got.isfinite().all():
        return
    rows = (pair.got - pair.want).flatten(0, -2)
    shift = rows.mean(0)
    # What is expected may be rounded, and a small difference of large numbers is less exact than they are.
    clear = float(shift.abs().max()) > 10 * pair.near * float(pair.want.abs().max())
    same = len(rows) > 1 and len(shift) > 1 and clear and agree(pair.got, pair.want + shift, pair.near)
    if same and not agree(shift, shift.mean().expand_as(shift), 10 * pair.near):
        yield Phrase(
            f"In {pair.the}, every row is off by the same vector: is a bias missing, or is there one too many?"
        )


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
