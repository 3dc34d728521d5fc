"""The time that it takes to put cells together: a student chooses how many there are, and how large."""

import ast

import pytest

from grader.submission.code.source import LONG
from grader.submission.parts import join

LINES = "1,\n" * 2_000


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of characters of each text that is parsed."""
    sizes: list[int] = []
    parse = ast.parse

    def counted(text: str) -> ast.Module:
        sizes.append(len(text))
        return parse(text)

    monkeypatch.setattr(ast, "parse", counted)
    return sizes


@pytest.mark.parametrize("count", [4, 20])
def test_the_search_for_halves_does_not_grow_with_the_square_of_the_cells(count: int, parsed: list[int]) -> None:
    """Of each open bracket, all cells below it may be the rest."""
    cells = [f"x = [ # {count} {index}\n{LINES}" if index % 2 else f"{index},\n{LINES}" for index in range(count)]
    answer = "def f(): pass"
    joined = join(dict(enumerate([*cells, answer])), {"f"})
    assert "def f" in joined.source
    assert sum(parsed) <= 25 * sum(map(len, cells))


def test_copies_are_compared_once(parsed: list[int]) -> None:
    copies = [f"def f():\n    return {index}\n{'#' * LONG}" for index in range(30)]
    joined = join(dict(enumerate(copies)), {"f"})
    assert joined.source == copies[-1]
    assert joined.alternatives == 30
    assert len(parsed) <= 10 * len(copies)
