"""The repairs of the lab: what decides about a mended training, whole and verified, and what the hints say of the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from attention.experiments import short_trainings
from attention.experiments.short_trainings import ALIGNER, MIRROR, SCALE, short_scores, train_short
from attention.lab_repairs import image_tokens, mirror_left_right

from benchmarks.lab_repairs import BROKEN, LAB, TRAININGS
from benchmarks.repair import broken_pieces
from grader.course.lesson_4 import LESSON
from grader.course.lesson_4.short_training import mended_answers, mended_began
from grader.declare.exercise import Check
from grader.declare.lesson import SHORT
from grader.declare.sampler import InputSampler
from grader.records import Case, Finding

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "lab_repairs.txt"


def check(id: str) -> Check:
    return next(one for one in LESSON.exercise(id).checks if one.name == "mended")


def judged(id: str, model: torch.nn.Module, **changed) -> Finding:
    """Judge what the probe of a whole training returns for a model."""
    one = check(id)
    inputs = one.trials[0].draw(InputSampler("gate", id))
    got = {**mended_answers(model, inputs["asked"]), **changed}
    return one.judge(Case(inputs=inputs, got=got, expected=dict, rtol=1.0))


def begun(id: str, piece) -> Finding:
    """Judge what the verified form returns for a training of some steps with a piece."""
    (one,) = check(id).verified
    model, losses = train_short(TRAININGS[id], piece, 0, steps=SHORT)
    got = mended_began(model, losses)
    return one.judge(Case(inputs={}, got=got, expected=dict, rtol=1.0))


def test_a_whole_training_is_judged_by_its_weights():
    model, _ = train_short(ALIGNER, image_tokens, 11)
    assert judged("4.7", model).passed
    invented = torch.zeros(500, 9)
    assert "against the same weights" in judged("4.7", model, maps=invented).message
    state = {name: value.detach() for name, value in model.named_parameters()}
    assert "NaN" in judged("4.7", model, state={**state, "W_Q.weight": state["W_Q.weight"] * torch.nan}).message
    assert "shape" in judged("4.7", model, state={**state, "W_Q.weight": torch.ones(3, 3)}).message
    assert "did not come back" in judged("4.7", model, state={"W_Q.weight": state["W_Q.weight"]}).message


def test_a_whole_training_with_the_fault_misses_the_gate():
    model, _ = train_short(MIRROR, broken_pieces(LAB)[BROKEN["4.8"]], 11)
    finding = judged("4.8", model)
    assert not finding.passed
    assert "the gate asks for 85%" in finding.message


@pytest.mark.parametrize("id", TRAININGS)
def test_three_steps_show_the_fault(id: str):
    assert begun(id, LESSON.exercise(id).reference[0]).passed
    assert not begun(id, broken_pieces(LAB)[BROKEN[id]]).passed


def test_the_checks_together_decide_the_same_points():
    for id in TRAININGS:
        assert check(id).points == sum(one.points for one in check(id).verified)
    assert mirror_left_right in LESSON.exercise("4.8").reference


def test_a_hint_says_that_the_gate_is_passed_where_it_is():
    figures = json.loads(RESULTS.read_text("utf-8").splitlines()[-1])["figures"]
    assert figures["seeds"] >= 5
    # What the lab says of all seeds.
    assert "trainings reach .92 or more in both" in " ".join(LAB.read_text("utf-8").replace("\n# ", " ").split())
    assert min(figures["mended_right_min"], figures["mended_on_patch_min"]) >= 0.92
    assert figures["broken_gate_passed"] == 0
    assert set(figures["mended_gate_passed"]) == {figures["seeds"]}
    hints = {f"{id} {one.name}": one.hint for id in TRAININGS for one in LESSON.exercise(id).mistakes}
    assert hints.keys() == figures["wrong_gate_passed"].keys()
    for name, passed in figures["wrong_gate_passed"].items():
        says = "gate is passed" in hints[name]
        assert says == (passed == figures["seeds"]), f"{name}: passes on {passed} seeds"


def test_the_bonus_was_not_needed():
    """The control to the fear that the fifth training is built on: recorded, over all seeds."""
    lines = [line.split() for line in RESULTS.read_text("utf-8").splitlines() if line.startswith(" 4.9")]
    shares = {piece: (least, most) for _, piece, least, most, *_ in lines}
    text = " ".join(LAB.read_text("utf-8").replace("\n# ", " ").split())
    without, with_it = (" to ".join(shares[piece]) for piece in ("bonus_removed", "mended"))
    assert f"Without any bonus the same training has {without} right answers (5 seeds), with it {with_it}." in text


def test_a_tenth_of_the_learning_rate_does_not_mend_the_scale(monkeypatch: pytest.MonkeyPatch):
    """What the second hint of 4.6 says, at two of the eight seeds; and what it gives as the reason, by hand.

    Seed 3 comes to 0.78. It missed the bound of 0.6 that once stood there.
    """
    assert "(a tenth of it: 0.34 to 0.78 right, at eight seeds)" in LAB.read_text("utf-8")
    usual = short_trainings.pocket_rate
    monkeypatch.setattr(short_trainings, "pocket_rate", lambda step: usual(step) / 10)
    for seed in (0, 3):
        model, _ = train_short(SCALE, broken_pieces(LAB)[BROKEN["4.6"]], seed)
        assert 0.31 < short_scores(SCALE, model)["right"] < 0.81
    for largest, most in ((4.0, 0.5), (40.0, 1e-10)):
        scores = torch.tensor([largest, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(scores.softmax(0)[0], scores)
        assert 0 < gradient.abs().max() < most
