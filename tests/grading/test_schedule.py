"""Which probes share a fork of the interpreter."""

from pathlib import Path

import pytest

from corpus.planning import plan
from examples.make import ROOT, Example, content
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.grading.schedule import schedule
from grader.records import GradingSettings
from grader.submission.file import SubmissionFile
from grader.submission.intake import read
from grader.submission.rebuild import rebuild


@pytest.fixture
def groups(tmp_path: Path) -> dict[str, str]:
    """The name of each check of lesson 2 → the group of its probes, in a run of the solution."""
    lesson = lessons()["2-heads"].verified
    example = Example(student="s", assignment=lesson.assignment, score=None, about="")
    (tmp_path / "s.ipynb").write_bytes(content(example))
    submission = read(SubmissionFile("s", lesson.assignment, tmp_path, ("s.ipynb",)))
    rebuilt = rebuild(lesson, master_notebook(ROOT, lesson.assignment), submission)
    settings = GradingSettings(secret="test", device="cpu", tier="full")
    run = schedule(lesson, rebuilt, rebuilt.notebook, plan(lesson, "test", "0" * 64), settings, seed=0)
    requests = [request for some in run.requests.values() for request in some]
    return {"/".join(request.key.split("/")[:2]): request.group for request in requests}


def test_what_takes_classes_and_functions_shares_a_fork(groups: dict[str, str]) -> None:
    assert groups["2.8/values"] == groups["2.8/context"] == groups["2.8/conduct"]  # they take 2.6's class, too
    assert groups["2.1/conduct"] == groups["2.2/values"]  # nothing between the two runs code


def test_what_takes_a_trained_object_has_a_fork_of_its_own(groups: dict[str, str]) -> None:
    trained = ["2.3/begins", "2.3/trained", "2.6/begins", "2.6/maps"]
    for check in trained:
        assert list(groups.values()).count(groups[check]) == 1, check
