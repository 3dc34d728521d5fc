"""The reference on other arguments: which changes are tried for which exercise."""

from types import SimpleNamespace

import pytest
import torch

from grader.course import lessons
from grader.explain.arguments import other_arguments

EXERCISES = {exercise.id: exercise for lesson in lessons().values() for exercise in lesson.exercises}
THREE = {name: torch.randn(5, 3) for name in ("query", "key", "value")}


def phrases(exercise: str, **inputs) -> list[str]:
    return list(other_arguments(EXERCISES[exercise], SimpleNamespace(inputs=inputs, sizes={})))


@pytest.mark.parametrize(
    ("exercise", "scales"), [("1.2", True), ("1.4", True), ("1.6", True), ("3.P1", True), ("3.P2", False)]
)
def test_scores_are_scaled_only_where_the_task_scales_them(exercise, scales):
    said = phrases(exercise, **THREE)
    assert any("divide by √d_k, once" in one for one in said) is scales
    assert any("Nothing is scaled here" in one for one in said) is not scales


def test_the_first_of_a_batch_may_serve_for_all():
    says = "It comes out as if the `key` of the first one were used for the whole batch."
    batch = {name: torch.randn(2, 5, 3) for name in THREE}
    assert says in phrases("1.4", **batch)
    assert says not in phrases("1.4", **THREE)
    changed = other_arguments(EXERCISES["1.4"], SimpleNamespace(inputs=batch, sizes={}))[says]
    assert torch.equal(changed["key"], batch["key"][:1].expand(2, 5, 3))
    assert torch.equal(changed["value"], batch["value"])


@pytest.mark.parametrize(("exercise", "meets"), [("2.8", True), ("3.P3", True), ("3.4", True), ("4.3", False)])
def test_weights_are_mixed_up_only_by_who_meets_a_layer(exercise, meets):
    """In 4.3 a curve is given a function that scores: whose weights are turned around there, it cannot know."""
    weights = {name: torch.randn(3, 3) for name in ("W_Q.weight", "W_K.weight")}
    said = [one for one in phrases(exercise, weights=weights) if "W_Q" in one]
    assert bool(said) is meets


def test_only_a_mask_says_who_may_attend():
    """In 4.8 `turned` says which scenes are mirrored: nobody attends there."""
    bools, cells = torch.tensor([True, False, False]), torch.tensor([0, 4, 8])
    mirrored = phrases("4.8", cells=cells, patches=torch.randn(3, 9, 2), turned=bools)
    assert "It comes out as if `turned` were turned around: True where it should be False." in mirrored
    masked = phrases("1.4", **THREE, mask=torch.ones(5, 5, dtype=torch.bool))
    assert "It comes out as if `mask` were turned around: True = may attend." in masked
    assert not any("may attend" in one for one in mirrored)
