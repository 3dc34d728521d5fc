"""What the machine refuses is a fault: no score is written, a recorded one stays, and a rerun completes."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from examples.make import classes, content
from grader.course import lessons
from grader.grading.graded import withheld
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.intake import find_all, read

ROOT = Path(__file__).parents[2]
NAME = "1-attention"
BOOK = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "# @exercise 1.1\nf = 1"}]})
ERRORS = (
    errno.EACCES, errno.EIO, errno.ESTALE, errno.ENOSPC, errno.ELOOP, errno.EPERM, errno.ENOENT, errno.ENOTDIR,
    errno.EMFILE, errno.ENOMEM, errno.ETIMEDOUT, errno.EINTR, errno.ENXIO, errno.EINVAL, errno.EISDIR,
)  # fmt: skip
CALLS = ("open", "stat", "fstat", "fdopen", "scandir", "zip open", "zip read")


class BrokenFile(io.BytesIO):
    """A file that opens and cannot be read."""

    def __init__(self, number: int) -> None:
        self.number = number

    def read(self, *_: Any) -> bytes:
        raise OSError(self.number, os.strerror(self.number))


def break_call(patch: Any, call: str, number: int, mark: str) -> None:
    """Make a system call fail wherever the path that it is about contains the mark."""

    def path_of(*arguments: Any, dir_fd: int | None = None) -> str:
        first = arguments[0]
        path = f"/proc/self/fd/{first}" if isinstance(first, int) else os.fspath(first)
        above = os.readlink(f"/proc/self/fd/{dir_fd}") if dir_fd is not None else ""
        return f"{above}/{os.readlink(path) if isinstance(first, int) else path}"

    def failing(real: Any) -> Any:
        def broken(*arguments: Any, **options: Any) -> Any:
            if mark not in path_of(*arguments, dir_fd=options.get("dir_fd")):
                return real(*arguments, **options)
            if call == "fdopen":
                os.close(arguments[0])
                return BrokenFile(number)
            raise OSError(number, os.strerror(number))

        return broken

    if call == "zip open":
        real = zipfile.ZipFile.__init__

        def init(self: Any, *arguments: Any, **options: Any) -> None:
            raise OSError(number, os.strerror(number))

        patch.setattr(zipfile.ZipFile, "__init__", init if mark else real)
    elif call == "zip read":
        patch.setattr(zipfile.ZipExtFile, "read", BrokenFile(number).read)
    else:
        patch.setattr(os, call, failing(getattr(os, call)))


def class_of_two(folder: Path, book: str | bytes) -> tuple[Path, Path]:
    """Write the same class as a folder and as a zip."""
    with zipfile.ZipFile(folder / "class.zip", "w") as archive:
        for student in ("good", "broken"):
            archive.writestr(f"submitted/{student}/{NAME}/{NAME}.ipynb", book)
        archive.extractall(folder)
    return folder / "submitted", folder / "class.zip"


def status_of(file: SubmissionFile) -> tuple[str, float | None]:
    try:
        read(file)
    except IntakeError as error:
        grade = withheld(file, error.problem, 100.0)
        assert not grade.proven
        assert grade.message
        return grade.status, grade.score
    return "read", None


@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[number] for number in ERRORS])
@pytest.mark.parametrize("call", CALLS)
def test_an_error_of_the_machine_is_a_fault_and_a_rerun_completes(tmp_path: Path, call: str, number: int) -> None:
    folder, zipped = class_of_two(tmp_path, BOOK)
    path = zipped if call.startswith("zip") else folder
    with pytest.MonkeyPatch.context() as patch:
        break_call(patch, call, number, "broken")
        files, failed = find_all([path], tuple(lessons()), NAME)
        statuses = {file.student: status_of(file) for file in (*files, *failed)}
    assert set(statuses.values()) - {("read", None)} == {("fault", None)}, statuses
    if not call.startswith("zip"):
        assert statuses == {"good": ("read", None), "broken": ("fault", None)}
    files, failed = find_all([path], tuple(lessons()), NAME)
    assert {file.student: status_of(file)[0] for file in files} == {"good": "read", "broken": "read"}
    assert not failed


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_path_that_the_machine_refuses_is_no_path_that_is_not_there(tmp_path: Path, number: int) -> None:
    folder, _ = class_of_two(tmp_path, BOOK)
    with pytest.MonkeyPatch.context() as patch:
        break_call(patch, "lstat", number, "submitted")
        _, (failed,) = find_all([folder], tuple(lessons()), NAME)
    assert status_of(failed) == ("fault", None)


BREAK = """
import os, runpy, sys
from tests.submission.test_faults import break_call
call, number = sys.argv[1], int(sys.argv[2])
class Patch:
    setattr = staticmethod(setattr)
if call:
    break_call(Patch, call, number, "submitted/broken")
sys.argv[:3] = ["grader"]
runpy.run_module("grader", run_name="__main__")
"""


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_gradebook.py::test_a_fault_leaves_the_earlier_score_and_marks_it_as_earlier"
)
def test_no_recorded_score_changes_in_a_run_whose_files_cannot_be_read(tmp_path: Path) -> None:
    example = next(one for one in classes() if (one.assignment, one.student) == (NAME, "full-marks"))
    folder, _ = class_of_two(tmp_path, content(example))
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"

    def grade(call: str = "", number: int = 0) -> tuple[int, dict[str, tuple[str, float | None]], dict[str, float]]:
        lines = tmp_path / "grades.jsonl"
        command = [sys.executable, "-c", BREAK, call, str(number), "grade", str(folder), "--jobs", "1"]
        command += ["--json", str(lines), "--html", str(tmp_path / "html"), "--gradebook", url]
        ran = subprocess.run(
            command, cwd=ROOT, check=False, capture_output=True, text=True, env={**os.environ, "GRADER_SECRET": "x"}
        )
        assert "Traceback" not in ran.stderr, ran.stderr
        written = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
        with Gradebook(url) as gradebook:
            scores = {row.student_id: row.score for row in gradebook.assignment_submissions(NAME)}
        return ran.returncode, {one["student"]: (one["status"], one["score"]) for one in written}, scores

    right = {"good": ("graded", 100.0), "broken": ("graded", 100.0)}
    recorded = {"good": 100.0, "broken": 100.0}
    assert grade() == (0, right, recorded)
    for call, number in (("open", errno.EACCES), ("fdopen", errno.EIO)):
        assert grade(call, number) == (1, {**right, "broken": ("fault", None)}, recorded), call
    assert grade() == (0, right, recorded)
