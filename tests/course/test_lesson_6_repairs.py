"""The repairs of the lab: what decides about a mended training, and what the hints say of the gate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from attention.experiments import short_trainings
from attention.experiments.short_trainings import SCALE, short_scores, train_short
from attention.lab_repairs import mirror_left_right

from benchmarks.lab_repairs import BROKEN, LAB, TRAININGS
from benchmarks.repair import broken_pieces
from grader.course.lesson_6 import LESSON
from grader.declare.lesson import SHORT
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import run_here
from grader.records import Case, Finding

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "lab_repairs.txt"


def trial(id: str) -> PlannedTrial:
    (found,) = (one for one in plan_exercise(LESSON.exercise(id), "secret", "sha") if one.check.name == "begins")
    return found


def begun(id: str, piece, **changed) -> Finding:
    """Judge what the model of a training of some steps with a piece does next."""
    one, training = trial(id), TRAININGS[id]
    model, _ = train_short(training, piece, 0, steps=SHORT)
    notebook = {**LESSON.reference, one.check.names["mended"]: model, one.check.names["piece"]: piece}
    got = run_here(one.check, notebook, one.inputs)
    assert got.error == "", got.message
    return one.check.judge(Case(inputs=one.inputs, got={**got.values, **changed}, expected=dict, rtol=1.0))


@pytest.mark.parametrize("id", TRAININGS)
def test_three_steps_show_the_fault(id: str):
    assert begun(id, LESSON.exercise(id).reference[0]).message == ""
    assert not begun(id, broken_pieces(LAB)[BROKEN[id]]).passed


def test_a_model_with_other_weights_than_the_lessons_is_refused():
    one = trial("6.8")
    start = {name: value.detach() for name, value in TRAININGS["6.8"].build(mirror_left_right).named_parameters()}
    name = next(iter(start))
    for wrong, said in (
        (start[name] * torch.nan, "NaN"),
        (torch.ones(3, 3), "another shape"),
        (start[name].double(), "another shape or type"),
    ):
        assert said in begun("6.8", mirror_left_right, start={**start, name: wrong}).message
    for wrong in (None, {}, {name: start[name]}):
        assert "missing" in begun("6.8", mirror_left_right, start=wrong).message
    assert one.check.points == 2


def test_a_hint_says_that_the_training_reaches_its_threshold_where_it_does():
    """The mistakes that were declared after the measurement do not say it."""
    figures = json.loads(RESULTS.read_text("utf-8").splitlines()[-1])["figures"]
    assert figures["seeds"] >= 5
    # What the lab says of all seeds.
    assert "trainings reach .92 or more in both" in " ".join(LAB.read_text("utf-8").replace("\n# ", " ").split())
    assert min(figures["mended_right_min"], figures["mended_on_patch_min"]) >= 0.92
    assert figures["broken_gate_passed"] == 0
    assert set(figures["mended_gate_passed"]) == {figures["seeds"]}
    hints = {f"{id} {one.name}": one.hint for id in TRAININGS for one in LESSON.exercise(id).mistakes}
    measured = figures["wrong_gate_passed"]
    assert measured.keys() <= hints.keys()
    for name, hint in hints.items():
        passed = measured.get(name, 0)
        says = re.search("would (still )?reach its threshold", hint) is not None
        assert says == (passed == figures["seeds"]), f"{name}: passes on {passed} seeds"


def test_the_bonus_was_not_needed():
    """The control to the fear that the fifth training is built on: recorded, over all seeds."""
    lines = [line.split() for line in RESULTS.read_text("utf-8").splitlines() if line.startswith(" 6.9")]
    shares = {piece: (least, most) for _, piece, least, most, *_ in lines}
    text = " ".join(LAB.read_text("utf-8").replace("\n# ", " ").split())
    without, with_it = (" to ".join(shares[piece]) for piece in ("bonus_removed", "mended"))
    assert f"Without any bonus the same training has {without} right answers (5 seeds), with it {with_it}." in text


def test_a_tenth_of_the_learning_rate_does_not_mend_the_scale(monkeypatch: pytest.MonkeyPatch):
    """What the second hint of 6.6 says, at two of the eight seeds; and what it gives as the reason, by hand.

    Seed 3 comes to 0.78. It missed the bound of 0.6 that once stood there.
    """
    assert "(a tenth of it: 0.34 to 0.78 right, at eight seeds)" in LAB.read_text("utf-8")
    usual = short_trainings.pocket_rate
    monkeypatch.setattr(short_trainings, "pocket_rate", lambda step: usual(step) / 10)
    for seed in (0, 3):
        model, _ = train_short(SCALE, broken_pieces(LAB)[BROKEN["6.6"]], seed)
        assert 0.31 < short_scores(SCALE, model)["right"] < 0.81
    for largest, most in ((4.0, 0.5), (40.0, 1e-10)):
        scores = torch.tensor([largest, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(scores.softmax(0)[0], scores)
        assert 0 < gradient.abs().max() < most
