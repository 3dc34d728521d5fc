"""Every bad input gets one clear line, a status in the JSON, and the rest of the class is graded."""

import shutil
from pathlib import Path

import pytest

from tests.example_class.example_class import ROOT, grade_here

GOOD = ROOT / "examples" / "submitted" / "untouched" / "1-attention" / "1-attention.ipynb"
NAME = "1-attention"
NOT_NAMES = ("class.html", "notebooks", "__MACOSX")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("bad")
    submitted = folder / "submitted"
    contents = {
        "empty": b"",
        "truncated": GOOD.read_bytes()[:5000],
        "latin-1": "é".encode("latin-1"),
        "not-a-notebook": b'{"hello": "world"}',
        "no-exercise-cell": b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "1 + 1"}]}',
        "another-course": b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "# @exercise 1.4\\ndef area(r): return r"}]}',
        "good": GOOD.read_bytes(),
    }
    contents |= dict.fromkeys(NOT_NAMES, GOOD.read_bytes())
    for student, content in contents.items():
        path = submitted / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    (submitted / "missing" / NAME).mkdir(parents=True)
    unknown = submitted / "unknown" / "9-diffusion" / "9-diffusion.ipynb"
    unknown.parent.mkdir(parents=True)
    shutil.copy(GOOD, unknown)
    link = submitted / "linked" / NAME / f"{NAME}.ipynb"
    link.parent.mkdir(parents=True)
    link.symlink_to(GOOD)
    (submitted / "elsewhere").symlink_to(link.parent.parent)
    (submitted / "pdf" / NAME).mkdir(parents=True)
    (submitted / "pdf" / NAME / "report.pdf").write_bytes(b"%PDF")
    damaged = folder / "damaged.zip"
    damaged.write_bytes(b"PK\x03\x04" + b"x" * 99)
    code, written, output = grade_here(folder, str(submitted), str(damaged))
    return code, {line["student"]: line for line in written}, output


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("empty", "the file is empty"),
        ("truncated", "not complete JSON"),
        ("latin-1", "not UTF-8"),
        ("not-a-notebook", "no list of cells"),
        ("no-exercise-cell", "no exercise cell of 1-attention"),
        ("another-course", "It is of another lesson or course: submit 1-attention.ipynb."),
        ("unknown", "unknown assignment '9-diffusion'"),
        ("linked", "it is a link"),
        ("pdf", "not a notebook: report.pdf"),
        ("damaged", "cannot be read as a zip"),
    ],
)
def test_a_bad_submission_is_named_and_says_what_to_do(graded, student: str, said: str) -> None:
    code, grades, output = graded
    assert code == 1, output
    assert student in grades, output
    assert grades[student]["status"] == "unreadable"
    assert grades[student]["score"] == 0.0
    assert said in grades[student]["message"]
    assert "\n" not in grades[student]["message"]


@pytest.mark.parametrize(
    ("student", "said"),
    [("missing", "1-attention.ipynb is missing"), ("elsewhere", "is a link; links are never followed")],
)
def test_what_the_students_bytes_do_not_prove_is_a_fault_without_a_score(graded, student: str, said: str) -> None:
    grades = graded[1]
    assert (grades[student]["status"], grades[student]["score"]) == ("fault", None)
    assert said in grades[student]["message"]


def test_only_the_bytes_of_a_file_prove_that_it_earns_nothing(graded) -> None:
    grades = graded[1]
    unproven = {student for student, grade in grades.items() if not grade["proven"]}
    assert unproven == {"missing", "elsewhere", "linked", "unknown", *NOT_NAMES}


@pytest.mark.parametrize("student", NOT_NAMES)
def test_a_name_that_the_course_has_for_a_file_is_listed_and_the_class_goes_on(graded, student: str) -> None:
    code, grades, output = graded
    assert code == 1, output
    assert grades[student]["status"] == "unreadable"
    assert "the course has files of this name" in grades[student]["message"]
    assert "class.html' cannot be a folder" in " ".join(output.split())
    assert grades["good"]["status"] == "graded"  # it comes after them


def test_the_rest_of_the_class_is_graded(graded) -> None:
    assert graded[1]["good"]["status"] == "graded"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("examples/submitted", "--assignment", "9-diffusion"), "no assignment '9-diffusion'"),
        (("examples/submitted", "--device", "cuda"), "no CUDA device"),
        (("examples/submitted", "no/such/path"), "no/such/path does not exist"),
    ],
)
def test_wrong_use_is_said_before_anything_runs(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    import torch

    if "cuda" in arguments and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    code, written, output = grade_here(tmp_path, *arguments)
    assert code == 2
    assert written == []
    assert not list(tmp_path.iterdir())
    assert said in output
