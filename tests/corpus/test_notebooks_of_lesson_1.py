"""Whole notebooks of 1-attention with students' habits: right ones get full points without a flag, wrong answers are refused."""

from __future__ import annotations

import pytest

from corpus.notebooks import WholeNotebook
from tests.whole_notebooks import cases, check, server_and_folder


@pytest.fixture(scope="module")
def place():
    with server_and_folder() as started:
        yield started


@pytest.mark.fast_cases(
    "tests_in_the_cell",
    "answers_below_the_stubs",
    "corrected_copy_without_marker",
    "import_in_a_given_cell",
    "seed_in_own_cells",
    "import_line_used",
)
@pytest.mark.parametrize("case", cases("1-attention"))
def test_habits_cost_nothing_and_mistakes_cost_points(case: WholeNotebook, place) -> None:
    check(case, *place)
