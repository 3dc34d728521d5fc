"""Declares an exercise: its right answer, its checks with their sizes, and its points. This is an example:

    SCORES = written_exercise(
        "1.1 Scores",
        attention_scores,
        (
            CheckSpec(
                "values", 4, "every query is compared with every key",
                examples=[sizes(queries=2, keys=3, d_k=4)],
                trials=[sizes(queries=5, keys=7, d_k=3), sizes(queries=7, keys=2, d_k=5)],
            ),
            CheckSpec("batch", 2, trials=[sizes(batch_shape=(2, 3), queries=5, keys=7, d_k=3)]),
            CheckSpec("conduct", 1, trials=[sizes(queries=5, keys=7, d_k=3, dtype=torch.float64)]),
        ),
        draw=drawn(query="* queries d_k", key="* keys d_k"),
        difficulty=1,
        minutes=5,
    )

If a parameter of the reference is annotated with `np.ndarray`, the reference and the student's function are called
with arrays. The check "conduct" then verifies only that the inputs are unchanged.
"""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any

import torch

from grader.declare import probes
from grader.declare.builtin_names import BuiltIn
from grader.declare.edits import edits
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise, Mistake, reference_problems
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import DrawInputs, StandardChecks
from grader.declare.trial import Sizes
from grader.records import Inputs, Judge, Value


@dataclass(frozen=True)
class CheckSpec:
    """One check of an exercise, as its author writes it.

    A field that is None has the value of the exercise, or else its usual value.
    """

    name: str  # "values", "batch", "conduct" or another; unique within the exercise
    points: float
    title: str = ""  # the requirement as students read it; "batch" and "conduct" have one of their own
    _: KW_ONLY
    trials: Sequence[Sizes]  # hidden: drawn anew for each submission
    examples: Sequence[Sizes] = ()  # public: the report shows them, too
    needs: tuple[str, ...] | None = (
        None  # checks that must pass before this one earns points; None: "values" if it is above
    )
    reference: Callable[..., Any] | None = None  # the definition that is checked; None: the first of the exercise
    returns: tuple[str | None, ...] | None = None  # as in `StandardChecks`
    probe: Callable[..., Mapping[str, Value]] | None = None
    names: Mapping[str, str] | None = None  # parameter of the probe → name in the notebook
    draw: DrawInputs | Sequence[DrawInputs] | None = None  # one for all trials, or one for each
    draw_public: DrawInputs | Sequence[DrawInputs] | None = None  # of the examples; None: `draw`
    only: str | None = None  # the name of the single returned value that is compared
    map: str | None = None  # the returned value that is an attention map
    judge: Judge | None = None
    expects: Callable[[Inputs], Mapping[str, Value]] | None = None
    rtol: float | None = None  # factor on the tolerance
    at: str | None = None  # id of the given cell after which the probe runs
    seconds: float | None = None  # time limit of one trial


def written_exercise(
    heading: str,
    reference: Any,
    checks: Sequence[CheckSpec],
    *,
    draw: DrawInputs | None = None,
    returns: tuple[str | None, ...] = ("result",),
    zero_others: bool = False,
    probe: Callable[..., Any] | None = None,
    also: tuple[Check, ...] = (),
    mistakes: str | tuple[Mistake, ...] = (),
    bans: Collection[str | BuiltIn] = (),
    **fields: Any,
) -> Exercise:
    """Return an exercise. Its points are the sum of the points of its checks.

    Args:
        heading: id and title, as in "1.1 Means of rows".
        reference: the right function or class. It may be a tuple of several definitions; then the first one is
            checked unless a check names another.
        draw, returns, zero_others: fields of the `StandardChecks` that creates the checks.
        probe: the probe of all checks that do not set one themselves, except "conduct"; None: the standard probe.
        also: further checks, which are added after the others.
        mistakes: the result of `edits`, or the text from which `edits` creates the mistakes.
        bans: the built-ins that an answer must not call.
        fields: further fields of Exercise.

    Raises:
        DeclarationError: the arguments contradict each other.
    """
    id, title = id_and_title(heading)
    references = reference if isinstance(reference, tuple) else (reference,)
    for problem in reference_problems(references):
        raise DeclarationError(f"exercise {id}, {problem}")
    standard = StandardChecks(reference=references[0], returns=returns, draw=draw, zero_others=zero_others)
    try:
        made = (*_checks(standard, checks, probe), *also)
    except DeclarationError as error:
        raise DeclarationError(f"exercise {id}: {error}") from error
    points = sum(check.points for check in made)
    return Exercise(
        id=id,
        title=title,
        reference=references,
        points=int(points) if points == int(points) else points,
        checks=made,
        mistakes=edits(references[0], mistakes) if isinstance(mistakes, str) else mistakes,
        bans=frozenset(bans),
        **fields,
    )


def id_and_title(heading: str) -> tuple[str, str]:
    """Split a heading into the id at its beginning and the title.

    Raises:
        DeclarationError: the heading does not begin with an id, or has no title.
    """
    id, _, title = heading.partition(" ")
    if not title or not id[:1].isdigit():
        raise DeclarationError(f"exercise {heading!r}: begin the heading with the id, as in '1.1 Means of rows'")
    return id, title


def takes_arrays(reference: Callable[..., Any]) -> bool:
    """Return True if a parameter of the reference is annotated as a NumPy array."""
    return any("ndarray" in str(one.annotation) for one in inspect.signature(reference).parameters.values())


def _of_tensors(draw: DrawInputs) -> DrawInputs:
    """Return a function that draws the same inputs with tensors instead of NumPy arrays.

    Only tensors can be sent to the sandbox. They are float64 by default, if `draw` accepts a dtype.
    """
    accepted = inspect.signature(draw).parameters.values()
    takes_dtype = any(one.name == "dtype" or one.kind is one.VAR_KEYWORD for one in accepted)
    usual = {"dtype": torch.float64} if takes_dtype else {}

    def draw_tensors(sampler: InputSampler, **sizes: Any) -> Inputs:
        inputs = draw(sampler, **{**usual, **sizes})
        return {name: probes.from_array(value) for name, value in inputs.items()}

    return draw_tensors


def _checks(
    standard: StandardChecks, specs: Sequence[CheckSpec], probe: Callable[..., Any] | None
) -> tuple[Check, ...]:
    """Return the checks in order. `probe` is used by every check that does not set one itself, except "conduct"."""
    usual: dict[str, Any] = {"probe": probe} if probe else {}
    conduct: dict[str, Any] = {}
    if standard.draw and takes_arrays(standard.reference):
        standard, usual = (
            replace(standard, draw=_of_tensors(standard.draw)),
            {"probe": probes.call_with_arrays, **usual},
        )
        conduct = {"probe": probes.arrays_unchanged, "title": "the inputs stay as they are"}
    checks: list[Check] = []
    for spec in specs:
        said = {field.name: getattr(spec, field.name) for field in fields(spec)}
        given = {name: value for name, value in said.items() if value not in (None, "")}
        maker = replace(standard, **{name: given.pop(name) for name in ("reference", "returns") if name in given})
        needs = tuple(check.name for check in checks if check.name == "values")
        checks.append(maker.check(**{"needs": needs, **(conduct if spec.name == "conduct" else usual), **given}))
    return tuple(checks)
