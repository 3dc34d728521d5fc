"""An exercise as it is declared: its checks, its recognised mistakes, and everything else that is not prose.

A check is one *probe*, a plain function that calls what the student wrote, and the *trials* that it is run on. The same
probe runs three times: in the sandbox with the student's definition, and in the trusted process with the reference and
with each recognised mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from grader.declaration.builtin_names import BUILTINS
from grader.declaration.errors import DeclarationError
from grader.declaration.trial import Trial
from grader.records import Judge, Value

Wrong = TypeVar("Wrong")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One requirement of an exercise: a probe, its trials, and its share of the points.

    The probe is a plain function of module level that returns a dict of tensors and JSON values. Each of its parameters
    is an input of the trial or a name that the notebook defines; `names` maps a parameter to such a name where the two
    differ. The probe is sent to the sandbox as source text, with the module-level functions of the declaration that it
    calls; `torch`, `nn` and `F` are there.
    """

    name: str  # "values"; unique within the exercise
    title: str  # the requirement as the student reads it: "the weights of each query sum to 1"
    points: float
    probe: Callable[..., Mapping[str, Value]]
    trials: tuple[Trial, ...]  # hidden: drawn anew for each submission
    examples: tuple[
        Trial, ...
    ] = ()  # public: for the self-check in the notebook and the pictures on the page
    names: Mapping[str, str] = field(default_factory=dict)  # parameter of the probe → name in the notebook
    needs: tuple[str, ...] = ()  # checks of the same exercise that must pass before this one earns its points
    judge: Judge | None = None  # None: every value must equal the reference's
    rtol: float = 1.0  # factor on the tolerance, for computations that add up rounding
    map: str | None = None  # the returned value that is an attention map, shown as a heatmap
    at: str | None = (
        None  # id of the given cell after which the probe runs; None: after the exercise's own cell
    )
    seconds: float = 10.0  # time limit of one trial; all declared ones take milliseconds


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer, as code, with the hint that its author will read."""

    name: str  # "queries_in_columns"
    replaces: Mapping[str, Any]  # name in the notebook → the wrong definition
    hint: str


def mistake(defines: str, hint: str, *, name: str = "") -> Callable[[Wrong], Wrong]:
    """Mark a function or class as a wrong answer for the name `defines`; it is returned as it is.

    The mistake is called after it, in snake case, or `name` where another lesson has a definition of that name.
    `mistakes_in` collects the marked definitions of a module.
    """

    def mark(wrong: Wrong) -> Wrong:
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", wrong.__name__).lower()  # type: ignore[attr-defined]
        wrong.__mistake__ = Mistake(name or snake, {defines: wrong}, hint)  # type: ignore[attr-defined]
        return wrong

    return mark


def mistakes_in(namespace: Mapping[str, Any], *defines: str) -> tuple[Mistake, ...]:
    """Collect the marked mistakes of a module for some names, in the order of their definition.

    Args:
        namespace: the module's `globals()`.
        defines: the names whose mistakes are wanted; all where none is given.
    """
    # `vars`, not `getattr`: a class that inherits from a mistake is not one itself.
    marked = (vars(value).get("__mistake__") for value in namespace.values() if hasattr(value, "__dict__"))
    return tuple(
        found
        for found in marked
        if isinstance(found, Mistake) and (not defines or found.replaces.keys() & set(defines))
    )


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One graded or practice exercise.

    Raises:
        DeclarationError: its fields contradict each other.
    """

    id: str  # "1.4"
    title: str  # "Attention"
    # The right definitions, functions or classes, under the names that a student must define.
    reference: tuple[Any, ...] = ()
    points: float  # 0 for practice
    difficulty: int  # 1 to 3
    minutes: int
    checks: tuple[Check, ...]
    mistakes: tuple[Mistake, ...] = ()
    builds_on: tuple[str, ...] = ()  # ids of earlier exercises whose names a solution may call
    bans: frozenset[str] = frozenset()  # built-ins that the exercise asks to write: keys of BUILTINS
    review: str = ""  # what to read again: a heading of the lesson

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DeclarationError(f"exercise {self.id}, {problem}")

    def _problems(self) -> Iterable[str]:
        if not isinstance(self.reference, tuple) or not self.reference:
            yield "reference: name the right definition in a tuple, as in reference=(attention,)"
        for definition in self.reference:
            if not callable(definition) or not hasattr(definition, "__name__"):
                yield f"reference: {definition!r} is no function or class with a name"
        names = [check.name for check in self.checks]
        total = sum(check.points for check in self.checks)
        if abs(total - self.points) > 1e-9:
            yield f"points: its checks add up to {total:g} points, declared are {self.points:g}"
        if len(set(names)) != len(names):
            yield f"checks: two have one name: {', '.join(names)}"
        for check in self.checks:
            if not check.trials:
                yield f"checks: {check.name!r} has no hidden trial, so it would always pass"
            if unknown := sorted(set(check.needs) - set(names)):
                yield f"checks: {check.name!r} needs {', '.join(unknown)}; there are {', '.join(names)}"
        for one in self.mistakes:
            if strangers := sorted(one.replaces.keys() - set(self.defines)):
                yield f"mistakes: {one.name} replaces {', '.join(strangers)}; the exercise defines {self.name}"
        if unknown := sorted(self.bans - BUILTINS.keys()):
            yield f"bans: {', '.join(unknown)} is not known; there are {', '.join(BUILTINS)}"

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that the student's cell must define."""
        return tuple(definition.__name__ for definition in self.reference)

    @property
    def name(self) -> str:
        """The name in reports and JSON: "causal_mask, padding_mask"."""
        return ", ".join(self.defines)
