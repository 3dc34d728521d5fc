"""What is particular to lesson 2's declaration: carry-on cells, the trained aligner and reader."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from attention.alignment import TokenAligner
from attention.data.digits import digits
from attention.experiments.matching import draw_linear, train_aligner, word_vectors
from attention.experiments.reader import draw_reading, train_reader
from attention.multi_head import MultiHeadAttention
from torch.nn import functional as F

from corpus.judging import verdict
from corpus.planning import plan
from grader.course.lesson_2 import LESSON, trained_reader
from grader.course.lesson_2.trained_aligner import labels_of, matches_unseen
from grader.course.lesson_2.trained_reader import reads_unseen
from grader.judge.reference_results import run_here
from grader.records import Case, Outcome
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


@pytest.fixture(scope="module")
def trained() -> dict:
    aligner, words = TokenAligner(64, 32), word_vectors(0)
    train_aligner(aligner, words, steps=200, seed=0)
    return {**LESSON.reference, "aligner": aligner, "words": words, "reader": train_reader(4, 600, seed=0)}


def case(id: str, check: str, namespace: dict, **changes) -> Case:
    (trial,) = [
        trial for trial in plan(LESSON, "secret", "sha") if trial.exercise.id == id and trial.check.name == check
    ]
    got = run_here(trial.check, namespace, trial.inputs)
    assert got.error == "", got.message
    return Case(inputs=trial.inputs, got={**got.values, **changes}, expected=dict, rtol=1.0)


def aligner_case(namespace: dict, **changes) -> Case:
    return case("2.3", "trained", namespace, **changes)


def reader_case(namespace: dict, **changes) -> Case:
    return case("2.6", "maps", namespace, **changes)


def test_a_trained_aligner_and_a_trained_reader_pass(trained):
    assert matches_unseen(aligner_case(trained)).message == ""
    assert reads_unseen(reader_case(trained)).message == ""


def test_labels_are_found_by_pixels():
    patches, cells, answers = draw_reading(50, torch.Generator().manual_seed(1), "test")
    assert torch.equal(labels_of(patches).gather(1, cells), answers)
    held_out = digits("test")
    assert torch.equal(labels_of(held_out.patches), held_out.labels)


def test_an_untrained_aligner_is_refused(trained):
    aligner = TokenAligner(64, 32)
    draw_linear(aligner, seed=0)
    assert (
        "nearest to their own word, 90% are asked"
        in matches_unseen(aligner_case({**trained, "aligner": aligner})).message
    )


def test_aligned_tokens_that_the_weights_do_not_give_are_refused(trained):
    honest = aligner_case(trained)
    perfect = word_vectors(0)[labels_of(honest.inputs["patches"])]
    assert "own weights" in matches_unseen(aligner_case(trained, aligned=perfect)).message
    assert "own weights" in matches_unseen(aligner_case(trained, words=word_vectors(1))).message


def test_what_comes_back_must_be_tensors_of_the_right_form(trained):
    assert "weight is" in matches_unseen(aligner_case(trained, weight="none")).message
    assert "expected float32, (32,)" in matches_unseen(aligner_case(trained, bias=torch.zeros(31))).message
    assert "NaN" in matches_unseen(aligner_case(trained, weight=torch.full((32, 64), torch.nan))).message
    assert "did not come back" in reads_unseen(reader_case(trained, state=None)).message
    assert (
        "positions is"
        in reads_unseen(reader_case(trained, state={**reader_case(trained).got["state"], "positions": 0})).message
    )


def test_an_untrained_reader_is_refused(trained):
    assert "both digits are right" in reads_unseen(reader_case({**trained, "reader": train_reader(4, 0, 0)})).message


def test_maps_that_the_weights_do_not_give_are_refused(trained):
    honest = reader_case(trained)
    perfect = F.one_hot(honest.inputs["cells"], 9).float().repeat(1, 2, 1)
    assert "maps: off by" in reads_unseen(reader_case(trained, maps=perfect)).message
    assert "maps is" in reads_unseen(reader_case(trained, maps=honest.got["maps"].mean(1))).message


def test_a_reader_that_answers_without_looking_is_refused(trained, monkeypatch):
    """Its digits are right, but no head looks at one of the cells: only the maps can tell."""
    monkeypatch.setattr(trained_reader, "READING_GATE", 0.0)
    reader = deepcopy(trained["reader"])
    with torch.no_grad():
        reader.attention.W_Q.weight.zero_()
    assert "no head of its own" in reads_unseen(reader_case({**trained, "reader": reader})).message


def test_the_reader_is_the_students_own_layer(trained):
    assert isinstance(trained["reader"].attention, MultiHeadAttention)


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
