"""Find further causes of a wrong answer that do not depend on the one that is named first.

Two faults are independent if each shows where the other does not: behind a wrong dtype, or, where an exercise asks for several
definitions, in a check that the first cause leaves alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.explain.fingerprint import alike, fingerprint
from grader.explain.match import nearest, print_of
from grader.explain.seen import Candidate, Explanation, Seen
from grader.judge.compare import difference

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
    """Return the declared mistakes that explain what `first` leaves unexplained: two at most.

    Args:
        first: what explains the first check that failed.
        failed: the name of that check.
        seen: the trials of all checks.
        candidates: the declared mistakes.
        source: the answer.
        several: whether the exercise asks for several definitions.
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
    """Yield a mistake for each check that fails once the dtypes are right, if it shows nowhere in the first that failed."""
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
    """Return a trial as it would be if all tensors had the dtypes that are expected, and passed if all is right then."""
    got = {name: _converted(value, trial.expected.get(name)) for name, value in trial.got.items()}
    if trial.passed or trial.error or all(got[name] is value for name, value in trial.got.items()):
        return trial
    return trial._replace(got=got, passed=_is_right(got, trial.expected))


def _converted(got: Any, want: Any) -> Any:
    """Return a tensor in the dtype that is expected if no number changes; anything else as it is."""
    if not isinstance(got, Tensor) or not isinstance(want, Tensor) or got.dtype == want.dtype:
        return got
    made = got.to(want.dtype)
    return made if want.is_floating_point() or torch.equal(made.to(got.dtype), got) else got


def _is_right(got: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return not any(difference(name, got.get(name), want, 10) for name, want in expected.items())
