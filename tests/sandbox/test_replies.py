"""The replies of a sandbox: the header of one, and the place of an exception, honest or forged."""

import pytest

from grader.records import Place
from grader.sandbox.guest.frames import Ending, FrameError
from grader.sandbox.replies import parse_reply, place


def test_a_reply_is_taken_apart() -> None:
    header = b'{"ending": "timeout", "lost": true, "raw": 2, "head": 3, "waited": 0.5}'
    reply = parse_reply(header, memoryview(b"rrhhhb"))
    assert (reply.ending, reply.lost, reply.waited) == (Ending.TIMEOUT, True, 0.5)
    assert (reply.raw, reply.head, bytes(reply.body)) == (b"rr", b"hhh", b"b")


@pytest.mark.parametrize(
    "header",
    [
        b"", b"\xff", b"[]", b"7", b"{}", b'{"ending": "answer"}', b'{"ending": "won", "raw": 0, "head": 0}',
        b'{"ending": "used_up", "raw": 0, "head": 0}', b'{"ending": "over", "raw": 0, "head": 0}',
        b'{"ending": ["answer"], "raw": 0, "head": 0}', b'{"ending": "answer", "raw": -1, "head": 0}',
        b'{"ending": "answer", "raw": 0, "head": "x"}', b'{"ending": "answer", "raw": 0, "head": Infinity}',
        b'{"ending": "answer", "raw": 0, "head": 0, "waited": -1}', b"[" * 10**5,
        b'{"ending": "answer", "raw": 0, "head": 0, "waited": NaN}', b'{"ending": "answer", "raw": 0, "head": 0, "waited": []}',
    ],
    ids=lambda header: repr(header[:60]),
)  # fmt: skip
def test_a_header_that_no_init_sends_is_refused(header: bytes) -> None:
    with pytest.raises(FrameError, match="header of a reply"):
        parse_reply(header, memoryview(b""))


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
