"""Find the small change that makes a wrong answer right: which changes to try on which trials, and which one tells most."""

from collections.abc import Callable, Sequence

from grader.explain.repairs.repairs import Repair, repairs

# Runs changed answers on some trials, given by index, and returns for each answer whether it passes each of these trials;
# None where that is not known, for lack of time.
Try = Callable[[Sequence[str], Sequence[int]], Sequence[Sequence[bool | None]]]


def find_repair(
    source: str, checks: Sequence[str], passed: Sequence[bool], failed: str, try_: Try, *, telling: bool
) -> Repair | None:
    """Return the change that makes a wrong answer right, and tells most; None if there is none.

    A change must make every trial of the failed check pass, and must not make another fail that passes without it. Where the
    answer's values say little, such as a yes or a no, it must make every trial of the exercise pass.

    Args:
        source: the student's answer.
        checks: of each trial, the name of its check.
        passed: of each trial, whether the answer as it stands passes.
        failed: the name of the check that failed first.
        try_: runs changed answers.
        telling: whether the values that came back say enough.
    """
    changes = repairs(source)
    wrong = [index for index, check in enumerate(checks) if check == failed and not passed[index]]
    others = [index for index, check in enumerate(checks) if check != failed]
    # Most changes fall out on the first trial that fails.
    for trials in (wrong[:1], [i for i, check in enumerate(checks) if check == failed and i not in wrong[:1]]):
        if changes and trials:
            right = try_(_sources(changes), trials)
            changes = [change for change, passes in zip(changes, right, strict=True) if all(passes)]
    if not changes or not wrong:
        return None
    elsewhere = try_(_sources(changes), others) if others else [[]] * len(changes)
    # A change that spoils what was right passes by accident.
    known = [passed[index] for index in others]
    sound = [
        (sum(map(bool, right)), False not in right, change)
        for change, right in zip(changes, elsewhere, strict=True)
        if not any(before and now is False for now, before in zip(right, known, strict=True))
    ]
    best = max((count for count, _, _ in sound), default=-1)
    if best < (0 if telling else len(others)):
        return None
    # What was not tried for lack of time is held against no change.
    kept = [change for _, whole, change in sound if whole] if telling else []
    kept = kept or [
        change if whole else change._replace(in_part=True) for count, whole, change in sound if count == best
    ]
    first = kept[0]  # `repairs` sorts by what a change tells
    # Where lines can be left out, the last is the smallest: an earlier one may hold it.
    return first if first.rank else max((one for one in kept if one.rank == 0), key=lambda one: one.line)


def _sources(changes: Sequence[Repair]) -> list[str]:
    return [change.source for change in changes]
