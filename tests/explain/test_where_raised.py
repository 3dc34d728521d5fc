"""The line of a notebook's answer that raised, in the words of the grade."""

import linecache

import pytest
import torch

from grader.judge.raised import NotebookCells, raised
from grader.judge.where_raised import Raise, file_of, source_of_file, the_line
from grader.records import Evidence, Place, Status

CELLS = {  # by exercise; "" for a cell of the lesson
    "9.1": "# @exercise 9.1\ndef double(x):\n    both = x.view(7) * x\n    return both",
    "9.2": "class Layer:\n    def forward(self, tokens):\n        tokens = tokens * 2\n        return double(\n            tokens)",
    "9.3": "def draws(x):\n    return draw(x,\n                x + missing)",
    "": "def draw(*x):\n    def inner(x):\n        return x.secret\n    return inner(x)",
}
FILES = {f"/tmp/ipykernel_1/{number}.py": exercise for number, exercise in enumerate(CELLS)}
ID = {"9.1": "exercise-9-1", "9.2": "exercise-9-2", "9.3": "exercise-9-3", "": "given"}


@pytest.fixture(scope="module")
def names() -> dict:
    """Run the cells as a notebook does."""
    names: dict = {"torch": torch}
    for file, exercise in FILES.items():
        source = CELLS[exercise] + "\n"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), names)
    return names


def raise_of(names: dict, call: str, here: str) -> tuple[Raise, Exception]:
    """Run a call that raises, and return where it did."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        eval(call, {**names})
    return the_line(caught.value, FILES, here), caught.value


@pytest.mark.parametrize(
    ("call", "here", "place", "where"),
    [
        ("double(torch.rand(2, 3))", "9.1", Place(cell="exercise-9-1", line=3, shapes=(("x", (2, 3)),)), "line 3"),
        (
            "Layer().forward(torch.rand(2, 3))",
            "9.2",
            Place(cell="exercise-9-1", line=3, shapes=(("x", (2, 3)),)),
            "in your exercise 9.1, line 3",
        ),
        ("draws(torch.tensor(1.0))", "9.3", Place(cell="exercise-9-3", line=3, shapes=(("x", ()),)), "line 3"),
        ("double()", "9.1", Place(), "line 2"),
        ("Layer().forward()", "9.2", Place(), "line 2"),
        ("Layer().backward()", "9.2", Place(), ""),
        ("1 / 0", "9.2", Place(), ""),
    ],
)
def test_the_words_are_those_of_the_grade(names: dict, call: str, here: str, place: Place, where: str) -> None:
    found, error = raise_of(names, call, here)
    cells = NotebookCells(
        sources={ID[name]: source for name, source in CELLS.items()}, student=[ID[name] for name in CELLS if name]
    )
    report = Evidence(key="", status=Status.RAISED, error=type(error).__name__, message=str(error), place=place)
    assert found.says == raised(report, ID[here], cells).in_a_call
    assert found.where == where
    assert found.line in CELLS["9.1"] + CELLS["9.2"] + CELLS["9.3"]
    assert dict(found.shapes) == dict(place.shapes)


def test_a_function_of_the_lesson_is_named(names: dict) -> None:
    names["missing"] = torch.tensor([1.0, 2.0])
    found, error = raise_of(names, "draws(torch.rand(2))", "9.3")
    place = Place(cell="exercise-9-3", line=2, shapes=(("x", (2,)),), given_cell="given", given_line=3)
    cells = NotebookCells(sources={ID[name]: source for name, source in CELLS.items()}, student=["exercise-9-3"])
    report = Evidence(key="", status=Status.RAISED, error=type(error).__name__, message=str(error), place=place)
    assert found.says == raised(report, "exercise-9-3", cells).in_a_call
    assert "in the lesson's draw (x: 2)" in found.says


def test_the_file_of_a_definition(names: dict) -> None:
    assert file_of(names["double"]) == "/tmp/ipykernel_1/0.py"
    assert file_of(names["Layer"]) == "/tmp/ipykernel_1/1.py"
    assert file_of(3) == file_of(type("Empty", (), {})) == ""
    assert source_of_file("/tmp/ipykernel_1/0.py") == CELLS["9.1"] + "\n"
    assert source_of_file("") == source_of_file("/tmp/ipykernel_1/99.py") == ""
