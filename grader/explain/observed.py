"""Explains a wrong answer by its results, without comparing it with a declared mistake.

The results are its exception, the form of its values and its side effects. The explanation may
name the line that causes them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from torch import Tensor, float32, float64

from grader.explain.code.clues import Clue, clue
from grader.explain.code.read_code import Effect
from grader.explain.exceptions.meaning import meaning
from grader.explain.seen import Explanation, Seen
from grader.explain.values.results import form_of, of_parameters
from grader.explain.values.wording import the_leaf, two_lengths, with_article
from grader.judge.compare import OF_GRADIENT, difference

NOUN = re.compile(r"(?!.* of )[a-z_ ]+")  # the name of a result, and not of a gradient or of another call


def of_exception(wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain the exception of the first failing trial. Also explain that an expected exception was not raised."""
    first = wrong[0]
    if says := _of_missing_refusal(first, source):
        return Explanation("exception" if first.error else "structure", first.error, says)
    if not first.error:
        return None
    lengths = partial(two_lengths, wrong)
    says = meaning(first.error, first.message, first.line, first.shapes, source, lengths)
    kind = "structure" if first.error == "WrongForm" else "exception"  # the former is a finding of the probe
    if not says and first.line:
        found = clue(Effect.LAYERS, source)
        return found and Explanation(kind, clue=found)
    return Explanation(kind, first.error, says) if says else None


def of_form(wrong: Sequence[Seen], source: str, *, sure: bool) -> Explanation | None:
    """Explain a wrong form of the results: shapes, dtypes, the number and order of values, or the layer's parameters.

    Return None if a trial raised an exception.

    Args:
        wrong: the failing trials of one check.
        sure: leave out explanations that only describe a difference, such as another shape.
    """
    if any(trial.error for trial in wrong):
        return None
    if found := of_parameters(wrong[0].got, wrong[0].expected):
        one_layer = clue(Effect.SHARED, source)  # then the parameters are there, under one of its names
        return Explanation("structure", "parameters", "" if one_layer else found, one_layer)
    says = form_of(wrong, sure)
    line = clue(Effect.FLOAT32, source) if says and any(map(_is_float32, wrong)) else None
    return Explanation("structure", what=says, clue=line) if says else None


def _is_float32(trial: Seen) -> bool:
    """Return True if a tensor is float32 where float64 is expected."""
    both = ((trial.got.get(name), want) for name, want in trial.expected.items())
    return (float32, float64) in [tuple(getattr(one, "dtype", None) for one in pair) for pair in both]


def of_conduct(wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain side effects, or a line that stops gradients from reaching an input."""
    if any(trial.error for trial in wrong):
        return None
    if all(trial.got.get("inputs unchanged") is False for trial in wrong):
        return _of_changed_inputs(wrong[0], source)
    due = [name for name in _gradients(wrong[0]) if wrong[0].expected[name] is not None]
    lost = [name for name in due if wrong[0].got.get(name) is None]
    if lost:
        name = lost[0].removeprefix(OF_GRADIENT)
        found = clue(Effect.GRADIENT, source, name)
        says = f"No gradient reaches `{name}`{' and other tensors' if len(lost) > 1 else ''}."
        return Explanation("gradient", what=says, clue=found) if found else None
    return None


def of_slips(wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain wrong values by a line that is almost certainly mistaken."""
    return _of_line("relation", Effect.VALUES, wrong, source)


def _right_beside(wrong: Sequence[Seen]) -> str:
    """Return a sentence that names the results which are right in all failing trials, if exactly one other is wrong.

    Return "" if this is not the case.
    """
    names = [name for name, want in wrong[0].expected.items() if isinstance(want, Tensor) and NOUN.fullmatch(name)]
    off = [
        name
        for name in names
        if any(difference(name, trial.got.get(name), trial.expected.get(name), 10) for trial in wrong)
    ]
    right = [the_leaf(name) for name in names if name not in off]
    return f"There is no mistake in {' and '.join(right)}: check the other result." if right and len(off) == 1 else ""


def of_the_rest(wrong: Sequence[Seen]) -> Explanation | None:
    """Return what is still known if there is no better explanation: the right results, or lengths that do not match."""
    says = two_lengths(wrong) if wrong[0].error else _right_beside(wrong) if not any(t.error for t in wrong) else ""
    return Explanation("relation", what=says) if says else None


def of_unused(wrong: Sequence[Seen], source: str, effect: Effect = Effect.UNUSED) -> Explanation | None:
    """Explain wrong values by an argument or layer that the answer never uses.

    With the effect IDLE, look only for layers without parameters.
    """
    return _of_line("unused", effect, wrong, source)


def of_shared_layer(wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain that one layer is stored under two names.

    Then both names have the weights of one of them, and the results look as if the two were mixed up.
    """
    return _of_line("relation", Effect.SHARED, wrong, source)


def of_draws(wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain wrong values by a line that draws random numbers. This is tried only if nothing else explains them."""
    return _of_line("relation", Effect.RANDOM, wrong, source)


def of_batch(wrong: Sequence[Seen], seen: Sequence[Seen], source: str) -> Explanation | None:
    """Explain an answer that is right only for some numbers of batch axes, by the line that causes this."""
    axes, passed = _batch_axes_of(wrong, seen)
    right, name = passed - axes, _batched_input(seen)
    if right == {0} and (found := clue(Effect.WITHOUT_BATCH, source, name)):
        return Explanation("relation", what="Your answer is right without a batch, but wrong with a batch.", clue=found)
    return _of_one_batch(axes, passed, clue(Effect.WITH_BATCH, source, name))


def _of_one_batch(wrong: set[int], passed: set[int], found: Clue | None) -> Explanation | None:
    """Explain an answer that is right only with exactly one batch axis, by a line.

    Return None if there is no such line, or if the answer is not of this type.

    Args:
        wrong: the numbers of batch axes in trials that fail.
        passed: the numbers of batch axes in trials that pass.
        found: the line.
    """
    if found is None or 1 not in passed - wrong or 0 in passed:
        return None
    others = " or ".join(str(count) for count in (0, 2) if count in wrong)
    return Explanation(
        "relation", what=f"Your answer is right with 1 batch axis, but wrong with {others} batch axes.", clue=found
    )


def of_missing_batch(wrong: Sequence[Seen], seen: Sequence[Seen], source: str) -> Explanation | None:
    """Explain an exception that the answer raises only without a batch, by a line that needs one batch axis.

    `.T` is not such a line, because `.T` of a weight is right.
    """
    if not wrong[0].error or _batch_axes(wrong[0]) or any(trial.passed for trial in seen if not _batch_axes(trial)):
        return None
    return _of_one_batch(*_batch_axes_of(wrong, seen), clue(Effect.ONE_BATCH, source, _batched_input(seen)))


def _batched_input(seen: Sequence[Seen]) -> str:
    """Return the name of the only input whose number of axes differs between trials; "" if no or several inputs do."""
    axes: dict[str, set[int]] = {}
    for trial in seen:
        for name, value in trial.inputs.items():
            axes.setdefault(name.rpartition(".")[2], set()).add(getattr(value, "ndim", 0))
    names = [name for name, counts in axes.items() if len(counts) > 1]
    return names[0] if len(names) == 1 else ""


def _batch_axes_of(wrong: Sequence[Seen], seen: Sequence[Seen]) -> tuple[set[int], set[int]]:
    """Return the numbers of batch axes in failing trials, and those in passing trials that have the same inputs."""
    names = wrong[0].inputs.keys()  # a trial that shares none of them tries another function of the exercise
    alike = [trial for trial in seen if not trial.inputs or trial.inputs.keys() & names]
    passed = {_batch_axes(trial) for trial in alike if trial.passed and not trial.error}
    return {_batch_axes(trial) for trial in wrong}, passed


def with_slip(found: Explanation, source: str) -> Explanation:
    """Return an explanation with a clue, if it names no line yet and a clue is found.

    The clue is a line that is almost certainly mistaken, or a layer that is never used.
    """
    effects = {"exception": Effect.LAYERS, "mistake": Effect.VALUES, "structure": Effect.VALUES}
    effect = effects.get(found.kind) if found.name not in ("AttributeError", "NameError") else None
    line = clue(effect, source) if effect else None
    if found.kind == "structure":
        line = line or clue(Effect.LAYERS, source)
    return replace(found, clue=line) if line and not found.line else found


def _of_missing_refusal(trial: Seen, source: str) -> str:
    """Return a text that an input must raise an exception, if the answer raised no exception or a wrong one.

    If the answer contains checks, the text adds that they did not catch the input. Return "" if nothing is wrong.
    """
    for name, want in trial.expected.items():
        due = re.fullmatch(r"an? (\w+Error) was raised", name)
        if not due or want is not True:
            continue
        other = trial.error not in ("", "AssertionError", "WrongForm", due[1])
        if not other and trial.got.get(name) is not False:
            continue
        start = f"For this input the task expects {with_article(due[1])}"
        if f"raise {due[1]}" in source:
            what = f"{start}, but none of your checks raises it"
            return f"{what}. Look at the condition and the place of each check, or add a check."
        return (
            f"{start}, but your code raised another exception. "
            f"Check the sizes first, and raise the {due[1]} before you compute anything."
            if other
            else f"{start}, but your code raised nothing. Check the input first, and raise the {due[1]}."
        )
    return ""


def _of_changed_inputs(trial: Seen, source: str) -> Explanation:
    """Return an explanation that names the inputs that the call changed, and the line that changed them."""
    changed = trial.got.get("changed")
    names = [name for name in changed if isinstance(name, str)] if isinstance(changed, list) else []
    says = f"Your code changes {' and '.join(f'`{name}`' for name in names) or 'one of its inputs'} in place."
    found = clue(Effect.IN_PLACE, source, names[0] if len(names) == 1 else "")
    return Explanation("conduct", what=says if found else f"{says} Work on new tensors.", clue=found)


def _gradients(trial: Seen) -> Iterator[str]:
    return (name for name in trial.expected if name.startswith(OF_GRADIENT))


def _batch_axes(trial: Seen) -> int:
    """Return the number of batch axes of a trial."""
    shape = trial.sizes.get("batch_shape", ())
    return len(shape) if isinstance(shape, (tuple, list)) else 0


def _of_line(kind: str, effect: Effect, wrong: Sequence[Seen], source: str) -> Explanation | None:
    """Explain wrong values by a line that has this effect.

    Return None if no such line is found, or if a trial raised an exception.
    """
    found = None if any(trial.error for trial in wrong) else clue(effect, source)
    return found and Explanation(kind, clue=found)
