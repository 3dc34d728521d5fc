import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.submission.file import MAX_BYTES, NoSuchPath, SubmissionFile, Unavailable, Unreadable
from grader.submission.intake import find, read
from grader.submission.notebook import Submission, parse

KNOWN = ("1-attention", "2-heads")


def notebook(*sources: str, **changes) -> dict:
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **changes}


def hand_in(root: Path, student: str, content: bytes | str, assignment: str = "1-attention") -> Path:
    path = root / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(root: Path) -> SubmissionFile:
    (found,) = find(root, KNOWN)
    return found


def test_the_code_cells_are_read_and_nothing_else() -> None:
    book = notebook("x = 1", "y = 2")
    book["cells"].insert(1, {"cell_type": "markdown", "source": "prose"})
    book["cells"][0]["metadata"] = {"nbgrader": {"grade_id": "exercise-1-1"}}
    book["cells"][0]["source"] = ["a = 1\r\n", "b = 2"]
    cells = parse(json.dumps(book).encode()).cells
    assert [cell.source for cell in cells] == ["a = 1\nb = 2", "y = 2"]
    assert cells[0].grade_id == "exercise-1-1"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"cells": [', "not complete JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1, 2]", "not a Jupyter notebook"),
        (b"<html>", "not complete JSON"),
        (json.dumps({"cells": {}}).encode(), "not a Jupyter notebook"),
        (json.dumps(notebook(nbformat=3)).encode(), "nbformat 3 is not 4"),
        (json.dumps(notebook(nbformat=True)).encode(), "nbformat True is not 4"),
        (json.dumps(notebook(nbformat="4")).encode(), "nbformat '4' is not 4"),
        (json.dumps(notebook(*["x"] * 2001)).encode(), "2001 cells"),
        (json.dumps(notebook("x" * (5 << 20))).encode(), "MiB of code"),
        (json.dumps(notebook(nbformat="9" * 3_000_000)).encode(), r"nbformat '9{39} is not 4"),
        (b'{"cells": [' + b"{}," * 600_000 + b"{}]}", "more than 500,000 times '{'"),
        (b'{"nbformat": ' + b"9" * 5000 + b', "cells": []}', "JSON"),
    ],
)
def test_what_is_no_notebook_is_named(content: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        parse(content)


def test_odd_cells_are_passed_over() -> None:
    book = notebook("x = 1")
    book["cells"] += [
        None,
        3,
        {"cell_type": "code", "source": 7},
        {"cell_type": ["code"]},
        {"cell_type": "raw", "source": ""},
    ]
    book["cells"][0]["metadata"] = [1]
    assert [cell.source for cell in parse(json.dumps(book).encode()).cells] == ["x = 1"]


def test_lone_surrogates_become_text_that_a_file_can_hold() -> None:
    content = json.dumps(notebook("x = '\ud800'")).encode()
    assert parse(content).cells[0].source == "x = '?'"


@given(
    st.binary(max_size=300)
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.sampled_from(["cells", "nbformat", "source", "cell_type"]), v),
    ).map(lambda v: json.dumps(v).encode())
)
def test_any_bytes_are_a_submission_or_unreadable(content: bytes) -> None:
    with suppress(Unreadable):
        assert isinstance(parse(content), Submission)


def test_nbgraders_layout_is_found(tmp_path: Path) -> None:
    for student in ("bob", "Zoë", "zoë"):
        hand_in(tmp_path, student, json.dumps(notebook("x")))
    hand_in(tmp_path, "bob2", "{}", "2-heads")
    found = [(one.student, one.assignment) for one in find(tmp_path, KNOWN)]
    assert sorted(found) == sorted([("Zoë", KNOWN[0]), ("bob", KNOWN[0]), ("bob2", KNOWN[1]), ("zoë", KNOWN[0])])
    assert [one.student for one in find(tmp_path, KNOWN, "2-heads")] == ["bob2"]
    assert read(next(find(tmp_path, KNOWN))).cells[0].source == "x"


def test_one_notebook_is_named_by_its_folder_or_its_stem(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "bob", json.dumps(notebook("x")))
    (one,) = find(path, KNOWN)
    assert (one.student, one.assignment) == ("bob", "1-attention")
    alone = tmp_path / "mine.ipynb"
    alone.write_bytes(path.read_bytes())
    (one,) = find(alone, KNOWN, "2-heads")
    assert (one.student, one.assignment) == ("mine", "2-heads")
    with pytest.raises(Unreadable, match="--assignment"):
        list(find(alone, KNOWN))


def test_an_unknown_assignment_is_one_unreadable_submission(tmp_path: Path) -> None:
    hand_in(tmp_path, "bob", "{}", "7-diffusion")
    with pytest.raises(Unreadable, match=r"unknown assignment '7-diffusion'\. Choose one of 1-attention, 2-heads"):
        read(only(tmp_path))


def test_a_missing_notebook_says_where_it_should_be(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "bob", "{}")
    before = only(tmp_path)
    path.unlink()
    expected = r"1-attention.ipynb is missing. Expected is bob/1-attention/1-attention.ipynb"
    with pytest.raises(Unavailable, match=expected):  # it vanished between the listing and the reading
        read(before)
    with pytest.raises(Unavailable, match=r"1-attention.ipynb is missing: .*/bob/1-attention is empty"):
        read(only(tmp_path))


def test_links_are_never_followed_and_only_a_linked_notebook_is_the_students(tmp_path: Path) -> None:
    secret = tmp_path / "secret.ipynb"
    secret.write_text(json.dumps(notebook("secret")))
    root = tmp_path / "submitted"
    path = hand_in(root, "file", "")
    path.unlink()
    path.symlink_to(secret)
    folder = root / "folder" / "1-attention"
    folder.parent.mkdir()
    folder.symlink_to(path.parent)
    hard = hand_in(root, "hard", "")
    hard.unlink()
    os.link(secret, hard)
    whole = root / "whole"
    whole.symlink_to(root / "file")
    for assignment in (None, "1-attention"):  # a linked folder is a row with and without --assignment
        found = {one.student: one for one in find(root, KNOWN, assignment)}
        assert found.keys() == {"file", "folder", "hard", "whole"}
        with pytest.raises(Unreadable, match="it is a link") as raised:
            read(found.pop("file"))
        assert not raised.value.problem.proven  # so that it changes no recorded score
        for one in found.values():
            assert one.assignment == "1-attention"
            with pytest.raises(Unavailable, match="link"):
                read(one)
    with pytest.raises(Unavailable, match="is a link"):
        list(find(whole, KNOWN))


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    pipe = hand_in(tmp_path, "pipe", "")
    pipe.unlink()
    os.mkfifo(pipe)
    folder = hand_in(tmp_path, "folder", "")
    folder.unlink()
    folder.mkdir()
    for one in find(tmp_path, KNOWN):
        with pytest.raises(Unreadable, match="not a regular file") as raised:
            read(one)
        assert not raised.value.problem.proven


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device node")
def test_a_device_is_never_opened(tmp_path: Path) -> None:
    device = hand_in(tmp_path, "device", "")
    device.unlink()
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with pytest.raises(Unreadable, match=r"not a regular file|permission denied"):
        read(only(tmp_path))


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "bob", "")
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(Unreadable, match="more than 48 MiB"):
        read(only(tmp_path))


@pytest.mark.parametrize("student", ["a\nb", "a\x1b[31m", "a\\b"])
def test_hostile_names_are_unreadable(tmp_path: Path, student: str) -> None:
    hand_in(tmp_path, student, json.dumps(notebook("x")))
    with pytest.raises(Unreadable, match="name contains"):
        read(only(tmp_path))


def test_nothing_to_grade_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="contains no submission"):
        list(find(tmp_path, KNOWN))
    with pytest.raises(NoSuchPath, match="does not exist"):
        list(find(tmp_path / "nowhere", KNOWN))


def test_a_folder_that_may_not_be_read_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read everything, so the refusal is made here.
    hand_in(tmp_path, "good", json.dumps(notebook("x")))
    hand_in(tmp_path, "locked", json.dumps(notebook("x")))
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    for assignment in (None, "1-attention"):
        found = {one.student: one for one in find(tmp_path, KNOWN, assignment)}
        assert read(found["good"])
        assert found["locked"].assignment == "1-attention"
        with pytest.raises(Unavailable, match=r"cannot be read \(Permission denied\). Give the grading user"):
            read(found["locked"])
