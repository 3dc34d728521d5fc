"""Lesson 2's declaration: the reference passes, every mistake is refused and named, other styles pass."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
import pytest
import torch
from attention import builtin
from attention.alignment import TokenAligner
from attention.digits import digits
from attention.matching import draw_linear, train_aligner, word_vectors
from attention.multi_head import MultiHeadAttention
from attention.reader import draw_reading, train_reader
from torch import Tensor, nn
from torch.nn import functional as F

from grader.checks.compare import compare
from grader.checks.judge import judge, run_here
from grader.checks.plan import Planned, plan, source_of
from grader.checks.policy import used_builtins
from grader.course.lesson_2 import (
    LESSON,
    aligner_trained,
    labels_of,
    matches_unseen,
    reader_trained,
    reads_unseen,
)
from grader.exercise import Case, Outcome

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXERCISES = {exercise.id: exercise for exercise in LESSON.exercises}
SYLLABUS = tuple(f"2.{number}" for number in range(1, 9))  # an exercise of your own needs no entry here
MISTAKES = [(exercise.id, one.name) for exercise in LESSON.exercises for one in exercise.mistakes]
CELLS = jupytext.read(ROOT / "solutions" / "2-heads.py", fmt="py:percent").cells
VARIANTS = [
    pytest.param(
        cell.metadata["exercise"], cell.source, id=f"{cell.metadata['exercise']} {cell.metadata['variant']}"
    )
    for cell in jupytext.read(HERE / "variants" / "2-heads.py", fmt="py:percent").cells
    if "variant" in cell.metadata
]


@cache
def planned(id: str, secret: str = "secret") -> tuple[Planned, ...]:
    """The trials of an exercise that need no trained model."""
    return tuple(one for one in plan(LESSON, secret, "sha") if one.exercise.id == id and one.check.at is None)


def untrained(id: str):
    """The exercise without the checks that need a trained model."""
    exercise = deepcopy(EXERCISES[id])
    checks = tuple(check for check in EXERCISES[id].checks if check.at is None)
    object.__setattr__(exercise, "checks", checks)
    object.__setattr__(exercise, "points", sum(check.points for check in checks))
    return exercise


def verdict(id: str, namespace: dict, secret: str = "secret"):
    mine = planned(id, secret)
    evidence = {one.key: run_here(one.check.probe, namespace, one.inputs, one.key) for one in mine}
    return judge(LESSON, untrained(id), mine, evidence)


def names(source: str, **more) -> dict:
    """What a cell defines in a student's notebook, where everything before it is right."""
    namespace = {
        **LESSON.reference, "torch": torch, "nn": nn, "F": F, "math": math, "np": np, "OrderedDict": OrderedDict,
        "masked_attention": builtin.masked_attention, **more,
    }  # fmt: skip
    exec(compile(source, "a cell", "exec"), namespace)
    return namespace


def cells(marker: str) -> dict[str, str]:
    return {cell.metadata[marker]: cell.source for cell in CELLS if marker in cell.metadata}


def test_hundred_points_and_three_exercises_for_practice():
    assert sum(EXERCISES[id].points for id in SYLLABUS) == 100
    assert [id for id, exercise in EXERCISES.items() if not exercise.points] == ["2.P1", "2.P2", "2.P3"]
    assert [exercise.points for exercise in LESSON.exercises][:8] == [10, 10, 15, 10, 10, 25, 10, 10]


@pytest.mark.parametrize("id", EXERCISES)
def test_the_reference_passes(id):
    found = verdict(id, dict(LESSON.reference))
    assert found.outcome is Outcome.PASSED, found.message


@pytest.mark.parametrize("id", EXERCISES)
def test_the_solution_in_the_notebook_passes(id):
    found = verdict(id, names(cells("exercise")[id]))
    assert found.outcome is Outcome.PASSED, found.message


@pytest.mark.parametrize(("id", "name"), MISTAKES)
def test_every_mistake_is_refused_and_named(id, name):
    wrong = next(one for one in EXERCISES[id].mistakes if one.name == name)
    found = verdict(id, {**LESSON.reference, **wrong.replaces})
    assert found.outcome is Outcome.FAILED
    assert found.mistake == name, found.message
    assert found.points < EXERCISES[id].points or not EXERCISES[id].points


@pytest.mark.parametrize("secret", ["another", "third", "fourth", "fifth"])
@pytest.mark.parametrize("id", EXERCISES)
def test_mistakes_are_refused_and_the_reference_passes_whatever_the_secret(id, secret):
    assert verdict(id, dict(LESSON.reference), secret).outcome is Outcome.PASSED
    for wrong in EXERCISES[id].mistakes:
        found = verdict(id, {**LESSON.reference, **wrong.replaces}, secret)
        assert (found.outcome, found.mistake) == (Outcome.FAILED, wrong.name)


@pytest.mark.parametrize(
    ("id", "name"), [one for one in MISTAKES if "dropout" not in one[1] and "drop" not in one[1]]
)
def test_the_public_examples_show_the_mistake(id, name):
    """What the self-check in the notebook can say, it says. (Dropout and the width are checked when graded.)"""
    if name in ("any_width", "asserts_the_width", "mask_axis_from_the_front", "approximate_gelu"):
        pytest.skip("seen by a hidden trial alone, or below what a rounded example can tell")
    wrong = next(one for one in EXERCISES[id].mistakes if one.name == name)
    public = [one for one in planned(id) if one.public]
    ours, theirs = (
        [run_here(one.check.probe, namespace, one.inputs) for one in public]
        for namespace in (dict(LESSON.reference), {**LESSON.reference, **wrong.replaces})
    )
    pairs = zip(ours, theirs, strict=True)
    assert any(got.error or not compare(got.values, want.values, rtol=30).passed for want, got in pairs)


@pytest.mark.parametrize(("id", "name"), MISTAKES)
def test_hints_are_short(id, name):
    hint = next(one.hint for one in EXERCISES[id].mistakes if one.name == name)
    assert len(re.findall(r"[.!?](?=\s|$)", hint)) <= 3
    assert hint.endswith(".")


@pytest.mark.parametrize(("id", "source"), VARIANTS)
def test_other_styles_pass(id, source):
    found = verdict(id, names(source))
    assert found.outcome is Outcome.PASSED, found.message
    assert used_builtins(EXERCISES[id], source) == ()


@pytest.mark.parametrize("id", SYLLABUS)
def test_four_styles_for_each_graded_exercise(id):
    assert sum(one.values[0] == id for one in VARIANTS) >= 4


@pytest.mark.parametrize("id", ["2.4", "2.5", "2.6"])
def test_what_stands_in_for_an_exercise_is_right(id):
    found = verdict(id, names(cells("stuck")[id]))
    dropout_and_width = {"dropout", "conduct"} if id == "2.6" else set()
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= dropout_and_width, wrong


def shape_of(value: Any, like: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return like(value)
    if isinstance(value, (tuple, list)):
        return tuple(shape_of(one, like) for one in value)
    return like(torch.tensor(value)).item() if isinstance(value, float) else value


@pytest.mark.parametrize("id", [id for id, exercise in EXERCISES.items() if exercise.points])
@pytest.mark.parametrize(
    "like", [torch.zeros_like, torch.rand_like, torch.ones_like], ids=["zeros", "random", "ones"]
)
def test_the_right_shape_alone_is_worth_nothing(id, like):
    """The right shape, dtype, parameters and attributes, and numbers that mean nothing."""

    def emptied(right: Any) -> Any:
        if isinstance(right, type):

            class Empty(right):
                def forward(self, *args, **kwargs):
                    return shape_of(super().forward(*args, **kwargs), like)

            return Empty
        return lambda *args, **kwargs: shape_of(right(*args, **kwargs), like)

    wrong = {name: emptied(LESSON.reference[name]) for name in EXERCISES[id].defines}
    assert verdict(id, {**LESSON.reference, **wrong}).points == 0


def test_probes_stand_alone():
    """A probe is sent as text: it may use nothing but what the sandbox has."""
    there = {
        "torch": torch, "nn": nn, "F": F, "math": math, "Tensor": Tensor, "Mapping": Mapping, "Callable": Callable,
        "Any": Any,
    }  # fmt: skip
    for exercise in LESSON.exercises:
        for one in planned(exercise.id):
            namespace = dict(there)
            exec(source_of(one.check.probe), namespace)
            got = run_here(namespace[one.check.probe.__name__], LESSON.reference, one.inputs)
            assert got.error == "", f"{one.key}: {got.message}"


# ---------------------------------------------------------------- what the notebook trains


@pytest.fixture(scope="module")
def trained() -> dict:
    aligner, words = TokenAligner(64, 32), word_vectors(0)
    train_aligner(aligner, words, steps=200, seed=0)
    return {**LESSON.reference, "aligner": aligner, "words": words, "reader": train_reader(4, 600, seed=0)}


def case(id: str, check: str, probe: Callable, namespace: dict, **changes) -> Case:
    (one,) = [
        one for one in plan(LESSON, "secret", "sha") if one.exercise.id == id and one.check.name == check
    ]
    got = run_here(probe, namespace, one.inputs)
    assert got.error == "", got.message
    return Case(inputs=one.inputs, got={**got.values, **changes}, expected=dict, rtol=1.0)


def aligner_case(namespace: dict, **changes) -> Case:
    return case("2.3", "trained", aligner_trained, namespace, **changes)


def reader_case(namespace: dict, **changes) -> Case:
    return case("2.6", "maps", reader_trained, namespace, **changes)


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
        in reads_unseen(
            reader_case(trained, state={**reader_case(trained).got["state"], "positions": 0})
        ).message
    )


def test_an_untrained_reader_is_refused(trained):
    assert (
        "both digits are right"
        in reads_unseen(reader_case({**trained, "reader": train_reader(4, 0, 0)})).message
    )


def test_maps_that_the_weights_do_not_give_are_refused(trained):
    honest = reader_case(trained)
    perfect = F.one_hot(honest.inputs["cells"], 9).float().repeat(1, 2, 1)
    assert "maps is off by" in reads_unseen(reader_case(trained, maps=perfect)).message
    assert "maps is" in reads_unseen(reader_case(trained, maps=honest.got["maps"].mean(1))).message


def test_a_reader_that_answers_without_looking_is_refused(trained, monkeypatch):
    """Its digits are right, but no head looks at one of the cells: only the maps can tell."""
    import grader.course.lesson_2 as lesson

    monkeypatch.setattr(lesson, "READING_GATE", 0.0)
    reader = deepcopy(trained["reader"])
    with torch.no_grad():
        reader.attention.W_Q.weight.zero_()
    assert "no head of its own" in reads_unseen(reader_case({**trained, "reader": reader})).message


def test_the_reader_is_the_students_own_layer(trained):
    assert isinstance(trained["reader"].attention, MultiHeadAttention)
