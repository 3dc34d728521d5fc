"""autograded/ and feedback/: nbgrader's layout, whole files only, one folder per student."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import parse_utc

from grader.classes.gradebook.errors import RecordError, StudentNameError
from grader.classes.results import folders
from grader.classes.results.folders import unreadable_notebook, write_autograded, write_feedback


def notebook(source: str = "x = 1"):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="a")])


def test_layout(tmp_path: Path):
    path = write_autograded(tmp_path / "autograded", "s1", "1-attention", notebook())
    assert path == tmp_path / "autograded/s1/1-attention/1-attention.ipynb"
    assert nbformat.read(path, as_version=4).cells[0].source == "x = 1"
    page = write_feedback(tmp_path / "feedback", "s1", "1-attention", "<p>√d_k</p>")
    assert page == tmp_path / "feedback/s1/1-attention/1-attention.html"
    assert page.read_text(encoding="utf-8") == "<p>√d_k</p>"
    assert sorted(os.listdir(path.parent)) == ["1-attention.ipynb"]  # nothing half-written is left


def test_the_timestamp_is_one_that_nbgrader_reads(tmp_path: Path):
    moment = datetime(2026, 3, 5, 13, 7, 11, 120, tzinfo=timezone(timedelta(hours=2)))
    write_autograded(tmp_path, "s1", "a", notebook(), moment)
    stamp = tmp_path / "s1/a/timestamp.txt"
    assert parse_utc(stamp.read_text().strip()) == moment.astimezone(UTC).replace(tzinfo=None)
    write_autograded(tmp_path, "s1", "a", notebook())  # handed in again, at an unknown time
    assert not stamp.exists()


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = write_feedback(tmp_path, "s1", "a", "old")

    def full(*paths) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.os, "replace", full)
    with pytest.raises(RecordError, match=r"No space left on device.*grade again"):
        write_feedback(tmp_path, "s1", "a", "new")
    assert page.read_text() == "old"
    assert os.listdir(page.parent) == ["a.html"]


@pytest.mark.parametrize("student", ["..", ".", "", "a/b", "a\\b", "a\0b", "/etc"])
def test_a_student_never_leaves_the_folder(tmp_path: Path, student: str):
    with pytest.raises(StudentNameError, match=r"Rename the submission's folder"):
        write_feedback(tmp_path, student, "a", "page")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_too_long_stops_nobody_else(tmp_path: Path):
    """A zip can hold longer names than a folder: the grade of this one is not recorded, all others are."""
    write_feedback(tmp_path, "é" * 127, "a", "page")
    with pytest.raises(StudentNameError, match="too long") as error:
        write_feedback(tmp_path, "é" * 128, "a", "page")
    assert len(str(error.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("student", ["class.html", "CLASS.html", "notebooks", "__MACOSX"])
def test_no_student_has_the_name_of_a_page(tmp_path: Path, student: str):
    with pytest.raises(StudentNameError, match="the course has files of this name"):
        write_feedback(tmp_path, student, "a", "page")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", ["index.html", "students.csv"])
def test_a_file_with_a_students_name_stops_nobody_else(tmp_path: Path, other: str):
    """`grader grade --html` writes into any folder; an instructor may keep files there."""
    (tmp_path / other).write_text("of the instructor")
    with pytest.raises(StudentNameError, match=r"is a file.*Rename one of them"):
        write_feedback(tmp_path, other, "a", "page")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StudentNameError):
        write_feedback(tmp_path, "gone", "a", "page")
    assert (tmp_path / other).read_text() == "of the instructor"


def test_an_assignment_may_be_called_like_a_folder_of_the_course(tmp_path: Path):
    assert write_feedback(tmp_path, "ada", "feedback", "page").is_file()


def test_a_full_disk_is_no_matter_of_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(RecordError, match="Make room on its disk"):
        write_feedback(tmp_path, "ana", "a", "page")


def test_names_that_look_alike_have_their_own_folders(tmp_path: Path):
    names = ["josé", "jose\u0301", "JOSÉ", "学生"]
    for name in names:
        write_feedback(tmp_path, name, "a", name)
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert [(tmp_path / name / "a/a.html").read_text(encoding="utf-8") for name in names] == names


def test_where_the_file_system_joins_names_nobody_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """There is no such file system here: `ana` is a link to `Ana`, which looks the same from outside."""
    monkeypatch.setattr(folders, "_tells_names_apart", lambda root: False)
    write_feedback(tmp_path, "Ana", "a", "first")
    listing = os.listdir
    (tmp_path / "ana").symlink_to("Ana")
    monkeypatch.setattr(folders.os, "listdir", lambda path: [name for name in listing(path) if name != "ana"])
    with pytest.raises(StudentNameError, match=r"'ana' and another student's name.*case-sensitive"):
        write_feedback(tmp_path, "ana", "a", "second")
    assert (tmp_path / "Ana/a/a.html").read_text() == "first"


def test_a_file_in_the_way(tmp_path: Path):
    (tmp_path / "feedback").write_text("")
    with pytest.raises(RecordError, match=r"writable folder"):
        write_feedback(tmp_path / "feedback", "s1", "a", "page")


def test_a_lone_surrogate_in_an_output_is_written_as_a_question_mark(tmp_path: Path):
    path = write_autograded(tmp_path, "s1", "a", notebook("print('\udc80')"))
    assert nbformat.read(path, as_version=4).cells[0].source == "print('?')"


def test_the_stand_in_for_an_unreadable_file_is_a_valid_notebook_without_markup(tmp_path: Path):
    made = unreadable_notebook("<script>alert(1)</script>")
    nbformat.validate(made)
    assert [cell.cell_type for cell in made.cells] == ["code"]
    assert made.cells[0].outputs[0].text == "<script>alert(1)</script>\n"
