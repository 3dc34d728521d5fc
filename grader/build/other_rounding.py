"""Finds results that depend on the processor: runs wrong answers again while every operation rounds differently.

IEEE 754 requires +, ·, ÷ and the square root to be rounded correctly, so every processor gives the
same result for them. Sums and matrix products may differ, because each processor adds in its own
order, and so may exp, log and similar functions. This module changes the results of such operations
by chance, by as much as float32 may be off. If the result of a wrong answer then changes, for
example because it compares sums that should be equal, the notebook leaves this result out. A list
of processors could not replace this method: each new kind of processor showed new cases.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from grader.build.self_check_numbers import Draft
from grader.build.self_check_trials import read_trials
from grader.course import lessons
from grader.explain.candidates import candidates
from grader.explain.fingerprint import alike
from grader.judge.reference_results import ReferenceResults

# Of two numbers that tie, chance makes the other one the larger in every second run.
SEEDS = (1, 2, 3)
CORRECTLY_ROUNDED = frozenset({"add", "sub", "rsub", "mul", "div", "sqrt", "reciprocal"})
# What they return is made of numbers that they are given.
MOVING = frozenset({"_unsafe_view", "cat", "clone", "embedding", "gather", "index", "stack", "where"})
# These operations add up each place of their result separately: equal rows need not give equal
# numbers. Any other operation rounds equal numbers alike.
SUMS = frozenset({"mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot", "linear", "sum", "mean", "cumsum"})
Unsure = set[tuple[str, int]]  # the name of a mistake, and the index of a trial


class OtherRounding(TorchDispatchMode):
    """A mode in which results of float32 operations are off by chance, within the limits of rounding."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        name, changes_input = _rounding(func)
        given = kwargs or {}
        if not name:
            return func(*args, **given)
        leaves, form = tree_flatten((args, given))
        floats = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.is_floating_point()]
        is_sum, is_float32 = name in SUMS, all(leaf.dtype == torch.float32 for leaf in floats)
        # In float64, only sums that tie are a matter: no fingerprint shows its last digits.
        is_exact = not is_float32 and (not is_sum or all(bool((leaf == leaf.round()).all()) for leaf in floats))
        if not floats or is_exact:
            return func(*args, **given)

        def in_float64(change: Callable[[Tensor], Tensor]) -> list[Any]:
            """Return the result of the operation on changed inputs, computed in float64."""
            changed = [
                change(leaf.double()) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf
                for leaf in leaves
            ]
            wide, named = tree_unflatten(changed, form)
            return tree_flatten(func(*wide, **named))[0]

        exact = in_float64(torch.clone)
        sizes = in_float64(torch.abs) if is_sum else exact
        came, form = tree_flatten(func(*args, **given))
        new = [self._off(*each, is_sum) for each in zip(came, exact, sizes, strict=True)]
        if not changes_input:
            return tree_unflatten(new, form)
        for old, other in zip(came, new, strict=True):
            if other is not old:
                old.copy_(other)
        return tree_unflatten(came, form)

    def _off(self, came: Any, exact: Tensor, size: Tensor, is_sum: bool) -> Any:
        """Return a result in which each rounded number is off by chance, in proportion to its terms.

        Exact numbers stay as they are, and so does a value that is not a float tensor.

        Args:
            came: the result of the operation.
            exact: the result in float64.
            size: the same sums over the absolute values of the terms; for other operations,
                `exact`.
            is_sum: True for an operation that adds several terms.
        """
        if not isinstance(came, Tensor) or not came.is_floating_point():
            return came
        error = (came.double() - exact).abs()
        is_rounded = is_sum if came.dtype == torch.float64 else error > 0
        rounded = came.isfinite() & is_rounded
        if not bool(rounded.any()):
            return came
        self.seed += is_sum
        bits = _places(came.shape) if is_sum else _mixed(came.contiguous().view(torch.int32).long())
        chance = ((bits + self.seed * 40503) >> 7) % 2001 / 1000.0 - 1.0  # from -1 to 1
        most = torch.maximum(2 * error, torch.finfo(came.dtype).eps * size.abs())
        return torch.where(rounded, came.double() + chance * most, came.double()).to(came.dtype)


def _mixed(bits: Tensor) -> Tensor:
    """Return integers multiplied so that neighbours have little in common."""
    return bits * 2654435761


@cache
def _places(shape: torch.Size) -> Tensor:
    """Return a tensor of this shape that contains the index of each place, mixed by `_mixed`."""
    return _mixed(torch.arange(shape.numel()).reshape(shape))


@cache
def _rounding(func: Any) -> tuple[str, bool]:
    """Return the name of an operation that processors round differently, and True if it is in place.

    The name is "" for an operation that every processor rounds in the same way.
    """
    schema = func._schema
    name = schema.name.partition("::")[2]
    name = name if name.startswith("_") else name.rstrip("_")
    is_view = any(value.alias_info is not None for value in schema.returns) and not schema.is_mutable
    is_random = torch.Tag.nondeterministic_seeded in func.tags
    return ("" if name in CORRECTLY_ROUNDED | MOVING or is_view or is_random else name), schema.is_mutable


def unsure(draft: Draft, seed: int) -> Unsure:
    """Return the mistake and the trial of each wrong answer whose result changes with another rounding."""
    torch.set_num_threads(1)
    lesson = lessons()[draft.assignment]
    exercise = lesson.exercise(draft.exercise)
    trials = [trial for trial, _ in read_trials(exercise, draft.known)]
    prints = {answer.name: answer.prints for answer in draft.wrong}
    found: Unsure = set()
    with OtherRounding(seed):
        for candidate in candidates(exercise, trials, ReferenceResults(lesson.reference)):
            for index, own in enumerate(prints.get(candidate.name, ())):
                other = None if own is None else candidate.prints(index)
                # The mode changes the texts of some exceptions, and rounding does not.
                if own and not (other and (alike(own, other) or (own.raised and other.raised))):
                    found.add((candidate.name, index))
    return found
