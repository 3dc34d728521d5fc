"""Whose attempt is next: the rules of grader/serve/shares.py, and what it says of the place in the queue."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from grader.serve.shares import HOUR, Open, free_at, in_order, next_turn, place_of

BUDGET = 100.0
NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)


def waits(id: int, student: str, served: str = "", *, seconds: float = 0.0, deaths: int = 0) -> Open:
    return Open(id=id, student=student, is_graded_now=False, deaths=deaths, served=served, seconds=seconds)


def now(one: Open) -> Open:
    """Return an attempt that is being graded."""
    return replace(one, is_graded_now=True)


def ids(attempts: list[Open]) -> list[int]:
    return [one.id for one in attempts]


def test_the_student_whose_last_turn_is_the_longest_ago_is_next() -> None:
    attempts = [waits(2, "mallory", "09:00"), waits(3, "bob", "08:00"), waits(5, "ada"), waits(7, "carl")]
    assert ids(in_order(attempts, BUDGET)) == [5, 7, 3, 2]


def test_each_student_has_one_turn_in_each_round() -> None:
    attempts = [waits(id, "mallory") for id in (1, 2, 3, 4)] + [waits(5, "bob"), waits(6, "bob"), waits(7, "ada")]
    assert ids(in_order(attempts, BUDGET)) == [1, 5, 7, 2, 6, 3, 4]


def test_a_students_attempts_are_not_graded_side_by_side() -> None:
    attempts = [now(waits(1, "mallory")), waits(2, "mallory"), waits(3, "bob", "09:00")]
    assert next_turn(attempts, BUDGET) == attempts[2]
    assert next_turn(attempts[:2], BUDGET) is None  # not even if nobody else waits


def test_a_suspect_is_graded_alone() -> None:
    suspect, other = waits(1, "ada", deaths=1), waits(2, "bob")
    assert next_turn([suspect, other], BUDGET) == suspect
    assert next_turn([now(suspect), other], BUDGET) is None
    assert next_turn([suspect, now(other)], BUDGET) is None
    assert next_turn([suspect, now(other), waits(3, "carl")], BUDGET) is None  # nobody passes it, so it does begin


def test_a_student_without_grading_time_waits_and_others_go_on() -> None:
    attempts = [waits(1, "mallory", seconds=BUDGET), waits(2, "bob", "09:00", seconds=BUDGET - 0.5)]
    assert next_turn(attempts, BUDGET) == attempts[1]
    assert place_of(2, attempts, BUDGET) == 0
    assert place_of(1, attempts, BUDGET) is None
    assert next_turn(attempts[:1], BUDGET) is None


def drawn(draw: random.Random) -> list[Open]:
    """Draw a queue: students with several attempts each, earlier turns, used time, and attempts that are being graded."""
    students = [f"s{number}" for number in range(draw.randint(1, 7))]
    served = {name: draw.choice(["", "", f"{draw.randint(10, 99)}"]) for name in students}
    used = {name: draw.choice([0.0, 50.0, BUDGET]) for name in students}
    attempts = [
        waits(id, name, served[name], seconds=used[name], deaths=draw.choice([0, 0, 1]))
        for id in range(1, draw.randint(2, 18))
        for name in [draw.choice(students)]
    ]
    latest = max(served.values(), default="")
    busy = {
        name: f"{latest}{number}" for number, name in enumerate(draw.sample(students, draw.randint(0, len(students))))
    }
    attempts = [replace(one, served=busy.get(one.student, one.served)) for one in attempts]
    return [now(replace(one, id=100 + one.id)) for one in attempts[: len(busy)]] + attempts[len(busy) :]


@pytest.mark.parametrize("seed", range(200))
def test_the_place_is_the_number_of_turns_that_come_before(seed: int) -> None:
    """One attempt after the other is taken, as `take` does it, until none waits: each began when the page said."""
    attempts = drawn(random.Random(seed))
    said = {one.id: place_of(one.id, attempts, BUDGET) for one in attempts if not one.is_graded_now}
    before = sum(one.is_graded_now for one in attempts)
    left = [one for one in attempts if not one.is_graded_now]
    clock = 1000
    while (taken := next_turn(left, BUDGET)) is not None:
        assert said.pop(taken.id) == before
        clock, before = clock + 1, before + 1
        left = [
            replace(one, served=f"~{clock}") if one.student == taken.student else one for one in left if one != taken
        ]
    assert set(said.values()) <= {None}
    assert all(one.seconds >= BUDGET for one in left)


@pytest.mark.parametrize("seed", range(50))
def test_when_grading_time_is_free_again_is_the_first_such_moment(seed: int) -> None:
    draw = random.Random(seed)
    turns = [(NOON - timedelta(minutes=draw.uniform(0, 59)), draw.uniform(1, 60)) for _ in range(draw.randint(0, 9))]

    def used(moment: datetime) -> float:
        return sum(seconds for began, seconds in turns if began > moment - HOUR)

    free = free_at(turns, BUDGET)
    if free is None:
        assert used(NOON) < BUDGET
    else:
        assert free > NOON
        assert used(free) < BUDGET
        assert used(free - timedelta(microseconds=1)) >= BUDGET
