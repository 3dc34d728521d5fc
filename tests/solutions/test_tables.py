"""The tables of the lessons: a row of another length makes a paragraph of pipes out of a table."""

import re
from pathlib import Path

import pytest

from grader.course import lessons
from tests.scripts import cells_of

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.mark.parametrize("assignment", lessons())
def test_the_rows_of_a_table_are_equally_long(assignment: str) -> None:
    cells = cells_of(assignment)
    tables = re.findall(
        r"(?:^\|.*\|$\n?)+", "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"), re.MULTILINE
    )
    assert tables
    for table in tables:
        widths = {line.count("|") for line in table.splitlines()}
        assert len(widths) == 1, table


@pytest.mark.parametrize("assignment", lessons())
def test_no_table_stands_in_a_list(assignment: str) -> None:
    """On the pages that nbconvert makes such a table is a paragraph of pipes."""
    for cell in cells_of(assignment):
        assert cell.cell_type != "markdown" or not re.search(r"^ +\|", cell.source, re.MULTILINE), cell.source
