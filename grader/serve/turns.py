"""Whose attempt is graded next: pure functions over the attempts that wait and those that are being graded.

The order is fair to students, not to attempts. The student whose last turn is the longest ago is next; of students who had
no turn yet, the one with the oldest attempt. A student's attempts are never graded side by side, and a student who has used up
the grading time of an hour waits until some of it is free again.

An attempt that was being graded when the grading process died is a suspect. It is graded alone: it begins when nothing else
is being graded, and nothing else begins meanwhile. If the process dies again, no other attempt can be to blame.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Open:
    """An attempt that waits or is being graded, and how much its student has had."""

    id: int
    student: str
    is_graded_now: bool
    deaths: int  # of the grading process, while it graded this attempt
    served: str  # when the student's last turn began, in UTC; "" without a turn
    seconds: float  # of grading that the student has used within the last hour


def in_order(attempts: Iterable[Open], budget: float) -> list[Open]:
    """Return the attempts that wait, in the order in which they are taken if no other attempt arrives.

    Each student has one turn in each round. Attempts of a student who has used `budget` seconds are left out.
    """
    rounds, oldest = Counter[str](), dict[str, int]()
    keys = {}
    for one in sorted(attempts, key=lambda one: one.id):
        if not one.is_graded_now and one.seconds < budget:
            first = oldest.setdefault(one.student, one.id)
            keys[one] = rounds[one.student], one.served, first
            rounds[one.student] += 1
    return sorted(keys, key=keys.__getitem__)


def next_turn(attempts: Sequence[Open], budget: float) -> Open | None:
    """Return the attempt to grade next; None if none may begin now."""
    busy = [one for one in attempts if one.is_graded_now]
    if any(one.deaths for one in busy):  # a suspect is graded alone
        return None
    students = {one.student for one in busy}
    first = next((one for one in in_order(attempts, budget) if one.student not in students), None)
    return None if first is None or (first.deaths and busy) else first


def place_of(id: int, attempts: Sequence[Open], budget: float) -> int | None:
    """Count the attempts that come before one that waits, including those that are being graded.

    Returns:
        None if the attempt does not wait, or its student has used up the budget.
    """
    order = [one.id for one in in_order(attempts, budget)]
    return order.index(id) + sum(one.is_graded_now for one in attempts) if id in order else None


def free_at(turns: Iterable[tuple[datetime, float]], budget: float) -> datetime | None:
    """Return when a student's grading time falls below the budget again; None if it is below now.

    Args:
        turns: when each turn of the last hour began, and its seconds.
    """
    turns = sorted(turns)
    used, free = sum(seconds for _, seconds in turns), None
    for began, seconds in turns:
        if used < budget:
            break
        used, free = used - seconds, began + HOUR
    return free
