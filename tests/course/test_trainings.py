"""Trainings that are verified: what is kept of the reference's, and what a few steps from a secret state show."""

from __future__ import annotations

import os
import time
from functools import partial

import pytest
import torch
from attention.alignment import TokenAligner, alignment_loss
from attention.experiments import recipe
from attention.experiments.digit_pointer import Pointer
from attention.experiments.reader import TwoCellReader
from attention.training import train_step
from attention.vlm import MiniVLM
from torch import nn
from torch.nn import functional as F

from grader.course import lessons
from grader.course.lesson_3 import verified_model
from grader.course.trainings import recorded
from grader.course.trainings.recorded import State, Training, evenly
from grader.course.trainings.segment import draw_state, go_on, judge_segment
from grader.declare.sampler import InputSampler
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import run_here
from grader.records import Case, Finding

LINE = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}


def train_line() -> nn.Linear:
    model = nn.Linear(2, 1)
    model.load_state_dict(LINE)
    other = torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # another optimizer before it, as in stage 1
    other.step()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(6):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).square().mean().backward()
        optimizer.step()
    return model


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder for trainings, and a function that forgets what this process holds."""
    monkeypatch.setenv(recorded.FOLDER, str(tmp_path))
    recorded._states.cache_clear()
    yield tmp_path
    recorded._states.cache_clear()


def test_a_training_is_kept_with_its_states(kept) -> None:
    runs = []
    training = Training("line", lambda: runs.append(1) or train_line(), (2, 4, 6))
    states = training.states()
    assert [state.step for state in states] == [2, 4, 6]
    assert torch.equal(training.trained["weight"], train_line().weight)
    assert states[0].square["bias"].item() > 0
    recorded._states.cache_clear()
    again = training.states()
    assert len(runs) == 1, "it was read, not run again"
    for one, other in zip(states, again, strict=True):
        for kind in ("weights", "mean", "square"):
            for name, tensor in getattr(one, kind).items():
                assert torch.equal(tensor, getattr(other, kind)[name])


def test_trainings_of_other_courses_and_versions_are_kept_the_newest_first(kept, monkeypatch) -> None:
    training = Training("line", train_line, (6,))
    for age in range(6, 0, -1):
        old = kept / f"line-{age}.safetensors"
        old.touch()
        written = time.time() - 3600 * age
        os.utime(old, (written, written))
    training.states()
    assert {path.name for path in kept.glob("line-?.safetensors")} == {
        "line-1.safetensors",
        "line-2.safetensors",
        "line-3.safetensors",
    }


def test_a_damaged_file_and_a_missing_folder_are_no_obstacle(kept, monkeypatch) -> None:
    training = Training("line", train_line, (6,))
    training.states()
    (file,) = kept.glob("line-*.safetensors")
    file.write_bytes(file.read_bytes()[:40])
    recorded._states.cache_clear()
    assert torch.equal(training.trained["bias"], train_line().bias)
    recorded._states.cache_clear()
    monkeypatch.setenv(recorded.FOLDER, "/dev/null/there")
    assert torch.equal(training.trained["bias"], train_line().bias)


def test_a_state_and_its_moments_go_on_as_they_would_have(kept) -> None:
    """From the state after 2 steps, 2 more lead to the state after 4."""
    second, fourth = Training("line", train_line, (2, 4)).states()
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())

    def step(batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    went = go_on(model, optimizer, step, second._asdict(), [0.1, 0.1], [torch.ones(4, 2)] * 2)
    for name, weight in fourth.weights.items():
        torch.testing.assert_close(second.weights[name] + went["moved"][name], weight)
        torch.testing.assert_close(went["mean"][name], fourth.mean[name])


def test_states_are_spread_over_the_training_and_end_with_it() -> None:
    assert evenly(800, 3) == (200, 400, 600, 800)


# ---------------------------------------------------------------- other processors


def test_a_short_update_is_compared_up_to_the_last_digit_of_its_weight() -> None:
    """Near the end of 2.6 a weight of length 25 goes 6e-5: other kernels end at the neighbouring number now and then."""
    weight = torch.linspace(0.2, 0.4, 4096)
    after = weight + 1e-6
    moved = {"weight": after - weight}
    state = {"weights": {"weight": weight}, "square": {"weight": torch.ones(4096)}}

    def judged(own: torch.Tensor, rtol: float = 1.0) -> Finding:
        expected = {"losses": [1.0], "moved": moved}
        got = {"losses": [1.0], "moved": {"weight": own - weight}}
        return judge_segment(Case(inputs={"state": state}, got=got, expected=lambda: expected, rtol=rtol))

    neighbour = after.clone()
    neighbour[::8] = torch.nextafter(after[::8], torch.tensor(1.0))
    assert judged(neighbour, rtol=0.1).passed
    assert not judged(weight + 1.05e-6).passed


def test_an_update_that_is_rounding_alone_is_not_compared() -> None:
    """The gradient of the bias in 6.7 is 0; two kernels differed there by up to 4e-8 of the longest update."""
    zeros, ones = ({name: torch.full((1,), value) for name in ("weight", "bias")} for value in (0.0, 1.0))

    def judged(bias: float, own: float) -> Finding:
        expected, got = (
            {"losses": [1.0], "moved": {"weight": torch.ones(1), "bias": torch.tensor([moved])}}
            for moved in (bias, own)
        )
        state = {"weights": zeros, "square": ones}
        return judge_segment(Case(inputs={"state": state}, got=got, expected=lambda: expected, rtol=1.0))

    assert judged(1e-8, 5e-8).passed
    assert not judged(1e-4, 1.02e-4).passed


def test_steps_are_long_enough_for_the_numbers_that_they_change(monkeypatch) -> None:
    """The recipe's last rates are shorter than the last bit of a weight near 1, and a right answer would be off by chance."""
    late = State(step=790, weights={}, mean={}, square={})
    monkeypatch.setattr(verified_model, "draw_state", lambda *_, **__: late._asdict())
    monkeypatch.setattr(verified_model.MODEL_TRAINING.__class__, "states", lambda self: ())
    rates = verified_model.draw_segment(InputSampler("late"), early=False)["rates"]
    assert min(rates) == verified_model.SLOWEST_RATE
    assert recipe.learning_rate(795) < 1e-6 < 1e3 * torch.finfo(torch.float32).eps < verified_model.SLOWEST_RATE


# ---------------------------------------------------------------- attacks: right at first, and something else later


def segments(assignment: str, id: str, check: str = "goes on"):
    exercise = lessons()[assignment].exercise(id)
    return [trial for trial in plan_exercise(exercise, "secret", "sha") if trial.check.name == check]


def judged(trial, **names):
    reference = lessons()[trial_lesson(trial)].reference
    got = run_here(trial.check, {**reference, **names}, trial.inputs, trial.key)
    assert got.values is not None, got.message
    expected = {} if "start" in got.values else run_here(trial.check, reference, trial.inputs, trial.key).values
    return trial.check.judge(Case(inputs=trial.inputs, got=got.values, expected=lambda: expected, rtol=1.0))


def trial_lesson(trial) -> str:
    return next(name for name, lesson in lessons().items() if any(e.id == trial.exercise.id for e in lesson.exercises))


@pytest.mark.parametrize(
    ("assignment", "id"), [("1-attention", "1.9"), ("2-heads", "2.3"), ("2-heads", "2.6"), ("3-vlm", "3.8")]
)
def test_the_reference_goes_on_as_the_reference(assignment: str, id: str) -> None:
    early, late = segments(assignment, id)
    assert early.inputs["state"]["step"] < late.inputs["state"]["step"]
    for trial in (early, late):
        assert judged(trial).passed


# Exercise → what its cell trains.
TRAINED = {
    "1.9": {"pointer": Pointer},
    "2.3": {"aligner": partial(TokenAligner, 64, 32)},
    "2.6": {"reader": partial(TwoCellReader, 4)},
    "3.8": {"model": partial(MiniVLM, **recipe.MODEL)},
}
WRONG = {
    "1.9": {"pointer_loss": lambda weights, target: -weights.gather(-1, target[..., None]).mean()},
    "2.3": {"alignment_loss": lambda aligned, words, labels: alignment_loss(aligned, words, labels, temperature=1.0)},
    "3.8": {"train_step": lambda model, optimizer, batch: train_step(model, optimizer, batch) * 1.01},
}


def begun(assignment: str, id: str, **names) -> Finding:
    (trial,) = segments(assignment, id, "begins")
    return judged(trial, **{name: make() for name, make in TRAINED[id].items()}, **names)


@pytest.mark.parametrize(
    ("assignment", "id"), [("1-attention", "1.9"), ("2-heads", "2.3"), ("2-heads", "2.6"), ("3-vlm", "3.8")]
)
def test_a_right_model_goes_on_as_the_reference_from_whatever_its_cell_has_left(assignment: str, id: str) -> None:
    assert begun(assignment, id).message == ""
    assert not WRONG.get(id) or not begun(assignment, id, **WRONG[id]).passed


def test_a_cell_that_left_another_model_is_refused() -> None:
    (trial,) = segments("2-heads", "2.3", "begins")
    assert "missing" in judged(trial, aligner=nn.Sequential(TokenAligner(64, 32))).message
    diverged = TokenAligner(64, 32)
    nn.init.constant_(diverged.proj.bias, torch.nan)
    assert "diverged" in judged(trial, aligner=diverged).message


def the_step(model, optimizer, batch, *, keep=lambda done: True, rate=1.0, clip=None, fake=None, reset=False):
    token_ids, prompt_lengths, patches = batch
    reference = lessons()["3-vlm"].reference
    model.train()
    logits, _ = model(token_ids, patches)
    targets = reference["shift_targets"](token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    done = max((int(of["step"]) for of in optimizer.state.values()), default=0)
    optimizer.zero_grad()
    loss.backward()
    if clip is not None and done > 80:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    for group in optimizer.param_groups:
        group["lr"] *= rate
    if reset and done > 80:
        for of in optimizer.state.values():
            of["exp_avg_sq"].mul_(4.0)
    if keep(done):
        optimizer.step()
    return loss.item() if fake is None else fake


ATTACKS = {
    "stops early, by the optimizer's count": dict(keep=lambda done: done < 80),
    "skips every other step": dict(keep=lambda done: done % 2 == 0),
    "skips one step in three": dict(keep=lambda done: done % 3),
    "clips after a number of steps": dict(clip=1e-3),
    "smaller steps": dict(rate=0.9),
    "tampers with the optimizer's state": dict(reset=True),
    "reports another loss": dict(fake=0.01),
    "never steps": dict(keep=lambda done: False),
}


def test_the_step_of_these_attacks_is_right_without_them() -> None:
    for trial in segments("3-vlm", "3.8"):
        assert judged(trial, train_step=the_step).passed


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_step_that_is_right_at_first_is_caught_at_a_secret_state(attack: dict) -> None:
    def train_step(model, optimizer, batch):
        return the_step(model, optimizer, batch, **attack)

    assert not all(judged(trial, train_step=train_step).passed for trial in segments("3-vlm", "3.8"))


def test_a_step_that_looks_at_the_rate_is_caught_near_the_end() -> None:
    def train_step(model, optimizer, batch):
        rate = optimizer.param_groups[0]["lr"]
        return the_step(model, optimizer, batch, keep=lambda done: rate > 1e-3)

    _, late = segments("3-vlm", "3.8")
    assert not judged(late, train_step=train_step).passed


def test_a_loss_that_looks_at_the_size_of_the_batch_is_caught() -> None:
    def pointer_loss(weights, target):
        loss = right(weights, target)
        return loss.detach() + 0 * loss if len(weights) == 128 else loss  # of 128 scenes is the training

    right = lessons()["1-attention"].reference["pointer_loss"]
    assert not any(judged(trial, pointer_loss=pointer_loss).passed for trial in segments("1-attention", "1.9"))


@pytest.mark.parametrize(
    ("assignment", "id", "batch"),
    [("1-attention", "1.9", 128), ("2-heads", "2.3", 256), ("2-heads", "2.6", 128), ("3-vlm", "3.8", 80)],
)
def test_the_steps_are_as_large_as_those_of_the_training(assignment: str, id: str, batch: int) -> None:
    assert {len(one[0]) for trial in segments(assignment, id) for one in trial.inputs["batches"]} == {batch}


def test_weights_that_are_put_in_are_caught() -> None:
    trained = lessons()["1-attention"]  # the reference's own, from the recorded training
    weights = next(
        trial.inputs["weights"]
        for trial in plan_exercise(trained.exercise("1.9"), "secret", "sha")
        if trial.check.name == "maps"
    )

    class Pasted(Pointer):
        def forward(self, words, patches):
            with torch.no_grad():
                for name, parameter in self.named_parameters():
                    parameter.copy_(weights[name])
            return super().forward(words, patches)

    assert not any(judged(trial, Pointer=Pasted).passed for trial in segments("1-attention", "1.9"))


def test_states_differ_between_submissions_and_cannot_be_known() -> None:
    exercise = lessons()["1-attention"].exercise("1.9")
    drawn = [
        trial.inputs["state"]["weights"]["embedding.weight"]
        for sha in ("one", "two")
        for trial in plan_exercise(exercise, "secret", sha)
        if trial.check.name == "goes on"
    ]
    assert all(not torch.equal(one, other) for i, one in enumerate(drawn) for other in drawn[:i])


def test_a_state_is_the_same_whether_the_training_was_run_or_read() -> None:
    """A file has the names in another order than a model."""
    weights = {"W_Q": torch.ones(3, 2), "W_K": torch.ones(3, 2)}
    ran = [State(step, weights, weights, weights) for step in (1, 2, 3)]
    read = [State(one.step, *3 * [dict(reversed(weights.items()))]) for one in ran]
    first, second = (draw_state(InputSampler("state"), states, early=True) for states in (ran, read))
    assert all(torch.equal(first["weights"][name], second["weights"][name]) for name in weights)


def test_a_state_is_named_by_its_fields() -> None:
    assert State._fields == ("step", "weights", "mean", "square")
