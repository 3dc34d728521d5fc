"""Whole notebooks of 3-vlm with students' habits: right ones get full points without a flag, wrong answers are refused."""

from __future__ import annotations

import pytest

from corpus.notebooks import WholeNotebook
from tests.whole_notebooks import cases, check, server_and_folder


@pytest.fixture(scope="module")
def place():
    with server_and_folder() as started:
        yield started


@pytest.mark.fast_cases("eps_of_timm", "cleared_too_late")
@pytest.mark.parametrize("case", cases("3-vlm"))
def test_habits_cost_nothing_and_mistakes_cost_points(case: WholeNotebook, place) -> None:
    check(case, *place)
