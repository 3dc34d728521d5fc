"""Exceptions in words, from reports that the sandbox may have forged."""

from dataclasses import replace

import pytest

from grader.judge.raised import MAX_MESSAGE, NotebookCells, Undefined, raised, why_undefined
from grader.records import Evidence, Outcome, Place, Status

CELLS = NotebookCells(
    sources={
        "exercise-9-1": "# @exercise 9.1\ndef double(x):\n    return aid(x)",
        "exercise-9-2": "# @exercise 9.2\nimport numppy",
        "own-001": "def aid(x):\n    return x.view(7)",
        "given": "import torch\ndef draw(x):\n    SECRET\n",
    },
    student=("exercise-9-1", "exercise-9-2", "own-001"),
)
HERE = "exercise-9-1"


def said(place: Place, error: str = "ValueError", message: str = "no", cells: NotebookCells = CELLS) -> str:
    report = Evidence(key="", status=Status.RAISED, error=error, message=message, place=place)
    return raised(report, HERE, cells).in_a_call


def test_the_line_is_named_by_its_cell() -> None:
    assert said(Place(cell=HERE, line=3)) == "line 3: `return aid(x)`: ValueError: no"
    shapes = (("x", (2, 3)), ("y", ()))
    own = said(Place(cell="own-001", line=2, shapes=shapes))
    assert own == "in your own cell, line 2: `return x.view(7)`: ValueError: no (x: 2 × 3)"
    other = said(Place(cell="exercise-9-2", line=2))
    assert other == "in your exercise 9.2, line 2: `import numppy`: ValueError: no"
    assert said(Place()) == "it raised ValueError: no"


def test_code_of_the_lesson_is_named_and_never_quoted() -> None:
    called = said(Place(cell=HERE, line=3, given_cell="given", given_line=3))
    assert called == "line 3: `return aid(x)`: ValueError: no, in the lesson's draw"
    assert said(Place(given_cell="given", given_line=3)) == "it raised ValueError: no, in the lesson's draw"
    assert said(Place(given_cell="given", given_line=1)) == "it raised ValueError: no, in the lesson's code"


@pytest.mark.parametrize(
    "place",
    [
        Place(cell="given", line=3),
        Place(cell="elsewhere", line=3),
        Place(cell=HERE, line=4),
        Place(cell=HERE),
        Place(given_cell="own-001", given_line=1),
        Place(given_cell="given", given_line=99),
        Place(shapes=(("x", (2,)),)),
    ],
)
def test_a_forged_place_is_no_place(place: Place) -> None:
    assert said(place) == "it raised ValueError: no"


def test_paths_files_and_further_lines_are_left_out() -> None:
    place = Place(cell=HERE, line=3)
    assert said(place, message="cannot import 'a' (/opt/lib/torch/a.py)\nmore").endswith("cannot import 'a' (…)")
    assert said(place, "SyntaxError", "bad (<string>, line 7)").endswith("`: SyntaxError: bad")
    assert said(place, message="\n\n").endswith("`: ValueError")


def test_everything_is_bounded_and_on_one_line() -> None:
    long = {**CELLS.sources, HERE: "x" * 10**6}
    place = Place(cell=HERE, line=1, shapes=(("x" * 40, (2**39,) * 8),) * 6)
    text = said(place, "E\n" * 1000, "m " * 10**5, replace(CELLS, sources=long))
    assert len(text) <= MAX_MESSAGE
    assert "\n" not in text
    known = Undefined(cell="own-001", why="", briefly="y" * 10**6)
    report = Evidence(key="", status=Status.RAISED, error="NameError", message="name 'q' is not defined")
    assert len(raised(report, HERE, replace(CELLS, undefined={"q": known})).what) <= MAX_MESSAGE


def test_a_definition_that_takes_other_arguments_is_found() -> None:
    report = "double() takes 1 positional argument but 2 were given"
    assert said(Place(), "TypeError", report) == f"line 2: `def double(x):`: TypeError: {report}"
    assert said(Place(), "TypeError", "triple() takes no arguments").startswith("it raised TypeError")


def test_an_undefined_name_leads_to_the_cell_that_should_define_it() -> None:
    known = Undefined(cell="exercise-9-2", why="stopped at line 2: …", briefly="stopped at line 2")
    cells = replace(CELLS, undefined={"helped": known})
    text = said(Place(cell=HERE, line=3), "NameError", "name 'helped' is not defined", cells)
    assert text.endswith("NameError: name 'helped' is not defined: its cell, exercise 9.2, stopped at line 2")
    assert why_undefined(["helped"], "exercise-9-2", cells) == ("your cell stopped at line 2: …", known)
    (message, _) = why_undefined(["other", "helped"], HERE, cells) or ("", None)
    assert message == "helped is not defined: its cell, exercise 9.2, stopped at line 2: …"
    assert why_undefined(["other"], HERE, cells) is None
    unsolved = replace(known, why="not solved yet", briefly="is not solved yet", outcome=Outcome.MISSING)
    cells = replace(CELLS, undefined={"helped": unsolved})
    assert why_undefined(["helped"], "exercise-9-2", cells) == ("not solved yet", unsolved)
    (message, _) = why_undefined(["helped"], HERE, cells) or ("", None)
    assert message == "helped is not defined: its cell, exercise 9.2, is not solved yet"
