"""An exercise in a few lines: the right function, the shapes of its inputs, and the mistakes that students make.

    MEANS = exercise("1.1 Means of rows", row_means, points=20, table="* rows columns", mistakes='''
        of_columns: These are the means of the columns: one number for each row is asked for.
            axis=-1  →  axis=-2
    ''')

It has the checks that most exercises have: the values; batches, where a shape begins with `*`; inputs that stay as they are, and
gradients where the function computes with tensors. Others are written as students read them: see `written_exercise`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.declare import probes
from grader.declare.builtin_names import BuiltIn
from grader.declare.drawn import Draw, drawn
from grader.declare.edits import edits
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Exercise
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import StandardChecks
from grader.declare.written_exercise import id_and_title
from grader.records import Inputs

EXAMPLE = (2, 3, 4, 5, 6, 7)  # the sizes of the public trial, in the order in which the shapes name them
HIDDEN = ((5, 7, 3, 11, 2, 13), (3, 2, 7, 5, 13, 11), (7, 11, 2, 3, 5, 17))  # different ones: a swapped axis shows
BATCHES = ((3,), (2, 3), (1,))
SHARE = 0.1  # of the points, for batches and for conduct each; the rest is for the values
UNCHANGED = "the inputs stay as they are"


def exercise(
    heading: str,
    reference: Callable[..., Any],
    *,
    points: float,
    mistakes: str = "",
    sizes: Sequence[Mapping[str, Any]] = (),
    returns: tuple[str, ...] = ("result",),
    difficulty: int = 1,
    minutes: int = 10,
    builds_on: tuple[str, ...] = (),
    bans: frozenset[str | BuiltIn] = frozenset(),
    review: str = "",
    stand_in: Callable[..., Any] | None = None,
    **inputs: str | Draw,
) -> Exercise:
    """Declare an exercise whose answer is a function of tensors or arrays; DeclarationError where something does not fit it.

    Args:
        heading: id and title, as in "1.1 Means of rows".
        reference: the right function. It gets NumPy arrays if one of its parameters says so: `table: np.ndarray`.
        mistakes: as `edits` reads them.
        sizes: of the trials; the first one is public. Without them each size that a shape names is drawn from small numbers.
        returns: a name for what comes back, or two for a pair.
        review: what to read again: a heading of the lesson.
        stand_in: a function of the same name that replaces a failed answer while later exercises are judged.
        inputs: for each parameter without a default its shape, or what draws it (grader/declare/drawn.py).
    """
    id, title = id_and_title(heading)
    where = f"exercise {id}"
    _check_inputs(where, reference, inputs)
    chosen = _two_or_more(where, sizes or _sizes(where, inputs))
    try:
        checks = _checks(reference, inputs, chosen, points, returns)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error}") from error
    return Exercise(
        id=id,
        title=title,
        reference=(reference,),
        points=points,
        difficulty=difficulty,
        minutes=minutes,
        checks=checks,
        mistakes=edits(reference, mistakes) if mistakes else (),
        builds_on=builds_on,
        bans=bans,
        review=review,
        stand_in=stand_in,
    )


def _two_or_more(where: str, sizes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the sizes of the trials; raise DeclarationError if there are fewer than two."""
    if len(sizes) < 2:
        raise DeclarationError(f"{where}, sizes: give two trials or more: the first is public, the others are hidden")
    return sizes


def _checks(
    reference: Callable[..., Any],
    inputs: Mapping[str, str | Draw],
    sizes: Sequence[Mapping[str, Any]],
    points: float,
    returns: tuple[str, ...],
) -> tuple[Check, ...]:
    """Make the checks "values", "batch" where a shape begins with `*`, and "conduct", and share the points out to them."""
    numpy = any("ndarray" in str(one.annotation) for one in inspect.signature(reference).parameters.values())
    draw = partial(_as_tensors, drawn(**inputs), {"dtype": torch.float64} if numpy else {})
    make = StandardChecks(reference=reference, returns=returns, draw=draw)
    batched = any(isinstance(shape, str) and shape.startswith("*") for shape in inputs.values())
    share, rest = points * SHARE, points * (1 - (2 if batched else 1) * SHARE)
    more: dict[str, Any] = {"probe": probes.call_with_arrays} if numpy else {}
    checks = [make.check("values", rest, "the right values come back", examples=sizes[:1], trials=sizes[1:], **more)]
    if batched:
        hidden = sizes[1:]
        some = [{"batch_shape": shape, **hidden[at % len(hidden)]} for at, shape in enumerate(BATCHES)]
        checks.append(make.check("batch", share, trials=some, needs=("values",), **more))
    return (*checks, _conduct(make, sizes, share, numpy))


def _check_inputs(where: str, reference: Callable[..., Any], inputs: Mapping[str, Any]) -> None:
    """Raise DeclarationError unless there is an input for each parameter without a default, in their order, and no other."""
    parameters = inspect.signature(reference).parameters
    if strange := [name for name in inputs if name not in parameters]:
        raise DeclarationError(f"{where}: {reference.__name__} has no parameter {', '.join(strange)}")
    missing = [name for name, one in parameters.items() if one.default is one.empty and name not in inputs]
    if missing:
        raise DeclarationError(f"{where}: say the shape of {', '.join(missing)}, as in {missing[0]}='* rows columns'")
    if [*inputs] != [name for name in parameters if name in inputs]:
        raise DeclarationError(f"{where}: give the shapes in the order of the parameters: {', '.join(parameters)}")


def _sizes(where: str, inputs: Mapping[str, str | Draw]) -> list[dict[str, int]]:
    """Choose sizes for the names in the shapes: one public trial, then the hidden ones; DeclarationError if they do not suffice."""
    texts = [shape for shape in inputs.values() if isinstance(shape, str)]
    factors = [name for text in texts for axis in text.split() for name in axis.split("·")]
    names = list(dict.fromkeys(name for name in factors if name != "*" and not name.isdigit()))
    if len(texts) < len(inputs) or len(names) > len(EXAMPLE):
        raise DeclarationError(f"{where}: give sizes=[dict(…), …], the first of them public")
    return [dict(zip(names, some, strict=False)) for some in (EXAMPLE, *HIDDEN)]


def _as_tensors(draw: Callable[..., Inputs], more: Mapping[str, Any], sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw inputs; of NumPy arrays make tensors, which is how they travel."""
    return {name: probes.from_array(value) for name, value in draw(sampler, **{**more, **sizes}).items()}


def _conduct(make: StandardChecks, sizes: Sequence[Mapping[str, Any]], points: float, numpy: bool) -> Check:
    """Make the check of side effects; of gradients, too, where what comes back has some."""
    if make.draw and not numpy:
        some = make.draw(InputSampler("a look at what comes back"), **sizes[0])
        leaves = [value.requires_grad_() for value in some.values() if _learns(value)]
        try:
            back = probes.named(make.reference(**some), list(make.returns))
        except Exception as error:  # it is the author's own code, which may raise anything
            said = f"{make.reference.__name__} does not run on the public trial ({type(error).__name__}: {error})"
            arrays = "; for a function of NumPy's, annotate a parameter with np.ndarray"
            raise DeclarationError(f"{said}. Give other shapes, or sizes=[dict(…), …]{arrays}") from error
        if leaves and all(_learns(value) and value.requires_grad for value in back.values()):
            return make.check("conduct", points, trials=[{**sizes[-1], "dtype": torch.float64}], needs=("values",))
    probe = probes.arrays_unchanged if numpy else probes.inputs_unchanged
    return make.check("conduct", points, UNCHANGED, trials=sizes[1:], needs=("values",), probe=probe)


def _learns(value: Any) -> bool:
    """Tell whether a value is a tensor of a dtype that can have gradients."""
    return isinstance(value, Tensor) and value.is_floating_point()
