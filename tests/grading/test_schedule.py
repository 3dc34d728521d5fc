"""Which probes share a fork of the interpreter."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from corpus.planning import plan
from examples.make import ROOT, Example, content
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.grading.schedule import schedule
from grader.records import GradingSettings, Request
from grader.submission.file import SubmissionFile
from grader.submission.intake import read
from grader.submission.rebuild import rebuild


def requests_of(assignment: str, tmp_path: Path) -> Mapping[str, Sequence[Request]]:
    """The requests of each cell, in a run of the solution."""
    lesson = lessons()[assignment]
    example = Example(student="s", assignment=lesson.assignment, score=None, about="")
    (tmp_path / "s.ipynb").write_bytes(content(example))
    submission = read(SubmissionFile("s", lesson.assignment, tmp_path, ("s.ipynb",)))
    rebuilt = rebuild(lesson, master_notebook(ROOT, lesson.assignment), submission)
    settings = GradingSettings(secret="test", device="cpu", tier="full")
    run = schedule(lesson, rebuilt, rebuilt.notebook, plan(lesson, "test", "0" * 64), settings)
    return run.requests


@pytest.fixture
def groups(tmp_path: Path) -> dict[str, str]:
    """The name of each check of lesson 2 → the group of its probes."""
    requests = [request for some in requests_of("2-heads", tmp_path).values() for request in some]
    return {"/".join(request.key.split("/")[:2]): request.group for request in requests}


def test_what_takes_classes_and_functions_shares_a_fork(groups: dict[str, str]) -> None:
    assert groups["2.8/values"] == groups["2.8/context"] == groups["2.8/conduct"]  # they take 2.6's class, too
    assert groups["2.1/conduct"] == groups["2.2/values"]  # nothing between the two runs code


def test_what_takes_a_trained_object_has_a_fork_of_its_own(groups: dict[str, str]) -> None:
    trained = ["2.3/begins", "2.3/trained", "2.6/begins", "2.6/maps"]
    for check in trained:
        assert list(groups.values()).count(groups[check]) == 1, check


def test_who_shares_a_fork_is_watched_for_no_more_than_those_before(tmp_path: Path) -> None:
    groups: dict[str, list[Request]] = {}
    for request in (
        request for some in requests_of("1-attention", tmp_path).values() for request in some if request.group
    ):
        groups.setdefault(request.group, []).append(request)
    for group in groups.values():
        for before, after in pairwise(group):
            assert {*after.watched} <= {*before.watched}, after.key
    exercises = [list(dict.fromkeys(one.key.partition("/")[0] for one in group)) for group in groups.values()]
    unwatched, watched = (
        exercises.index(some) for some in (["1.1", "1.2", "1.5"], ["1.3", "1.4", "1.6", "1.7", "1.8"])
    )
    assert unwatched < watched  # the others build on them
