"""Find the simplest explanation that reproduces all results of a wrong answer.

These layers are tried in order:
1. a default value that differs from the task's;
2. a declared mistake;
3. the meaning of an exception;
4. the form of the returned values;
5. gradients and side effects;
6. a line that is almost certainly not intended.

If none of them names the line, a small change that makes the answer right is looked for. It is called a repair.

Further causes are named if they are independent of the first one. Two causes are independent if the second shows in
results that the first does not affect. This can happen behind a wrong dtype. If an exercise asks for several
definitions, it can also happen in a check that the first cause does not affect.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from grader.explain.code.read_code import Effect
from grader.explain.defaults import Defaults, explain_default, find_default, wrong_defaults
from grader.explain.fingerprint import alike, fingerprint
from grader.explain.match import is_telling, likely, nearest, print_of
from grader.explain.observed import (
    of_batch,
    of_conduct,
    of_draws,
    of_exception,
    of_form,
    of_missing_batch,
    of_shared_layer,
    of_slips,
    of_the_rest,
    of_unused,
    with_slip,
)
from grader.explain.repairs.find_repair import Repair, Try, find_repair
from grader.explain.seen import Candidate, Explanation, Seen
from grader.judge.compare import difference

SAYS_ENOUGH = ("mistake", "exception")  # kinds of explanations that the line adds little to


def explain(
    seen: Sequence[Seen],
    candidates: Sequence[Candidate],
    source: str = "",
    try_: Try | None = None,
    defaults: Defaults = MappingProxyType({}),
    *,
    several: bool = False,
) -> Explanation | None:
    """Return an explanation of the first failed check of an exercise, or None if nothing explains all its results.

    Args:
        seen: the trials of all checks of the exercise, in order.
        candidates: the declared mistakes, the simplest first.
        source: the student's code; "" if it is not known.
        try_: runs changed answers on the trials; None if no change should be tried.
        defaults: the task's default values of parameters.
        several: the exercise asks for several definitions, each of which may have a separate mistake.
    """
    if all(trial.passed for trial in seen):
        return None
    failed, checks, passed = _first_failed(seen), [trial.check for trial in seen], [trial.passed for trial in seen]
    if try_ and (of_default := find_default(source, defaults, checks, passed, failed, try_)):
        return of_default
    found, repair = _explain_as_it_is(seen, candidates, source), None
    if found and not found.check:
        others = other_causes(found, failed, seen, candidates, source, several=several)
        found = replace(found, also=others)
    if _says_enough(found):
        return found
    if try_:
        repair = find_repair(source, checks, passed, failed, try_, telling=is_telling(seen, failed))
    sure = [one for one in wrong_defaults(source, defaults) if one.is_sure]
    return _add_repair(found, repair, seen, source) or (explain_default(sure) if sure else None)


def _explain_as_it_is(seen: Sequence[Seen], candidates: Sequence[Candidate], source: str) -> Explanation | None:
    """Explain the first failed check by its results, without trying changes of the answer."""
    failed = _first_failed(seen)
    found = _of_check(seen, failed, candidates, source)
    later = _of_later_checks(seen, failed, source)
    if found is None or _came_empty(seen, failed):
        found = later or found
    return found and with_slip(found, source)


def _says_enough(found: Explanation | None) -> bool:
    """Return True if an explanation is so precise that a repair would add little to it."""
    return found is not None and (bool(found.line) or bool(found.also) or found.kind in SAYS_ENOUGH)


def _add_repair(
    found: Explanation | None, repair: Repair | None, seen: Sequence[Seen], source: str
) -> Explanation | None:
    """Return an explanation completed by a repair.

    Without a repair, return `found`, or else a vaguer explanation, or None if there is no explanation at all.
    """
    if repair is None:
        failed = _first_failed(seen)
        wrong = [trial for trial in seen if trial.check == failed and not trial.passed]
        return found or of_draws(wrong, source) or of_the_rest(wrong)
    if not _axes_vary(seen):
        repair = repair.of_axes()
    if found is None or found.kind == "likely":
        return Explanation("repair", repair=repair)
    return replace(found, repair=repair)


def _axes_vary(seen: Sequence[Seen]) -> bool:
    """Return True if an input has another number of axes in a failing trial than in a passing one."""

    def axes(passed: bool) -> Iterator[tuple[str, int]]:
        for trial in seen:
            if trial.passed == passed:
                yield from ((name, value.ndim) for name, value in trial.inputs.items() if isinstance(value, Tensor))

    right = set(axes(True))
    return any(name == other and count != ndim for name, count in set(axes(False)) for other, ndim in right)


def _first_failed(seen: Sequence[Seen]) -> str:
    """Return the name of the first check that failed. At least one must have failed."""
    return next(trial.check for trial in seen if not trial.passed)


def _of_check(seen: Sequence[Seen], failed: str, candidates: Sequence[Candidate], source: str) -> Explanation | None:
    """Explain a failed check by the first of the layers above that finds an explanation.

    Return None if no layer finds one.
    """
    chosen = [index for index, trial in enumerate(seen) if trial.check == failed]
    wrong = [seen[index] for index in chosen if not seen[index].passed]
    prints = [print_of(trial) for trial in seen]
    if all(alike(prints[index], fingerprint(seen[index].expected)) for index in chosen):
        candidates = ()  # the answer is off by so little that a fingerprint does not tell it from the reference

    layers: tuple[Callable[[], Explanation | None], ...] = (
        lambda: of_shared_layer(wrong, source),
        lambda: nearest(candidates, seen, prints, chosen, source),
        lambda: of_missing_batch(wrong, seen, source),
        lambda: of_exception(wrong, source),
        lambda: of_form(wrong, source, sure=True),
        lambda: of_conduct(wrong, source),
        lambda: of_unused(wrong, source),
        lambda: of_batch(wrong, seen, source),
        lambda: of_slips(wrong, source),
        # What is drawn differs between processors, and so does the form that it takes.
        lambda: (found := of_form(wrong, source, sure=False)) and (of_draws(wrong, source) or found),
        lambda: of_unused(wrong, source, Effect.IDLE),
        lambda: likely(candidates, seen, prints),
    )
    return next((found for layer in layers if (found := layer())), None)


def _came_empty(seen: Sequence[Seen], failed: str) -> bool:
    """Return True if the answer returned only zeros.

    The reason may be that the grader sets parameters to 0 that it does not know.
    """
    wrong = [trial for trial in seen if trial.check == failed and not trial.passed]
    values = [
        value
        for trial in wrong
        for value in trial.got.values()
        if isinstance(value, Tensor) and value.is_floating_point()
    ]
    return (
        bool(values) and not any(trial.error for trial in wrong) and not any(bool(value.any()) for value in values[:1])
    )


def _of_later_checks(seen: Sequence[Seen], failed: str, source: str) -> Explanation | None:
    """Explain another failed check by its form or conduct: for example, the layer has too many parameters.

    Return None if no such check has an explanation.
    """
    for check in dict.fromkeys(trial.check for trial in seen if not trial.passed and trial.check != failed):
        wrong = [trial for trial in seen if trial.check == check and not trial.passed]
        if found := of_form(wrong, source, sure=True) or of_conduct(wrong, source):
            # What is said of values is not of those that the student reads about first.
            of_values = found.kind == "structure" and found.name != "parameters"
            return replace(found, check=check) if of_values else found
    return None


MOST = 2  # further causes that are named


def other_causes(
    first: Explanation,
    failed: str,
    seen: Sequence[Seen],
    candidates: Sequence[Candidate],
    source: str,
    *,
    several: bool,
) -> tuple[Explanation, ...]:
    """Return at most MOST declared mistakes that explain the failures which `first` leaves unexplained.

    Args:
        first: the explanation of the first check that failed.
        failed: the name of that check.
        seen: the trials of all checks.
        candidates: the declared mistakes.
        source: the answer.
        several: the exercise asks for several definitions.
    """
    found: dict[str, Explanation] = {}
    converted = [_with_due_dtypes(trial) for trial in seen]
    if not several and all(new is old for new, old in zip(converted, seen, strict=True)):
        return ()
    for other in _mistakes(failed, converted, candidates, source):
        if other.name != first.name and other.what != first.what:
            found.setdefault(other.what, other)
    return tuple(found.values())[:MOST]


def _mistakes(failed: str, seen: Sequence[Seen], candidates: Sequence[Candidate], source: str) -> Iterator[Explanation]:
    """Yield a declared mistake for each check that fails with the expected dtypes, too.

    In the first failed check, such a mistake must not show, unless it explains that check.
    """
    prints = [print_of(trial) for trial in seen]
    right = [fingerprint(trial.expected) for trial in seen]
    first = [index for index, trial in enumerate(seen) if trial.check == failed]
    by_name = {candidate.name: candidate for candidate in candidates}
    for check in dict.fromkeys(trial.check for trial in seen if not trial.passed):
        chosen = [index for index, trial in enumerate(seen) if trial.check == check]
        if all(alike(prints[index], right[index]) for index in chosen):
            continue
        other = nearest(candidates, seen, prints, chosen, source)
        if other and (check == failed or all(by_name[other.name].gives(index, right[index]) for index in first)):
            yield other


def _with_due_dtypes(trial: Seen) -> Seen:
    """Return a trial as if all tensors had the expected dtypes.

    The trial is passed if all its values are then right.
    """
    got = {name: _converted(value, trial.expected.get(name)) for name, value in trial.got.items()}
    if trial.passed or trial.error or all(got[name] is value for name, value in trial.got.items()):
        return trial
    return trial._replace(got=got, passed=_is_right(got, trial.expected))


def _converted(got: Any, want: Any) -> Any:
    """Convert a tensor to the expected dtype. Return any other value as it is.

    A tensor is also returned as it is if the expected dtype is integer or bool
    and the conversion would change a number.
    """
    if not isinstance(got, Tensor) or not isinstance(want, Tensor) or got.dtype == want.dtype:
        return got
    made = got.to(want.dtype)
    return made if want.is_floating_point() or torch.equal(made.to(got.dtype), got) else got


def _is_right(got: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return not any(difference(name, got.get(name), want, 10) for name, want in expected.items())
