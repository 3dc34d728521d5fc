import json
import zipfile
from pathlib import Path

import pytest

from grader.submission.file import Unavailable, Unreadable
from grader.submission.intake import find, read

KNOWN = ("1-attention", "2-heads")
BOOK = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}]})


def archive(path: Path, *names: str | zipfile.ZipInfo, content: str = BOOK) -> Path:
    with zipfile.ZipFile(path / "class.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, content)
    return path / "class.zip"


@pytest.mark.parametrize(
    ("name", "student", "assignment"),
    [
        ("lovelaceada_12345_678910_1-attention.ipynb", "12345", "1-attention"),
        ("lovelaceada_LATE_12345_678910_1-attention-2.ipynb", "12345", "1-attention"),
        ("lovelaceada_12345_678910_2-heads (1).ipynb", "12345", "2-heads"),
        ("Ada Lovelace_4711_assignsubmission_file_/1-attention.ipynb", "4711", "1-attention"),
        ("Ada Lovelace_4711_assignsubmission_file/2-heads.ipynb", "4711", "2-heads"),
        ("submitted/zoë/1-attention/1-attention.ipynb", "zoë", "1-attention"),
        ("zoë/1-attention/1-attention.ipynb", "zoë", "1-attention"),
        ("de_la_cruz_12345_678910_1-attention.ipynb", "12345", "1-attention"),
        ("o2_12345_678910_1-attention-1.IPYNB", "12345", "1-attention"),
        ("submissions/李娜_LATE_12345_678910_Copy of 1-attention.ipynb", "12345", "1-attention"),
        ("anon_x7Kq2_678910_1-attention.ipynb", "x7Kq2", "1-attention"),
        ("LATE_anon_x7Kq2_678910_2-heads.ipynb", "x7Kq2", "2-heads"),
        ("Ada Lovelace_4711_assignsubmission_file_1-attention.ipynb", "4711", "1-attention"),
        ("Participant_4711_assignsubmission_file/work/2-heads-Copy1.ipynb", "4711", "2-heads"),
        ("class/Group A_31_assignsubmission_file/2-heads (2).ipynb", "31", "2-heads"),
        ("ada/1-attention.ipynb", "ada", "1-attention"),
    ],
)
def test_the_services_layouts_are_known(tmp_path: Path, name: str, student: str, assignment: str) -> None:
    (found,) = find(archive(tmp_path, name, "__MACOSX/._x.ipynb", "readme.txt"), KNOWN)
    assert (found.student, found.assignment) == (student, assignment)
    assert read(found).cells[0].source == "x = 1"


def test_the_assignment_may_be_named_by_the_grader(tmp_path: Path) -> None:
    path = archive(tmp_path, "lovelaceada_12345_678910_homework.ipynb")
    with pytest.raises(Unreadable, match="pass --assignment"):
        list(find(path, KNOWN))
    (found,) = find(path, KNOWN, "2-heads")
    assert found.assignment == "2-heads"


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../1-attention.ipynb", "points outside"),
        ("a/../../x_1_2_1-attention.ipynb", "points outside"),
        ("/etc/x.ipynb", "points outside"),
        ("C:/x.ipynb", "points outside"),
        ("a/" * 8000 + "x.ipynb", "lies in more than 20 folders"),
        ("a\nb_1_2_1-attention.ipynb", "no service writes"),
        (link("x_1_2_1-attention.ipynb"), "link or a device"),
    ],
)
def test_a_zip_that_cannot_be_trusted_is_refused_whole(tmp_path: Path, name, said: str) -> None:
    path = archive(tmp_path, "good_1_2_1-attention.ipynb", name)
    with pytest.raises(Unreadable, match=said):
        list(find(path, KNOWN))


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path, "x_1_2_1-attention.ipynb", content=" " * (8 << 20))
    with pytest.raises(Unreadable, match="from next to nothing"):
        list(find(path, KNOWN))


def test_a_file_that_nobody_opens_may_unpack_to_much(tmp_path: Path) -> None:
    path = archive(tmp_path, "x_1_2_zeros.csv", content=" " * (8 << 20))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("y_4_5_1-attention.ipynb", BOOK)
    assert [one.student for one in find(path, KNOWN)] == ["1", "4"]


def test_two_notebooks_of_one_student_are_not_chosen_between_and_the_others_are_graded(tmp_path: Path) -> None:
    path = archive(tmp_path, "x_1_2_1-attention.ipynb", "x_1_3_1-attention-1.ipynb", "y_4_5_1-attention.ipynb")
    twice, once = find(path, KNOWN)
    with pytest.raises(Unavailable, match=r"two notebooks of 1 for 1-attention: .*Remove all but one"):
        read(twice)
    assert read(once).cells


def test_a_notebook_that_goes_with_the_submission_is_left_alone(tmp_path: Path) -> None:
    names = ("x_1_2_1-attention.ipynb", "x_1_3_scratch.ipynb", "x_1_4_notes.pdf", "._x_1_2_1-attention.ipynb")
    for only in (None, "1-attention"):
        (found,) = find(archive(tmp_path, *names), KNOWN, only)
        assert found.member == "x_1_2_1-attention.ipynb"


def test_a_renamed_notebook_counts_where_the_rest_of_the_zip_says_the_assignment(tmp_path: Path) -> None:
    zipped = archive(tmp_path, "x_1_2_my homework.ipynb", "y_4_5_2-heads.ipynb", "z_6_7_final.ipynb")
    assert {(one.student, one.assignment) for one in find(zipped, KNOWN)} == {
        ("1", "2-heads"),
        ("4", "2-heads"),
        ("6", "2-heads"),
    }
    zipped = archive(tmp_path, "x_1_2_a.ipynb", "x_1_3_b.ipynb", "y_4_5_2-heads.ipynb")
    problems = {one.student: one.problem for one in find(zipped, KNOWN)}
    assert problems["4"] is None
    assert problems["1"].message.startswith("two notebooks of 1")
    assert problems["1"].status == "fault"


def test_a_plain_zip_is_by_folder_or_with_the_assignment_by_file(tmp_path: Path) -> None:
    zipped = archive(tmp_path, "ada.ipynb", "zoë.ipynb")
    with pytest.raises(Unreadable, match="pass --assignment"):
        list(find(zipped, KNOWN))
    assert [one.student for one in find(zipped, KNOWN, "2-heads")] == ["ada", "zoë"]
    zipped = archive(tmp_path, "ada/1-attention.ipynb", "zoë/anything.ipynb", "1-attention/2-heads.ipynb")
    found = [(one.student, one.assignment) for one in find(zipped, KNOWN)]
    assert found == [("ada", "1-attention"), ("zoë", "1-attention")]


def test_a_digit_of_another_script_is_no_id(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="contains no submission"):
        list(find(archive(tmp_path, "x_١٢_٣٤_1-attention.ipynb"), KNOWN))


def test_a_damaged_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    path.write_bytes(b"PK not really")
    with pytest.raises(Unreadable, match="cannot be read as a zip"):
        list(find(path, KNOWN))


def test_a_damaged_member_costs_only_itself(tmp_path: Path) -> None:
    path = archive(tmp_path, "a_1_2_1-attention.ipynb", "b_2_3_1-attention.ipynb")
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        start = file.getinfo("a_1_2_1-attention.ipynb").header_offset
    content[start + 60] ^= 0xFF
    path.write_bytes(content)
    first, second = find(path, KNOWN)
    with pytest.raises(Unreadable, match="Download the zip again") as raised:
        read(first)
    assert not raised.value.problem.proven  # the student may have handed in a good file
    assert read(second).cells[0].source == "x = 1"
