"""What is particular to lesson 3's declaration: the trained model, and what somebody might put in its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from attention.experiments import recipe
from attention.vlm import MiniVLM

from corpus.answers import answers
from corpus.judging import mistaken, sheet, verdict
from grader.course.lesson_3 import LESSON
from grader.course.lesson_3.trained_model import draw_held_out, judge_answers, judge_maps
from grader.declare.sampler import InputSampler
from grader.judge.reference_results import run_here
from grader.records import Case, Outcome

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXERCISES = {exercise.id: exercise for exercise in LESSON.exercises}
CHECKS = {check.name: check for check in EXERCISES["3.8"].checks}

OWN = [LESSON.exercise(f"3.{number}") for number in range(1, 10)]  # an exercise of yours needs no entry here


def test_hundred_points():
    assert sum(exercise.points for exercise in OWN) == 100
    assert [exercise.id for exercise in LESSON.exercises if not exercise.points] == ["3.P1", "3.P2", "3.P3", "3.P4"]


def test_a_wrong_shift_targets_is_not_paid_for_twice():
    """3.6 is judged with the right targets, whatever 3.5 gives; but it has to ask for them."""
    exercise = LESSON.exercise("3.6")
    right = next(one.source for one in answers("variants") if one.exercise == "3.6")
    wrong = "def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):\n    raise NotImplementedError"
    assert verdict(LESSON, exercise, f"{right}\n\n{wrong}").outcome is Outcome.PASSED
    turned = right.replace("shift_targets(ids, lengths)", "shift_targets(lengths, ids)")
    assert turned != right
    assert verdict(LESSON, exercise, turned).outcome is Outcome.FAILED


def test_a_slip_keeps_half_of_the_points_or_more():
    slips = [(exercise, wrong) for exercise in OWN for wrong in exercise.mistakes if wrong.slip]
    assert len(slips) > 20
    for exercise, wrong in slips:
        got = mistaken(LESSON, exercise, wrong)
        assert exercise.points / 2 <= got.points < exercise.points, wrong.name


def test_a_mistake_that_leaves_gradients_off_leaves_the_graders_on():
    exercise = LESSON.exercise("3.7")
    wrong = next(one for one in exercise.mistakes if one.name == "gradients_left_off")
    assert "gradients are on again" in mistaken(LESSON, exercise, wrong, "another").message
    assert torch.is_grad_enabled()


# ---------------------------------------------------------------- wrong answers that no declared mistake stands for

MAP = """
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
    slices = cross_attn.W_O.weight.unflatten(-1, (cross_attn.num_heads, -1))
    return torch.einsum("...hts,...shk,dhk->...tsd", weights, values, slices).norm(dim=-1)
"""
MODEL = """
from attention.vlm import MiniVLM as Right

class MiniVLM(Right):
    def forward(self, token_ids, image_patches):
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens, maps = self.text_positions(self.embedding(token_ids)), []
        for block in self.blocks:
            tokens, look = block(tokens, image, causal_mask(token_ids.shape[-1]))
            maps.append(look)
        return self.head(self.norm(tokens)), returned(maps)
"""
# Exercise, what is found, the wrong answer.
REFUSED = {
    "maps from a generator": (
        "3.4",
        "cross weights",
        MODEL.replace("returned(maps)", "(look for look in maps if look is not None)"),
    ),
    "patches exchanged in place where each scene has its pair": (
        "3.9",
        "the inputs were changed",
        """
def swap_patches(image_patches, first, second):
    out = image_patches if torch.is_tensor(first) else image_patches.clone()
    scenes = torch.arange(len(out))
    out[scenes, first], out[scenes, second] = out[scenes, second].clone(), out[scenes, first].clone()
    return out
""",
    ),
    "a layer that learns no more": (
        "3.8",
        "what learns is as before",
        MAP.replace("weights = ", "cross_attn.requires_grad_(False)\n    weights = "),
    ),
    "gradients off for good": (
        "3.8",
        "gradients are on again afterwards",
        MAP.replace("weights = ", "torch.set_grad_enabled(False)\n    weights = "),
    ),
}


def test_without_their_mistake_they_would_pass():
    right = MODEL.replace("returned(maps)", "[look for look in maps if look is not None]")
    for exercise, source in (("3.8", MAP), ("3.4", right)):
        assert verdict(LESSON, LESSON.exercise(exercise), source).outcome is Outcome.PASSED


@pytest.mark.fast_cases(*(name for name in REFUSED if name != "maps from a generator"))  # that one takes seconds
@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_answer_is_refused(name):
    exercise, finding, source = REFUSED[name]
    got = verdict(LESSON, LESSON.exercise(exercise), source)
    assert got.outcome is Outcome.FAILED
    assert finding in got.message


def test_a_patient_has_the_illness_that_its_trial_names():
    for planned in sheet("3-vlm", "3.P1", "one").planned:
        names = planned.inputs["ill"]["illness"].split(" and ")
        found = sheet("3-vlm", "3.P1", "one").ours.right(planned).values["found"]
        assert found == [name for name in names if name != "none"], planned.trial.describe


# ---------------------------------------------------------------- the trained model


@pytest.fixture(scope="module")
def inputs() -> dict:
    model = MiniVLM(**recipe.MODEL)
    recipe.draw_start(model, 3)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    return {**draw_held_out(InputSampler("held out"), scenes=23), "weights": weights}


def case(check: str, inputs: dict, model: type[MiniVLM] = MiniVLM, **changes) -> Case:
    got = run_here(CHECKS[check], {**LESSON.reference, "model": model(**recipe.MODEL)}, inputs)
    assert got.error == "", got.message
    return Case(inputs=inputs, got={**got.values, **changes}, expected=dict, rtol=1.0)


def answers_of(inputs: dict, model: type[MiniVLM] = MiniVLM, **changes) -> Case:
    return case("trained answers", inputs, model, **changes)


def maps_of(inputs: dict, model: type[MiniVLM] = MiniVLM, **changes) -> Case:
    return case("trained maps", inputs, model, **changes)


def test_an_honest_model_passes(inputs):
    assert judge_answers(answers_of(inputs)).message == ""
    assert judge_maps(maps_of(inputs)).message == ""


def test_answers_that_the_weights_do_not_give_are_refused(inputs):
    others = {task: (one + 1) % 9 for task, one in answers_of(inputs).got["answers"].items()}
    finding = judge_answers(answers_of(inputs, answers=others))
    assert "not what the trained weights give" in finding.message


def test_right_words_from_a_model_that_computes_something_else_are_refused(inputs):
    """Which words a wrong model says may turn on the weights, and these on the processor; its logits are other ones in any case."""

    class Sharper(MiniVLM):
        def forward(self, token_ids, image_patches):
            logits, maps = super().forward(token_ids, image_patches)
            return 1.02 * logits, maps

    honest, other = (answers_of(inputs, one) for one in (MiniVLM, Sharper))
    assert all(torch.equal(said, other.got["answers"][task]) for task, said in honest.got["answers"].items())
    assert "not what the trained weights give" in judge_answers(other).message


def test_forged_maps_are_refused(inputs):
    honest = maps_of(inputs)
    for name in ("maps", "value-weighted"):
        forged = {task: tensor.flip(-1) for task, tensor in honest.got[name].items()}
        assert "off by" in judge_maps(maps_of(inputs, **{name: forged})).message


def test_maps_that_are_missing_or_misshapen_are_refused(inputs):
    honest = maps_of(inputs).got
    assert not judge_maps(maps_of(inputs, maps={})).passed
    averaged = {task: one.mean(1) for task, one in honest["maps"].items()}
    assert "shape" in judge_maps(maps_of(inputs, maps=averaged)).message


def test_a_wrong_model_is_refused(inputs):
    """The reference computes other maps from the same weights."""
    wrong = next(one for one in EXERCISES["3.4"].mistakes if one.name == "image_without_positions")
    assert "off by" in judge_maps(maps_of(inputs, wrong.replaces["MiniVLM"])).message


def test_the_start_depends_on_the_seed_alone():
    """However a model draws its first weights, and in whatever order: the same seed, the same start."""
    one, other = MiniVLM(**recipe.MODEL), MiniVLM(**recipe.MODEL)
    recipe.draw_start(one, 5)
    recipe.draw_start(other, 5)
    for (name, first), second in zip(one.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(first, second), name
    recipe.draw_start(other, 6)
    assert not torch.equal(one.head.weight, other.head.weight)


@pytest.mark.parametrize("name", ["answers", "logits", "maps", "value-weighted"])
@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {"where": 1}, torch.zeros(3, dtype=torch.int8), {"where": torch.zeros(0)}], ids=repr
)
def test_a_model_in_another_form_is_refused_and_is_no_fault(inputs, name, value):
    for judge, made in ((judge_answers, answers_of), (judge_maps, maps_of)):
        honest = made(inputs)
        if name in honest.got:
            assert not judge(replace(honest, got={**honest.got, name: value})).passed
