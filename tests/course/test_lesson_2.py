"""What is particular to lesson 2's declaration: carry-on cells, the trained aligner and reader."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from attention.alignment import TokenAligner
from attention.experiments.reader import TwoCellReader
from attention.multi_head import MultiHeadAttention

from corpus.judging import verdict
from grader.course.lesson_2 import LESSON
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import run_here
from grader.records import Case, Finding, Outcome
from tests.scripts import cells_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXERCISES = {exercise.id: exercise for exercise in LESSON.exercises}
OWN = [LESSON.exercise(f"2.{number}") for number in range(1, 9)]  # an exercise of yours needs no entry here
CELLS = cells_of("2-heads")


def cells(marker: str) -> dict[str, str]:
    return {cell.metadata[marker]: cell.source for cell in CELLS if marker in cell.metadata}


def test_hundred_points_and_three_exercises_for_practice():
    assert sum(exercise.points for exercise in OWN) == 100
    assert [id for id, exercise in EXERCISES.items() if not exercise.points] == ["2.P1", "2.P2", "2.P3"]
    assert [exercise.points for exercise in LESSON.exercises][:8] == [10, 10, 15, 10, 10, 25, 10, 10]


@pytest.mark.parametrize("id", ["2.4", "2.5", "2.6"])
def test_what_stands_in_for_an_exercise_is_right(id):
    found = verdict(LESSON, LESSON.exercise(id), LESSON.exercise(id).stand_in_source)
    dropout_and_width = {"dropout", "conduct"} if id == "2.6" else set()
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= dropout_and_width, wrong


# ---------------------------------------------------------------- what the notebook trains


TRAINED = {**LESSON.reference, "aligner": TokenAligner(64, 32), "reader": TwoCellReader(4)}


def judged(id: str, check: str, **changes) -> Finding:
    (trial,) = (trial for trial in plan_exercise(EXERCISES[id], "secret", "sha") if trial.check.name == check)
    got = run_here(trial.check, TRAINED, trial.inputs)
    assert got.error == "", got.message
    return trial.check.judge(Case(inputs=trial.inputs, got={**got.values, **changes}, expected=dict, rtol=1.0))


def test_an_aligner_and_a_reader_with_trained_weights_pass():
    assert judged("2.3", "trained").passed
    assert judged("2.6", "maps").passed


@pytest.mark.parametrize(
    "value", [torch.zeros(100, 32), torch.zeros(3), None, "none", torch.full((100, 32), torch.nan)]
)
def test_aligned_tokens_that_the_weights_do_not_give_are_refused(value):
    assert "aligned" in judged("2.3", "trained", aligned=value).message


@pytest.mark.parametrize(("name", "shape"), [("maps", (100, 4, 9)), ("logits", (100, 2, 10))])
def test_maps_and_logits_that_the_weights_do_not_give_are_refused(name, shape):
    for value in (torch.zeros(shape), torch.zeros(shape[1:]), None, torch.full(shape, torch.nan)):
        assert name in judged("2.6", "maps", **{name: value}).message


def test_the_reader_is_the_students_own_layer():
    assert isinstance(TRAINED["reader"].attention, MultiHeadAttention)


HOOK_LEFT = """
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    used = []

    def without_it(module, inputs):
        if used:
            return None
        used.append(True)
        merged = inputs[0].clone()
        d_head = merged.shape[-1] // attention_layer.num_heads
        merged[..., head * d_head : (head + 1) * d_head] = 0
        return (merged,)

    handle = attention_layer.W_O.register_forward_pre_hook(without_it)
    output = attention_layer(tokens, context, mask)[0]
    REMOVE
    return output
"""


def test_a_hook_that_stays_on_the_layer_is_seen_even_if_it_does_nothing_any_more():
    tidy = verdict(LESSON, EXERCISES["2.8"], HOOK_LEFT.replace("REMOVE", "handle.remove()"))
    assert tidy.outcome is Outcome.PASSED, tidy.message
    left = verdict(LESSON, EXERCISES["2.8"], HOOK_LEFT.replace("REMOVE", "pass"))
    assert left.outcome is Outcome.FAILED
    assert "hook" in left.message
