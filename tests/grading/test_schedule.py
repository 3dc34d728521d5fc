"""Which probes run after which cell, and which of them share a fork of the interpreter."""

from collections.abc import Mapping, Sequence
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
def requests(tmp_path: Path) -> dict[str, Request]:
    """The request for each check of lesson 2, by its key; a trial that is asked once more at the end is left out."""
    found: dict[str, Request] = {}
    for request in (request for some in requests_of("2-heads", tmp_path).values() for request in some):
        found.setdefault(request.key, request)
    return found


def test_a_request_has_all_trials_of_its_check(requests: dict[str, Request]) -> None:
    planned = plan(lessons()["2-heads"], "test", "0" * 64)
    for key, request in requests.items():
        asked = [trial.key for trial in planned if trial.key.startswith(f"{key}/") and "again" not in trial.key]
        assert asked
        assert [trial for trial in request.trials if "again" not in trial] == asked
    assert requests.keys() == {"/".join(trial.key.split("/")[:2]) for trial in planned}


def test_a_trial_is_asked_once_more_in_the_fork_of_its_exercise(tmp_path: Path) -> None:
    requests = requests_of("2-heads", tmp_path)["exercise-2-1"]
    assert {request.group for request in requests} == {"2.1"}
    assert list(requests[-1].trials)[-1].endswith("/hidden/0-again")


def test_what_takes_classes_and_functions_shares_a_fork(requests: dict[str, Request]) -> None:
    assert {requests[f"2.8/{check}"].group for check in ("values", "context", "conduct")} == {
        "2.8"
    }  # they take 2.6's class, too


def test_what_takes_a_trained_object_has_a_fork_of_its_own(requests: dict[str, Request]) -> None:
    assert {requests[check].group for check in ("2.3/begins", "2.3/trained", "2.6/begins", "2.6/maps")} == {""}
