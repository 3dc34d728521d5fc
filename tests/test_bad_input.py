"""Every bad input gets one clear line, a status in the JSON, and the rest of the class is graded."""

import shutil
from pathlib import Path

import pytest

from tests.classes.example_class import ROOT, grade

GOOD = ROOT / "examples" / "submitted" / "untouched" / "1-attention" / "1-attention.ipynb"
NAME = "1-attention"


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
        "good": GOOD.read_bytes(),
    }
    for student, content in contents.items():
        path = submitted / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    (submitted / "missing" / NAME).mkdir(parents=True)
    unknown = submitted / "unknown" / "9-diffusion" / "9-diffusion.ipynb"
    unknown.parent.mkdir(parents=True)
    shutil.copy(GOOD, unknown)
    code, written, output = grade(folder, str(submitted), str(folder / "nowhere"))
    return code, {line["student"]: line for line in written}, output


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("empty", "the file is empty"),
        ("truncated", "not complete JSON"),
        ("latin-1", "not UTF-8"),
        ("not-a-notebook", "no list of cells"),
        ("no-exercise-cell", "no exercise cell of 1-attention"),
        ("missing", "1-attention.ipynb is missing"),
        ("unknown", "unknown assignment '9-diffusion'"),
        ("nowhere", "does not exist"),
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


def test_the_rest_of_the_class_is_graded(graded) -> None:
    assert graded[1]["good"]["status"] == "graded"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("examples/submitted", "--assignment", "9-diffusion"), "no assignment '9-diffusion'"),
        (("examples/submitted", "--device", "cuda"), "no CUDA device"),
    ],
)
def test_wrong_use_is_said_before_anything_runs(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    import torch

    if "cuda" in arguments and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    code, written, output = grade(tmp_path, *arguments)
    assert code == 2
    assert written == []
    assert said in output
