"""The place of an exception, as a sandbox may report it: honest, or forged."""

import pytest

from grader.records import Place
from grader.sandbox.replies import place


def test_a_place_is_read() -> None:
    reported = {"cell": "own-001", "line": 3, "column": 7, "shapes": [["q", [2, 3]], ["s", []]], "given": ["a", 5]}
    assert place(reported) == Place(
        cell="own-001", line=3, column=7, shapes=(("q", (2, 3)), ("s", ())), given_cell="a", given_line=5
    )


@pytest.mark.parametrize("reported", [None, 3, "line 3", [], [["cell"]], True])
def test_what_is_no_object_is_no_place(reported) -> None:
    assert place(reported) == Place()


@pytest.mark.parametrize("line", [0, -1, 10**6 + 1, 10**400, True, 2.0, "2", None, [2]])
def test_an_impossible_line_is_none(line) -> None:
    assert place({"cell": "c", "line": line, "column": line, "given": ["g", line]}) == Place(cell="c", given_cell="g")


def test_names_are_cut_and_cleaned() -> None:
    read = place({"cell": "c\x1b[2J" + "x" * 10**6, "given": ["\u202e", 1]})
    assert len(read.cell) == 100
    assert "\x1b" not in read.cell
    assert read.given_cell == ""
    assert place({"given": ["a", 1, 2]}) == place({"given": "ab"}) == Place()


@pytest.mark.parametrize(
    "entry",
    [
        ["a b", [2]], ["<b>", [2]], ["", [2]], ["x" * 41, [2]], ["q", [2] * 9], ["q", [-1]], ["q", [2**40]], ["q", [True]],
        ["q", [2.0]], ["q", "22"], ["q"], ["q", [2], 3], [7, [2]], {"q": [2]}, None, "q",
    ],
    ids=repr,
)  # fmt: skip
def test_an_impossible_shape_is_left_out(entry) -> None:
    assert place({"shapes": [entry, ["good", [3]]]}).shapes == (("good", (3,)),)


def test_only_some_shapes_are_read() -> None:
    assert len(place({"shapes": [["q", [2]]] * 10**5}).shapes) == 6
