"""A grading process that dies on an attempt: that one is set aside after two deaths, and the others are graded."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.classes.workers.job import WorkersLost
from grader.commands.options import GradeOptions
from grader.complaint import Complaint
from grader.serve import attempts, grading
from grader.serve.attempts import Attempt
from grader.serve.grading import AttemptWriter
from grader.serve.site import Site, open_site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import grade, instructor, open_course, solved, student
from tests.serve.queueing import Turns, states, turns_of, uploads
from tests.serve.test_killed_server import FORK, PATIENCE, Killed, all_done, hand_in

MOST_STARTS = 9  # of the grading process, in a test


@pytest.fixture
def turns(site: Site) -> Iterator[Turns]:
    with turns_of(site) as made:
        yield made


def kill_at(patched: pytest.MonkeyPatch, killer: str, die: Any) -> None:
    """Let the process die each time that it has graded an attempt of a student."""
    keep = AttemptWriter._keep

    def dying(self: AttemptWriter, attempt: Attempt, *rest: Any) -> Attempt:
        if attempt.student == killer:
            die()
        return keep(self, attempt, *rest)

    patched.setattr(AttemptWriter, "_keep", dying)


def test_an_attempt_on_which_the_process_dies_is_set_aside_and_others_are_graded(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hand_in(site, "killer", solved(site, remark="killer"))
    hand_in(site, "after", solved(site, "1.1", remark="after"))

    def die() -> None:
        raise Killed

    kill_at(monkeypatch, "killer", die)
    for _ in range(MOST_STARTS):
        try:
            grade(site)
            break
        except Killed:
            pass
    (one,) = attempts.attempts_of(site.store, "killer")
    assert (one.state, one.tries, one.deaths, one.counts) == (attempts.FAULT, 2, 2, False)
    assert states(site, "after") == [attempts.GRADED]
    assert "grader: 'killer', 1-attention, attempt 1: the grading process ended 2 times" in capfd.readouterr().err
    page = student(site, "killer").get(f"/a/{NAME}").text
    assert "the grading process ended each time while it ran your notebook. You lose no points." in page
    assert "the grading process ended 2 times while it graded this" in instructor(site).get("/class").text


def test_attempts_beside_the_killer_are_not_blamed(site: Site, turns: Turns) -> None:
    """Three were being graded when the process died: each is graded alone, so that it dies on the killer only."""
    for who in ("left", "middle", "right"):
        uploads(site, who)
        assert turns.begin() is not None
    turns.dies()
    uploads(site, "newcomer")
    for who in ("newcomer", "left", "middle", "right"):  # the newcomer is first, as it has had no turn
        began = turns.begin()
        assert began is not None
        assert began.student == who
        assert turns.begin() is None  # no suspect begins beside it, and nothing beside a suspect
        if who == "middle":
            turns.dies()
        else:
            turns.end(began)
    assert turns.rest() == []
    ended = {who: states(site, who) for who in ("left", "middle", "right", "newcomer")}
    assert ended == {"left": ["graded"], "middle": ["fault"], "right": ["graded"], "newcomer": ["graded"]}


def test_who_is_graded_after_a_death_is_no_suspect_any_more(site: Site, turns: Turns) -> None:
    uploads(site, "once")
    assert turns.begin() is not None
    turns.dies()
    assert turns.rest() == ["once"]
    uploads(site, "once", remark="again")
    uploads(site, "beside")
    assert [one and one.student for one in (turns.begin(), turns.begin())] == ["beside", "once"]


def test_a_killer_that_the_instructor_has_graded_again_is_set_aside_by_its_next_death(site: Site, turns: Turns) -> None:
    uploads(site, "keen")
    for _ in range(2):
        assert turns.begin() is not None
        turns.dies()
    assert states(site, "keen") == ["fault"]
    attempts.again(site.store)
    site.store.change(
        "UPDATE attempt SET state = 'graded' WHERE state = 'waiting' AND student != 'keen'"
    )  # of other tests
    uploads(site, "witness")
    assert [one and one.student for one in (turns.begin(), turns.begin())] == [
        "witness",
        None,
    ]  # it is not begun beside others
    (beside,) = turns.queue.taken.values()
    turns.end(beside)
    keen = turns.begin()
    assert keen is not None
    turns.dies()
    assert states(site, "keen") == ["fault"]


def test_a_newer_killer_in_the_place_of_a_suspect_uses_up_grading_time(site: Site, turns: Turns) -> None:
    """A student who replaces the suspect after each death is never set aside, and ends where the hour's grading time does."""
    deaths = 0
    for number in range(10):
        uploads(site, "stubborn", remark=str(number))
        if turns.begin() is not None:
            turns.clock.passes(seconds=300)
            turns.dies()
            deaths += 1
    assert deaths == 6
    assert states(site, "stubborn") == ["replaced"] * 9 + ["waiting"]


def test_the_end_of_the_web_server_is_no_death(site: Site, turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads(site, "stopped")
    for _ in range(3):
        assert turns.begin() is not None
        ended: list[int] = []
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
            patched.setattr(os, "_exit", ended.append)
            grading._end_with_server([site])
        assert ended == [0]
        turns.dies()
    (one,) = attempts.attempts_of(site.store, "stopped")
    assert (one.state, one.deaths, one.tries) == ("waiting", 0, 0)


def test_a_process_that_waits_for_the_one_before_it_puts_nothing_back(
    site: Site, turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads(site, "still")
    assert turns.begin() is not None
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
    monkeypatch.setattr(os, "_exit", lambda status: None)
    grading._end_with_server([])
    assert states(site, "still") == ["grading"]


def test_no_attempt_is_to_blame_for_a_cluster_that_is_gone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(site, "clustered", solved(site, remark="clustered"))

    def lost(files: Any, *rest: Any, **named: Any) -> Any:
        next(files)
        raise WorkersLost("the connection to the scheduler was lost")
        yield

    with monkeypatch.context() as patched:
        patched.setattr(grading, "grade_class", lost)
        for _ in range(3):
            with pytest.raises(Complaint, match="the scheduler was lost"):
                grade(site)
    (one,) = attempts.attempts_of(site.store, "clustered")
    assert (one.state, one.deaths) == ("waiting", 0)


def test_a_complaint_ends_the_process_with_one_line(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*anything: Any) -> None:
        raise Complaint("the device is not there")

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"root": "%s"}\n' % str(site.root).encode())))
    monkeypatch.setattr(grading, "_end_with_server", lambda grading: None)
    monkeypatch.setattr(grading, "prepare", refuses)
    with pytest.raises(SystemExit) as ended:
        grading.main()
    assert ended.value.code == "grader: the device is not there"


def grade_until_dead(root: Path, url: str, jobs: int) -> None:
    """Grade in a process that ends at once when it has graded the killer."""
    site = open_site(root, url)
    with pytest.MonkeyPatch.context() as patched:
        kill_at(patched, "killer", lambda: os._exit(9))
        with grading.only_one(site.folder):
            grading.grade_queue(site, GradeOptions(paths=[], root=root, device="cpu", jobs=jobs), wait=False)


@pytest.mark.slow(
    held_by="tests/serve/test_grading_that_dies.py::test_an_attempt_on_which_the_process_dies_is_set_aside_and_others_are_graded"
)
def test_real_processes_that_die_with_two_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course", ())
    for who in ("before", "killer", "after", "last"):
        hand_in(site, who, solved(site, "1.1", remark=who))
    for _ in range(MOST_STARTS):
        process = FORK.Process(target=grade_until_dead, args=(site.root, site.gradebook, 2))
        process.start()
        process.join(PATIENCE)
        assert process.exitcode in (0, 9)
        if all_done(site):
            break
    assert {one.student: (one.state, one.score) for one in attempts.everybodys(site.store)} == {
        "killer": (attempts.FAULT, None), **dict.fromkeys(("before", "after", "last"), (attempts.GRADED, 5.0)),
    }  # fmt: skip
