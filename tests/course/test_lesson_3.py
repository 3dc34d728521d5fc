"""What is particular to lesson 3's declaration: the trained model, and what somebody might put in its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from attention.experiments import recipe
from attention.training import train_step
from attention.vlm import MiniVLM
from torch.nn import functional as F

from corpus.answers import variants
from corpus.judging import mistaken, sheet, verdict
from grader.course.lesson_3 import LESSON
from grader.course.lesson_3 import trained_model as trained_vlm
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
    assert [exercise.id for exercise in LESSON.exercises if not exercise.points] == [
        "3.P1",
        "3.P2",
        "3.P3",
        "3.P4",
        "3.P5",
        "3.P6",
        "3.P7",
    ]


def test_a_wrong_shift_targets_is_not_paid_for_twice():
    """3.6 is judged with the right targets, whatever 3.5 gives; but it has to ask for them."""
    exercise = LESSON.exercise("3.6")
    right = next(one.source for one in variants("3-vlm") if one.exercise == "3.6")
    wrong = "def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):\n    raise NotImplementedError"
    assert verdict(LESSON, exercise, f"{right}\n\n{wrong}").outcome is Outcome.PASSED
    turned = right.replace("shift_targets(ids, lengths)", "shift_targets(lengths, ids)")
    assert turned != right
    assert verdict(LESSON, exercise, turned).outcome is Outcome.FAILED


def test_a_slip_keeps_half_of_the_points_or_more():
    slips = [(exercise, wrong) for exercise in OWN for wrong in exercise.mistakes if wrong.slip]
    assert len(slips) == 3
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
    "a band mask for the fused kernel": (
        "3.P1",
        "makes a tensor of n × n numbers",
        """
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    band = torch.ones(n, n, dtype=torch.bool).tril(window).triu(-window)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=band)
""",
    ),
    "the layer itself": (
        "3.P3",
        "makes a tensor of T × S numbers",
        """
def fused_forward(layer, tokens, context=None, mask=None):
    return layer(tokens, context, mask)[0]
""",
    ),
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
    "a layer that is changed": (
        "3.P3",
        "the layer stays as it is",
        """
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    query, key, value = (
        project(source).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for project, source in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    mask = None if mask is None else mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(-3, -2).flatten(-2)
    with torch.no_grad():
        layer.W_O.weight.add_(1.0)
    return layer.W_O(heads) - heads.sum(-1, keepdim=True)
""",
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
    for planned in sheet("3-vlm", "3.P4", "one").planned:
        names = planned.inputs["ill"]["illness"].split(" and ")
        found = sheet("3-vlm", "3.P4", "one").ours.right(planned).values["found"]
        assert found == [name for name in names if name != "none"], planned.trial.describe


# ---------------------------------------------------------------- the trained model


@pytest.fixture(scope="module")
def short_recipe():
    """A recipe of few steps, and gates to fit: the judges are tested, not the training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "STEPS", 30)
        patch.setattr(recipe, "ALIGN_STEPS", 10)
        patch.setattr(trained_vlm, "GATES", {"where": 0.0, "what": 0.0, "read": 0.0})
        patch.setattr(trained_vlm, "GROUNDING_GATE", 0.0)
        yield


def run(seed: int = 3) -> dict:
    model = MiniVLM(**recipe.MODEL)
    record = recipe.train(model, train_step, seed, steps=recipe.STEPS, align_steps=recipe.ALIGN_STEPS)
    return {**LESSON.reference, "model": model, "record": record, "seed": seed}


@pytest.fixture(scope="module")
def trained(short_recipe) -> dict:
    return run()


@pytest.fixture(scope="module")
def inputs() -> dict:
    return draw_held_out(InputSampler("held out"), scenes=23)


def answers_of(namespace: dict, inputs: dict, **changes) -> Case:
    inputs = {**inputs, "seed": namespace["seed"]}  # as the grader gives it
    got = run_here(CHECKS["trained answers"], namespace, inputs)
    assert got.error == "", got.message
    return Case(inputs=inputs, got={**got.values, **changes}, expected=dict, rtol=1.0)


def maps_of(namespace: dict, inputs: dict, **changes) -> Case:
    inputs = {**inputs, "seed": namespace["seed"]}
    got = run_here(CHECKS["trained maps"], namespace, inputs)
    assert got.error == "", got.message
    return Case(inputs=inputs, got={**got.values, **changes}, expected=dict, rtol=1.0)


def test_an_honest_model_passes(trained, inputs):
    assert judge_answers(answers_of(trained, inputs)).message == ""
    assert judge_maps(maps_of(trained, inputs)).message == ""


def test_the_gates_hold(trained, inputs, monkeypatch):
    monkeypatch.setattr(trained_vlm, "GATES", {"where": 0.9, "what": 0.95, "read": 0.85})
    assert "at least 90% are needed" in judge_answers(answers_of(trained, inputs)).message
    monkeypatch.setattr(trained_vlm, "GROUNDING_GATE", 0.9)
    assert "looks at the right patch" in judge_maps(maps_of(trained, inputs)).message


def test_right_answers_with_other_weights_are_refused(trained, inputs):
    """Answers from a table: they are right, but the weights do not give them."""
    finding = judge_answers(answers_of(trained, inputs, answers=inputs["truth"]))
    assert "not what the trained weights give" in finding.message


def test_right_words_from_a_model_that_computes_something_else_are_refused(trained, inputs):
    """Which words a wrong model says may turn on the weights, and these on the processor; its logits are other ones in any case."""
    model = trained["model"]

    class Sharper(MiniVLM):
        def forward(self, token_ids, image_patches):
            logits, maps = super().forward(token_ids, image_patches)
            return 1.02 * logits, maps

    sharper = Sharper(**recipe.MODEL)
    sharper.load_state_dict(model.state_dict())
    honest, other = (answers_of({**trained, "model": one}, inputs) for one in (model, sharper))
    assert all(torch.equal(said, other.got["answers"][task]) for task, said in honest.got["answers"].items())
    assert "not what the trained weights give" in judge_answers(other).message


def test_forged_maps_are_refused(trained, inputs):
    honest = maps_of(trained, inputs)
    cells = {task: cells[:, 0] for task, cells in inputs["cells"].items()}
    for name, shape in (("maps", (1, 1)), ("value-weighted", (1,))):
        forged = {}
        for task, tensor in honest.got[name].items():
            perfect = F.one_hot(cells[task], 9).float().reshape(-1, *shape, 9)
            forged[task] = perfect.expand_as(tensor).contiguous()
        assert "off by" in judge_maps(maps_of(trained, inputs, **{name: forged})).message


def test_maps_that_are_missing_or_misshapen_are_refused(trained, inputs):
    honest = maps_of(trained, inputs).got
    assert not judge_maps(maps_of(trained, inputs, maps={})).passed
    averaged = {task: one.mean(1) for task, one in honest["maps"].items()}
    assert "shape" in judge_maps(maps_of(trained, inputs, maps=averaged)).message


def test_weights_from_another_training_are_refused(trained, inputs):
    """Pasted in after the training: they are not what the recorded path ends with."""
    other = run(seed=4)
    pasted = {**trained, "model": other["model"]}
    for finding in (judge_answers(answers_of(pasted, inputs)), judge_maps(maps_of(pasted, inputs))):
        assert "not the weights that the training ended with" in finding.message


def test_a_record_from_another_training_is_refused(trained, inputs):
    other = run(seed=4)
    pasted = {**other, "seed": trained["seed"]}
    assert "did not begin" in judge_answers(answers_of(pasted, inputs)).message


def test_weights_put_in_during_training_are_refused(trained, inputs):
    state = {name: value.clone() for name, value in run(seed=4)["model"].state_dict().items()}
    steps = []

    def cheat(model, optimizer, batch):
        steps.append(train_step(model, optimizer, batch))
        if len(steps) == 17:
            model.load_state_dict(state)
        return steps[-1]

    model = MiniVLM(**recipe.MODEL)
    record = recipe.train(model, cheat, 3, steps=recipe.STEPS, align_steps=recipe.ALIGN_STEPS)
    finding = judge_answers(answers_of({**trained, "model": model, "record": record}, inputs))
    assert "jumped" in finding.message


def test_steps_that_move_nothing_are_refused(trained, inputs):
    """A step that returns the loss and leaves the weights: the path stands still."""
    steps = []

    def lazy(model, optimizer, batch):
        steps.append(1)
        if len(steps) % 3:
            return train_step(model, optimizer, batch)
        with torch.no_grad():
            return model(batch[0], batch[2])[0].mean().item()

    model = MiniVLM(**recipe.MODEL)
    record = recipe.train(model, lazy, 3, steps=recipe.STEPS, align_steps=recipe.ALIGN_STEPS)
    finding = judge_answers(answers_of({**trained, "model": model, "record": record}, inputs))
    assert "steps moved no weight" in finding.message


def test_a_smooth_forged_path_to_other_weights_is_refused(trained, inputs, monkeypatch):
    """Even if the record is forged: weights of another training do not resemble this one's start."""
    monkeypatch.setattr(trained_vlm, "LONGEST_STEP", 1e9)
    other = run(seed=4)
    path = other["record"]["path"].clone()
    start = MiniVLM(**recipe.MODEL)
    recipe.draw_start(start, 3)
    path[0] = recipe.watch(start, 3)
    path[-1] = recipe.watch(other["model"], 3)
    forged = {**other, "seed": 3, "record": {**other["record"], "path": path}}
    assert "does not come from the start" in judge_answers(answers_of(forged, inputs)).message


def test_a_short_training_is_refused(trained, inputs):
    model = MiniVLM(**recipe.MODEL)
    record = recipe.train(model, train_step, 3, steps=7, align_steps=recipe.ALIGN_STEPS)
    finding = judge_answers(answers_of({**trained, "model": model, "record": record}, inputs))
    assert "does not hold 40 steps" in finding.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: {}, "does not have the parameters"),
        (lambda state: {**state, "extra": torch.zeros(1)}, "extra"),
        (lambda state: {**state, "norm.bias": torch.zeros(3)}, "norm.bias"),
        (lambda state: {**state, "norm.bias": state["norm.bias"].double()}, "norm.bias"),
        (lambda state: {**state, "norm.bias": state["norm.bias"] * torch.nan}, "diverged"),
        (lambda state: None, "no weights"),
    ],
)
def test_weights_that_are_no_weights(trained, inputs, change, message):
    state = answers_of(trained, inputs).got["state"]
    assert message in judge_answers(answers_of(trained, inputs, state=change(state))).message


def test_a_wrong_model_is_refused(inputs, short_recipe):
    """Trained with a wrong forward: the reference computes other answers from the same weights."""
    wrong = next(one for one in EXERCISES["3.4"].mistakes if one.name == "image_without_positions")
    model = wrong.replaces["MiniVLM"](**recipe.MODEL)
    record = recipe.train(model, train_step, 3, steps=recipe.STEPS, align_steps=recipe.ALIGN_STEPS)
    namespace = {**LESSON.reference, "model": model, "record": record, "seed": 3}
    maps = judge_maps(maps_of(namespace, inputs))
    assert "off by" in maps.message


def test_the_start_depends_on_the_seed_alone():
    """However a model draws its first weights, and in whatever order: the same seed, the same start."""
    one, other = MiniVLM(**recipe.MODEL), MiniVLM(**recipe.MODEL)
    recipe.draw_start(one, 5)
    recipe.draw_start(other, 5)
    for (name, first), second in zip(one.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(first, second), name
    recipe.draw_start(other, 6)
    assert not torch.equal(one.head.weight, other.head.weight)


@pytest.mark.parametrize("name", ["answers", "logits", "maps", "value-weighted", "state", "path"])
@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {"where": 1}, torch.zeros(3, dtype=torch.int8), {"where": torch.zeros(0)}], ids=repr
)
def test_a_model_in_another_form_is_refused_and_is_no_fault(trained, inputs, name, value):
    for judge, case in ((judge_answers, answers_of), (judge_maps, maps_of)):
        honest = case(trained, inputs)
        if name in honest.got:
            assert not judge(replace(honest, got={**honest.got, name: value})).passed


def test_the_path_of_a_training_in_another_dtype_is_refused(trained, inputs):
    path = torch.as_tensor(trained["record"]["path"])
    for dtype in (torch.float64, torch.int64, torch.bool):
        assert "does not hold" in judge_answers(answers_of(trained, inputs, path=path.to(dtype))).message
