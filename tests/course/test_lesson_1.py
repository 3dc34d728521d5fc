"""What is particular to lesson 1's declaration: partial credit, how masks are drawn, the trained pointer."""

from __future__ import annotations

import pytest
import torch
from attention.experiments.digit_pointer import Pointer
from torch import Tensor, nn

from corpus.judging import mistaken, sheet
from grader.course.lesson_1 import LESSON
from grader.course.lesson_1.masks import draw_lengths
from grader.course.lesson_1.shared import draw_mask
from grader.course.lesson_1.verified_pointer import judge_pointer
from grader.declare.sampler import InputSampler
from grader.judge.compare import flatten
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import run_here
from grader.records import Case

OWN = [LESSON.exercise(f"1.{number}") for number in range(1, 10)]  # an exercise of yours needs no entry here


def test_hundred_points_and_five_to_ten_minutes_an_exercise() -> None:
    assert sum(exercise.points for exercise in OWN) == 100
    assert all(5 <= exercise.minutes <= 10 for exercise in OWN)


@pytest.mark.parametrize(
    ("id", "name", "points"),
    [
        ("1.1", "queries_in_columns", 0),
        ("1.1", "transposes_the_batch", 4),
        ("1.3", "nan_in_empty_rows", 8),
        ("1.4", "unscaled", 0),
        ("1.4", "scores_for_weights", 4),
        ("1.5", "causal_inverted", 8),
        ("1.5", "without_middle_axis", 6),
        ("1.6", "mask_inverted", 0),
        ("1.6", "nan_for_blank_queries", 8),
        ("1.7", "self_mask_dropped", 9),
        ("1.7", "self_with_bias", 13),
        ("1.8", "keys_from_text", 0),
    ],
)
def test_what_is_right_earns_its_part(id: str, name: str, points: float) -> None:
    exercise = LESSON.exercise(id)
    wrong = next(one for one in exercise.mistakes if one.name == name)
    assert mistaken(LESSON, exercise, wrong).points == points


def test_hidden_sizes_are_pairwise_distinct() -> None:
    """A swapped axis cannot pass by luck. Scores over one set of tokens are square by nature: 1.7, and causal masks."""
    measured = set()
    for exercise in LESSON.exercises:
        for trial in sheet("1-attention", exercise.id, "secret").planned:
            if trial.public or exercise.id in ("1.5", "1.7") or "causal" in trial.trial.describe:
                continue
            for name, tensor in flatten(trial.inputs):
                if isinstance(tensor, Tensor) and tensor.is_floating_point():
                    sizes = [size for size in tensor.shape if size > 1]
                    assert len(set(sizes)) == len(sizes), f"{trial.key}: {name} {tuple(tensor.shape)}"
                    measured.add(exercise.id)
    assert measured >= {"1.1", "1.2", "1.3", "1.4", "1.6", "1.8", "1.9"}


# ---------------------------------------------------------------- what is drawn


def test_lengths_hold_both_ends() -> None:
    for seed in range(20):
        lengths = draw_lengths(InputSampler(str(seed)), sequences=5, tokens=7)["lengths"]
        assert {0, 7} <= set(lengths.tolist()) <= set(range(8))


@pytest.mark.parametrize("seed", range(5))
def test_masks_are_what_their_names_say(seed: int) -> None:
    sampler = InputSampler(str(seed))
    shapes = {
        "each": (3, 5, 7),
        "shared": (5, 7),
        "keys": (7,),
        "padding": (3, 1, 7),
        "blank": (3, 5, 7),
        "queries": (3, 5, 1),
        "empty": (3, 1, 7),
    }
    for kind, shape in shapes.items():
        mask = draw_mask(sampler, kind, (3,), 5, 7)
        assert mask.shape == shape
        assert mask.dtype == torch.bool
        rows = mask.expand(3, 5, 7).any(-1)
        nowhere = {"blank": 3, "empty": 5}.get(kind)
        if nowhere is not None:
            assert int((~rows).sum()) == nowhere
        elif kind == "queries":
            assert bool(rows.any())
            assert not bool(rows.all())
        else:
            assert bool(rows.all())
            assert not bool(mask.all())


# ---------------------------------------------------------------- the trained pointer


def judged(pointer: nn.Module, **changes: object):
    (maps,) = (trial for trial in plan_exercise(LESSON.exercise("1.9"), "secret", "sha") if trial.check.name == "maps")
    got = {**run_here(maps.check, {"pointer": pointer}, maps.inputs).values, **changes}
    return judge_pointer(Case(inputs=maps.inputs, got=got, expected=dict, rtol=1.0))


def test_a_pointer_with_trained_weights_passes() -> None:
    assert judged(Pointer()).passed


def test_maps_that_the_weights_do_not_give_are_refused() -> None:
    assert "from the same weights" in judged(Pointer(), maps=torch.eye(9).repeat(17, 1)[:150]).message
    assert "map: None, expected a tensor" in judged(Pointer(), maps=None).message
    assert "some are NaN" in judged(Pointer(), maps=torch.full((150, 9), torch.nan)).message


def test_an_attention_that_is_wrong_is_refused_even_where_it_hits() -> None:
    class Unscaled(Pointer):
        def forward(self, words: Tensor, patches: Tensor) -> Tensor:
            query = self.attention.W_Q(self.embedding(words)).unsqueeze(-2)
            return torch.softmax(query @ self.attention.W_K(patches).mT, -1).squeeze(-2)

    assert "Does your CrossAttention pass 1.8?" in judged(Unscaled()).message
