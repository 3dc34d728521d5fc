"""Small changes of wrong answers are tried in a real sandbox, and the student reads the line of the mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from examples.make import ROOT, Example, content
from grader.course import lessons
from grader.grading import grade as grading
from grader.grading.grade import grade, master_notebook
from grader.records import GradingSettings, Outcome, Verdict
from grader.submission.file import SubmissionFile
from tests.classes.gradebook.warm_server import shared_server

ASSIGNMENT = "1-attention"
LESSON = lessons()[ASSIGNMENT]
WRONG = {
    "1.1": "def attention_scores(query, key):\n    scores = query @ key.transpose(-2, -1)\n"
    "    scores = scores * 1.3\n    return scores",
    "1.4": "def attention(query, key, value):\n    scores = scaled_scores(query, key)\n"
    "    later = torch.ones(scores.shape[-2:]).triu(2).bool()\n"
    '    scores = scores.masked_fill(later, float("-inf"))\n'
    "    weights = stable_softmax(scores)\n    return weights @ value, weights",
}
HOSTILE = {
    # Hangs, leaves, floods and lies: what is changed of it does the same.
    "1.2": "import os\n\ndef scaled_scores(query, key):\n    while query.shape[-1] - 1:\n        query = query + 1\n        query = query\n    return query",
    "1.6": "import os\n\ndef masked_attention(query, key, value, mask=None):\n    x = 3 // 2\n    if __name__ == '<repaired>' or 'run_repaired' in str(__import__('inspect').stack()):\n        os._exit(3)\n    return query * 1.7, query",
    "1.9": "import torch\n\ndef pointer_loss(weights, target):\n    x = 3 // 2\n    big = torch.rand(3, 1000, 1000)\n    return big.sum() * 1e-9",
}  # fmt: skip


def graded(answers: dict[str, str], folder: Path) -> dict[str, Verdict]:
    example = Example(student="s", assignment=ASSIGNMENT, score=None, about="", answers=answers)
    (folder / "s.ipynb").write_bytes(content(example))
    file = SubmissionFile("s", ASSIGNMENT, folder, ("s.ipynb",))
    with shared_server() as server:
        settings = GradingSettings(secret="s", device="cpu", tier=server.isolation)
        found = grade(file, server=server, settings=settings, released=master_notebook(ROOT, ASSIGNMENT))
    assert found.grade.status == "graded", found.grade.message
    return {verdict.id: verdict for verdict in found.grade.verdicts}


@pytest.fixture(scope="module")
def slips(tmp_path_factory) -> dict[str, Verdict]:
    return graded(WRONG, tmp_path_factory.mktemp("slips"))


def test_the_line_that_is_too_many_is_named(slips):
    assert slips["1.1"].outcome is Outcome.FAILED
    # The marker of the exercise is the first line of the cell.
    assert slips["1.1"].hint.endswith(
        "Line 4, `scores = scores * 1.3`: if you leave out this line, your answer is right."
    )


def test_an_answer_that_builds_on_a_wrong_one_is_explained_with_a_stand_in_below_it(slips):
    assert slips["1.4"].stand_ins == ("1.1",)
    assert 'Line 5, `scores = scores.masked_fill(later, float("-inf"))`: ' in slips["1.4"].hint


def test_a_wrong_default_costs_half_of_the_first_check_that_it_fails(tmp_path):
    softmax = (
        "def stable_softmax(scores, dim=1):\n    shifted = scores - scores.amax(dim, keepdim=True).nan_to_num(neginf=0)\n"
        "    weights = shifted.exp()\n    return weights / weights.sum(dim, keepdim=True).clamp(min=1e-30)"
    )
    verdict = graded({"1.3": softmax}, tmp_path)["1.3"]
    assert verdict.hint == "Line 2: the default of `dim` is 1; the task asks for -1."
    assert [(check.points, check.max_points) for check in verdict.checks if check.points < check.max_points] == [
        (1.5, 3)
    ]
    assert any("one wrong default" in note for note in verdict.notes)


def test_what_is_right_is_not_explained(slips):
    assert not any(verdict.hint for verdict in slips.values() if verdict.outcome is Outcome.PASSED)


def test_a_hostile_answer_gains_no_words_and_no_points_and_disturbs_no_other(tmp_path, monkeypatch):
    exercises = tuple(
        replace(exercise, checks=tuple(replace(check, seconds=3.0) for check in exercise.checks))
        for exercise in LESSON.exercises
    )  # one of them hangs
    monkeypatch.setattr(grading, "lessons", lambda: {ASSIGNMENT: replace(LESSON, exercises=exercises)})
    found = graded(HOSTILE, tmp_path)
    for id in HOSTILE:
        assert found[id].points == 0
        assert found[id].diagnosis != "repair"
    assert {id: verdict.points for id, verdict in found.items() if id in ("1.1", "1.3", "1.5")} == {
        "1.1": 5,
        "1.3": 10,
        "1.5": 15,
    }
