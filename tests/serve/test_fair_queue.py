"""Nobody holds the queue: students have turns, a newer attempt replaces one that waits, and an hour has so much grading time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from grader.serve import attempts
from grader.serve.shares import Open
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import instructor, student
from tests.serve.queueing import OTHERS, Turns, states, turns_of, uploads


@pytest.fixture
def turns(site: Site) -> Iterator[Turns]:
    with turns_of(site) as made:
        yield made


def said(site: Site, who: str, name: str = NAME) -> str:
    """Return what the page says of a student's newest attempt."""
    found = re.search(r'id="state"[^>]*>([^<]*)<', student(site, who).get(f"/a/{name}").text)
    assert found
    return found[1]


def test_a_student_with_many_uploads_lets_others_come_between(site: Site, turns: Turns) -> None:
    uploads(site, "many", NAME, *OTHERS)
    uploads(site, "one")
    uploads(site, "two", NAME, "2-heads")
    assert turns.rest() == ["many", "one", "two", "many", "two", "many", "many"]


def test_who_had_a_turn_is_behind_those_who_had_none(site: Site, turns: Turns) -> None:
    uploads(site, "early")
    assert turns.rest() == ["early"]
    uploads(site, "early", "2-heads")
    uploads(site, "late")
    assert turns.rest() == ["late", "early"]


def test_two_workers_are_never_both_busy_with_one_student(site: Site, turns: Turns) -> None:
    uploads(site, "wide", NAME, *OTHERS)
    uploads(site, "narrow")
    first, second, third = turns.begin(), turns.begin(), turns.begin()
    assert (first and first.student, second and second.student, third) == ("wide", "narrow", None)
    assert second is not None
    turns.end(second)
    assert turns.begin() is None


def test_a_page_says_how_many_come_before(site: Site, turns: Turns) -> None:
    uploads(site, "busy", NAME, *OTHERS)
    uploads(site, "quick")
    uploads(site, "last")
    told = [
        ("busy", NAME),
        ("quick", NAME),
        ("last", NAME),
        ("busy", "2-heads"),
        ("busy", "3-vlm"),
        ("busy", "4-modern"),
    ]
    for before, (who, name) in enumerate(told):
        assert said(site, who, name) == (
            f"Your attempt is in the queue. {before} {'attempt is' if before == 1 else 'attempts are'} before it."
            if before
            else "Your attempt is next in the queue."
        )
    began = []
    while (attempt := turns.begin()) is not None:
        began.append((attempt.student, attempt.assignment))
        turns.clock.passes(seconds=1)
        turns.end(attempt)
    assert began == told


def test_the_class_page_shows_the_queue_in_its_order(site: Site, turns: Turns) -> None:
    uploads(site, "four", NAME, *OTHERS)
    uploads(site, "single")
    shown = re.findall(r"<li>(four|single), ([^,]*),", instructor(site).get("/class").text)
    assert shown == [("four", NAME), ("single", NAME), *[("four", name) for name in OTHERS]]


# ---------------------------------------------------------------- a newer attempt


def test_a_newer_attempt_replaces_one_that_waits(site: Site, turns: Turns) -> None:
    for number in range(3):
        uploads(site, "fast", remark=str(number))
    assert states(site, "fast") == ["replaced", "replaced", "waiting"]
    assert turns.rest() == ["fast"]
    page = student(site, "fast").get(f"/a/{NAME}").text
    assert page.count("not graded: a newer attempt replaced it") == 2
    assert [one.counts or one.score for one in attempts.attempts_of(site.store, "fast")[1:]] == [None, None]
    assert "fast" not in re.findall(r"<li>(\w+),", instructor(site).get("/class").text)  # neither waits nor is a fault


def test_a_newer_attempt_replaces_none_that_is_graded_or_belongs_to_others(site: Site, turns: Turns) -> None:
    uploads(site, "eve", NAME, "2-heads")
    uploads(site, "adam")
    began = turns.begin()
    assert began is not None
    uploads(site, "eve", remark="again")
    assert states(site, "eve") == ["grading", "waiting", "waiting"]
    assert states(site, "adam") == ["waiting"]
    turns.end(began)
    assert turns.rest() == ["adam", "eve", "eve"]


def test_replaced_attempts_count_among_those_of_an_hour(site: Site, turns: Turns) -> None:
    for number in range(10):
        uploads(site, "hasty", remark=str(number))
    assert student(site, "hasty").hands_in(b'{"of": "the eleventh"}').status_code == 429
    assert states(site, "hasty") == ["replaced"] * 9 + ["waiting"]


def test_a_replaced_attempt_is_not_graded_when_the_instructor_asks_for_it(site: Site, turns: Turns) -> None:
    uploads(site, "old", remark="1")
    uploads(site, "old", remark="2")
    turns.rest()
    assert attempts.again(site.store) == 0
    assert states(site, "old") == ["replaced", "graded"]


def test_who_replaces_an_attempt_again_and_again_gains_no_place_and_keeps_nobody_waiting(
    site: Site, turns: Turns
) -> None:
    uploads(site, "nervous")
    uploads(site, "calm")
    for number in range(5):
        uploads(site, "nervous", remark=str(number))
    assert said(site, "calm") == "Your attempt is next in the queue."
    assert turns.rest() == ["calm", "nervous"]


def test_an_attempt_that_is_replaced_as_it_is_taken_is_not_graded(
    site: Site, turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads(site, "race", remark="1")
    choose = attempts.next_turn

    def slow(*arguments: Any) -> Open | None:
        chosen = choose(*arguments)
        if states(site, "race") == ["waiting"]:
            uploads(site, "race", remark="2")
        return chosen

    monkeypatch.setattr(attempts, "next_turn", slow)
    assert turns.begin() is None
    assert states(site, "race") == ["replaced", "waiting"]
    assert turns.rest() == ["race"]
    assert states(site, "race") == ["replaced", "graded"]


def test_six_long_attempts_make_a_short_one_wait_for_one_of_them(site: Site, turns: Turns) -> None:
    """Each lasts 55 s; in the order of arrival, the short one would wait for all of them."""
    for number, name in enumerate((NAME, NAME, *OTHERS, NAME)):
        uploads(site, "long", name, remark=str(number))
    first = turns.begin()
    assert first is not None
    uploads(site, "short")
    arrived = turns.clock.moment
    turns.clock.passes(seconds=55)
    turns.end(first)
    second = turns.begin()
    assert second is not None
    assert (second.student, (turns.clock.moment - arrived).total_seconds()) == ("short", 55.0)


# ---------------------------------------------------------------- grading time


def test_who_has_used_the_grading_time_of_an_hour_waits_until_the_page_says(site: Site, turns: Turns) -> None:
    """1,800 s by default: two turns of 1,000 s use them up, and the first one is over an hour after it began."""
    uploads(site, "slow", NAME, *OTHERS)
    began = turns.clock.moment
    assert turns.rest(seconds=1000) == ["slow", "slow"]
    uploads(site, "honest")
    assert said(site, "honest") == "Your attempt is next in the queue."
    free = began.replace(second=0, microsecond=0)
    hour = f"{(free.hour + 1) % 24:02}:{free.minute:02}"
    told = f"You have used your grading time of this hour, which is 30 minutes. The server does not grade it before {hour} UTC."
    assert said(site, "slow", "4-modern") == f"Your attempt is in the queue. {told}"
    assert turns.rest() == ["honest"]
    turns.clock.moment = began
    turns.clock.passes(seconds=3599)
    assert turns.begin() is None
    turns.clock.passes(seconds=1)
    assert turns.rest(seconds=10) == ["slow", "slow"]


def test_grading_time_that_ended_in_a_fault_or_a_death_is_used_too(site: Site, turns: Turns) -> None:
    uploads(site, "deadly", NAME, *OTHERS)
    for _ in range(4):
        assert turns.begin() is not None
        turns.clock.passes(seconds=590)
        turns.dies()
    assert sum(one.seconds for one in attempts.attempts_of(site.store, "deadly")) == 4 * 590
    assert turns.begin() is None
    assert "does not grade it before" in said(site, "deadly", "4-modern")


def test_a_long_outage_is_not_the_students_grading_time(site: Site, turns: Turns) -> None:
    uploads(site, "unlucky", NAME, "2-heads")
    assert turns.begin() is not None
    turns.clock.passes(minutes=50)  # a power cut
    turns.dies()
    assert turns.rest() == ["unlucky", "unlucky"]


def test_a_clock_that_is_set_back_gives_no_grading_time(site: Site, turns: Turns) -> None:
    uploads(site, "clock")
    began = turns.begin()
    assert began is not None
    turns.clock.passes(seconds=-500)
    turns.end(began)
    assert [one.seconds for one in attempts.attempts_of(site.store, "clock")] == [0.0]
