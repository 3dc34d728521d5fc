"""Whole notebooks of the labs with students' habits: right ones get full points without a flag, wrong answers are refused."""

from __future__ import annotations

import pytest

from corpus.notebooks import WholeNotebook
from tests.whole_notebooks import cases, check, server_and_folder


@pytest.fixture(scope="module")
def place():
    with server_and_folder() as started:
        yield started


@pytest.mark.fast_cases("rollout_without_gradients")
@pytest.mark.parametrize("case", [case for name in ("4-modern", "5-real", "6-explain") for case in cases(name)])
def test_habits_cost_nothing_and_mistakes_cost_points(case: WholeNotebook, place) -> None:
    check(case, *place)
