"""Everybody in a zip or folder is a row: whose it is, which file counts, and why nothing does."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from grader.submission import folder_or_zip
from grader.submission.file import SubmissionFile, Unreadable, name_problem
from grader.submission.intake import DuplicateSubmission, find, find_all, read

KNOWN = ("1-attention", "2-heads")
EXERCISES = {"1.1": "1-attention", "1.2": "1-attention", "2.1": "2-heads"}


def book(source: str = "x = 1") -> str:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": source}]})


LESSON_1, LESSON_2 = book("# @exercise 1.1\nf = 1"), book("# @exercise 2.1\ng = 1")
Files = dict[str, str] | Iterable[str]


def packed(place: Path, files: Files) -> Path:
    contents = files if isinstance(files, dict) else dict.fromkeys(files, LESSON_1)
    with zipfile.ZipFile(place / "class.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return place / "class.zip"


def unpacked(place: Path, files: Files) -> Path:
    with zipfile.ZipFile(packed(place, files)) as archive:
        archive.extractall(place / "class")
    return place / "class"


either = pytest.mark.parametrize("lay", [packed, unpacked], ids=["zip", "folder"])


def rows(path: Path, only: str | None = None) -> dict[str, SubmissionFile]:
    found = list(find(path, KNOWN, only, EXERCISES))
    assert len({file.student for file in found}) == len(found)
    return {file.student: file for file in found}


def said(file: SubmissionFile) -> tuple[str, str]:
    return (file.problem.status, file.problem.message) if file.problem else ("", "")


CANVAS = (
    "lovelaceada_12_901_1-attention.ipynb",
    "hoppergrace_LATE_13_902_report.pdf",
    "turingalan_14_903_answer.py",
    "noetheremmy_15_904_work.zip",
    "gaussfriedrich_16_text.html",
    "eulerleonhard_17_link.html",
    "both_18_905_1-attention.ipynb",
    "both_18_906_1-attention.pdf",
    "twice_19_907_1-attention.ipynb",
    "twice_19_908_1-attention-1.ipynb",
)


@either
def test_everybody_in_a_canvas_zip_is_a_row(tmp_path: Path, lay) -> None:
    found = rows(lay(tmp_path, CANVAS))
    assert set(found) == {"12", "13", "14", "15", "16", "17", "18", "19"}
    assert {file.assignment for file in found.values()} == {"1-attention"}
    reasons = {student: said(file) for student, file in found.items()}
    assert reasons.pop("12") == reasons.pop("18") == ("", "")
    status, message = reasons.pop("19")
    assert status == "fault"
    assert "two notebooks of 19" in message
    for student, name in {
        "13": "report.pdf", "14": "answer.py", "15": "work.zip", "16": "text.html", "17": "link.html",
    }.items():  # fmt: skip
        assert reasons.pop(student) == ("unreadable", f"not a notebook: {name}. Submit the .ipynb file.")
    assert not reasons
    assert {student for student, file in found.items() if file.late} == {"13"}
    assert (found["12"].name, found["13"].name) == ("lovelaceada", "hoppergrace")


@either
def test_everybody_in_an_anonymous_canvas_zip_is_a_row(tmp_path: Path, lay) -> None:
    found = rows(lay(tmp_path, ("anon_x7Kq2_9_1-attention.ipynb", "LATE_anon_Zb3_8_a.pdf", "anon_Qq1_text.html")))
    assert {student: (file.name, file.late) for student, file in found.items()} == {
        "x7Kq2": ("", False), "Zb3": ("", True), "Qq1": ("", False),
    }  # fmt: skip
    assert [said(found[student])[0] for student in ("x7Kq2", "Zb3", "Qq1")] == ["", "unreadable", "unreadable"]


@either
@pytest.mark.parametrize("join", ["/", "_"], ids=["with folders", "without"])
def test_everybody_in_a_moodle_zip_is_a_row(tmp_path: Path, lay, join: str) -> None:
    names = [
        f"Ada Lovelace_21_assignsubmission_file{join}1-attention.ipynb",
        f"Ada Lovelace_21_assignsubmission_onlinetext{join}onlinetext.html",
        f"Grace Hopper_22_assignsubmission_file{join}report.pdf",
        f"Grace Hopper_22_assignsubmission_file{join}answer.py",
        f"Emmy Noether_23_assignsubmission_onlinetext{join}onlinetext.html",
        f"Participant_24_assignsubmission_file{join}work.zip",
        f"Leonhard Euler_25_assignsubmission_file{join}a.ipynb",
        f"Leonhard Euler_25_assignsubmission_file{join}b.ipynb",
        f"Default group_assignsubmission_file{join}x.pdf",
    ]
    found = rows(lay(tmp_path, names))
    assert {student: file.name for student, file in found.items()} == {
        "21": "Ada Lovelace", "22": "Grace Hopper", "23": "Emmy Noether", "24": "", "25": "Leonhard Euler",
        "Default group": "Default group",
    }  # fmt: skip
    assert said(found["21"]) == ("", "")
    assert read(found["21"]).cells
    status, message = said(found["22"])
    assert status == "unreadable"
    assert "report.pdf" in message
    assert "answer.py" in message
    assert said(found["23"]) == ("unreadable", "not a notebook: onlinetext.html. Submit the .ipynb file.")
    assert said(found["24"])[1].startswith("not a notebook: work.zip")
    assert said(found["25"])[0] == "fault"
    assert {file.assignment for file in found.values()} == {"1-attention"}


@either
@pytest.mark.parametrize(
    ("names", "student"),
    [
        (["Eve Black_99_assignsubmission_file_Ada_4711_assignsubmission_file_1-attention.ipynb"], "99"),
        (["Eve Black_99_assignsubmission_file/Ada_4711_assignsubmission_file_1-attention.ipynb"], "99"),
        (["Eve Black_99_assignsubmission_file/Ada_4711_assignsubmission_file/1-attention.ipynb"], "99"),
        (["Eve Black_99_assignsubmission_file/x_4711_5_1-attention.ipynb"], "99"),
        (["blackeve_99_5_Ada_4711_assignsubmission_file_1-attention.ipynb"], "99"),
        (["blackeve_99_5_lovelace_LATE_4711_6_1-attention.ipynb"], "99"),
        (["anon_Ev3_5_anon_Ad4_6_1-attention.ipynb"], "Ev3"),
        (["submitted/eve/1-attention/Ada_4711_assignsubmission_file_1-attention.ipynb"], "eve"),
        (["Group_assignsubmission_file_Ada_4711_assignsubmission_file_1-attention.ipynb"], "Group"),
    ],
)
def test_nobody_becomes_somebody_else_by_the_name_of_a_file(tmp_path: Path, lay, names, student: str) -> None:
    (file,) = rows(lay(tmp_path, names), "1-attention").values()
    assert (file.student, file.late) == (student, False)


@either
def test_two_people_who_claim_one_id_are_a_fault_that_names_both(tmp_path: Path, lay) -> None:
    names = ("lovelaceada_47_1_1-attention.ipynb", "black_47_99_2_1-attention.ipynb", "x_50_3_1-attention.ipynb")
    found = rows(lay(tmp_path, names))
    assert set(found) == {"47", "50"}
    status, message = said(found["47"])
    assert status == "fault"
    assert all(name in message for name in names[:2])


@either
def test_nbgraders_layout_has_a_row_for_everybody(tmp_path: Path, lay) -> None:
    files = {
        "submitted/ada/1-attention/1-attention.ipynb": LESSON_1,
        "submitted/ada/1-attention/1-attention-Copy1.ipynb": LESSON_1,
        "submitted/ada/1-attention/.ipynb_checkpoints/1-attention-checkpoint.ipynb": LESSON_1,
        "submitted/bob/1-attention/my notebook.ipynb": LESSON_1,
        "submitted/bob/1-attention/timestamp.txt": "",
        "submitted/cyd/1-attention/1-attention (1).ipynb": LESSON_1,
        "submitted/dan/1-attention/report.pdf": "",
        "submitted/eve/1-attention.ipynb": LESSON_1,
        "submitted/fay/1-attention/draft.ipynb": LESSON_2,
        "submitted/fay/1-attention/final.ipynb": LESSON_1,
        "submitted/guy/1-attention/a.ipynb": LESSON_1,
        "submitted/guy/1-attention/b.ipynb": LESSON_1,
        "submitted/hal/2-heads/2-heads.ipynb": LESSON_2,
        "submitted/ian/1-attention/": "",
        "submitted/jim/report.docx": "",
        "submitted/.DS_Store": "",
        "submitted/ada/Thumbs.db": "",
        "__MACOSX/submitted/._ada": "",
        "roster.csv": "",
    }
    path = lay(tmp_path, files)
    found = rows(path, "1-attention")
    assert "hal" in rows(path)
    assert set(found) == {"ada", "bob", "cyd", "dan", "eve", "fay", "guy", "ian", "jim"}
    assert [found[student].problem for student in ("ada", "bob", "cyd", "eve", "fay")] == [None] * 5
    assert found["ada"].place.endswith("1-attention/1-attention.ipynb")
    assert [found[student].note for student in ("ada", "bob", "cyd", "fay")] == [
        "",
        "submitted as 'my notebook.ipynb', graded as 1-attention",
        "submitted as '1-attention (1).ipynb', graded as 1-attention",
        "submitted as 'final.ipynb', graded as 1-attention",
    ]
    assert said(found["dan"])[0] == said(found["jim"])[0] == "unreadable"
    assert said(found["guy"])[0] == "fault"
    status, message = said(found["ian"])
    assert status == "fault"
    assert "1-attention.ipynb is missing" in message


@either
def test_a_flat_folder_is_one_person_a_file(tmp_path: Path, lay) -> None:
    files = {
        "4711.ipynb": LESSON_1, "4712.ipynb": LESSON_1, "4713.pdf": "", "4714.ipynb": "{ cut off",
        "4711.pdf": "", "1-attention (1).ipynb": LESSON_1, "readme.txt": "", "roster.csv": "",
    }  # fmt: skip
    path = lay(tmp_path, files)
    for only in (None, "1-attention"):
        found = rows(path, only)
        assert set(found) == {"4711", "4712", "4713", "4714", "1-attention (1)"}
        assert {file.assignment for file in found.values()} == {"1-attention"}
        assert said(found["4713"])[0] == "unreadable"
        assert [said(found[student])[0] for student in ("4711", "4712", "4714")] == [""] * 3


@either
def test_the_courses_own_folders_are_nobodys(tmp_path: Path, lay) -> None:
    own = ["notebooks/1-attention/1-attention.ipynb", "solutions/1-attention/1-attention.ipynb"]
    with pytest.raises(Unreadable, match="contains no submission"):
        rows(lay(tmp_path, [*own, "README.md"]))
    (tmp_path / "other").mkdir()
    found = rows(lay(tmp_path / "other", [*own, "ada/1-attention/1-attention.ipynb"]))
    assert [student for student, file in found.items() if not file.problem] == ["ada"]


@either
@pytest.mark.parametrize(
    "place", ["{}/1-attention/1-attention.ipynb", "{}/1-attention.ipynb", "submitted/{}/1-attention/a.ipynb"]
)
@pytest.mark.parametrize(
    "student",
    [
        "notebooks", "solutions", "__MACOSX", "feedback", "Thumbs.db", "desktop.ini", "timestamp.txt", "class.html",
        "Class.HTML", "class.html.4711.partial", "\uff43lass.html",
    ],
)  # fmt: skip
def test_a_name_that_is_also_a_file_of_the_course_is_refused_by_name(
    tmp_path: Path, lay, student: str, place: str
) -> None:
    """Some were graded until their folder met that file; others were passed over without a word."""
    found = rows(lay(tmp_path, [place.format(name) for name in ("ada", student, "zoe")]))
    assert set(found) == {"ada", student, "zoe"}
    assert said(found[student])[0] == "unreadable"
    assert "the course has files of this name; rename the folder" in said(found[student])[1]
    assert not found[student].problem.proven  # a recorded score stays
    assert (found["ada"].problem, found["zoe"].problem) == (None, None)


@either
def test_what_programs_leave_is_still_nobodys(tmp_path: Path, lay) -> None:
    names = [
        "ada/1-attention/1-attention.ipynb", "__MACOSX/._ada", "__MACOSX/ada/1-attention/._1-attention.ipynb",
        "ada/1-attention/feedback/2030/1-attention.html", "ada/1-attention/feedback/1-attention.ipynb",
        "ada/1-attention/__MACOSX/1-attention.ipynb", "feedback/ada/1-attention/1-attention.html",
        "ada/1-attention/.ipynb_checkpoints/1-attention-checkpoint.ipynb", "timestamp.txt",
    ]  # fmt: skip
    found = rows(lay(tmp_path, names))
    assert {student: file.problem for student, file in found.items()} == {"ada": None}


@either
def test_a_student_who_is_called_like_an_assignment_is_not_passed_over(tmp_path: Path, lay) -> None:
    found = rows(lay(tmp_path, [f"{name}/1-attention/1-attention.ipynb" for name in ("ada", "2-heads", "1-attention")]))
    assert {student: file.problem for student, file in found.items()} == {
        "ada": None,
        "2-heads": None,
        "1-attention": None,
    }


@pytest.mark.parametrize(
    "student", ["Ada", "ADA", "CON", "aux", "nul.ipynb", "ada.", "ada lovelace", "classs.html", "class", "class.htm", "Notebook", "漢" * 85]
)  # fmt: skip
def test_a_name_that_no_other_file_has_here_is_a_student(student: str) -> None:
    assert name_problem(student) is None


UNSEEN = {
    "turned around": "a\u202eda", "isolated": "a\u2066da", "mark": "ada\u200f", "zero width": "a\u200bda", "joiner": "a\u200dda",
    "byte order": "\ufeffada", "soft hyphen": "a\xadda", "tag": "ada\U000e0061", "selector": "ada\ufe0f", "filler": "a\u3164da",
    "grapheme joiner": "a\u034fda", "Braille blank": "ada\u2800", "line": "ada\u2028", "blank": "ada ", "first": " ada",
    "no-break": "ada\xa0lovelace", "wide blank": "ada\u3000", "tab": "ada\t", "line feed": "ada\n", "half": "ada\udc80", "too long": "漢" * 86,
    "nothing": "", "only a blank": " ",
}  # fmt: skip


@pytest.mark.parametrize("student", UNSEEN.values(), ids=UNSEEN)
def test_two_names_that_look_alike_are_not_two_students(student: str) -> None:
    assert name_problem(student) is not None


@either
def test_where_no_name_says_the_assignment_the_cells_do(tmp_path: Path, lay) -> None:
    found = rows(lay(tmp_path, {"4711.ipynb": LESSON_1, "4712.ipynb": LESSON_2, "4713.ipynb": book()}))
    assert [found[student].assignment for student in ("4711", "4712", "4713")] == ["1-attention", "2-heads", ""]
    assert found["4711"].note == "submitted as '4711.ipynb', graded as 1-attention"
    assert said(found["4713"]) == ("fault", "cannot determine the assignment. Pass --assignment")
    (tmp_path / "other").mkdir()
    with pytest.raises(Unreadable, match="pass --assignment"):
        rows(lay(tmp_path / "other", {"9.ipynb": book()}))


def test_one_notebook_with_another_name_is_known_by_its_cells(tmp_path: Path) -> None:
    (tmp_path / "homework.ipynb").write_text(LESSON_2)
    (file,) = rows(tmp_path / "homework.ipynb").values()
    assert (file.student, file.assignment) == ("homework", "2-heads")
    assert file.note == "submitted as 'homework.ipynb', graded as 2-heads"


def test_a_students_own_folder_is_the_students(tmp_path: Path) -> None:
    path = unpacked(tmp_path, ["ada/1-attention/1-attention.ipynb"]) / "ada"
    assert set(rows(path)) == {"ada"}
    path = unpacked(tmp_path, ["Ada Lovelace_21_assignsubmission_file/1-attention.ipynb"])
    assert set(rows(path / "Ada Lovelace_21_assignsubmission_file")) == {"21"}


def test_a_courses_name_is_no_students(tmp_path: Path) -> None:
    """Canvas calls the zip `cs_101_2026_attention_submissions`, and so does the folder that it is unpacked into."""
    names = [f"cs_101_2026_submissions/{student}/1-attention.ipynb" for student in ("ada", "bob")]
    assert set(rows(packed(tmp_path, names))) == {"ada", "bob"}


@either
def test_who_handed_in_another_lesson_in_a_services_zip_is_a_row_too(tmp_path: Path, lay) -> None:
    """The zip is of one assignment. In nbgrader's layout, other assignments lie in folders of their own."""
    found = rows(lay(tmp_path, ["ada_12_901_1-attention.ipynb", "bob_13_902_2-heads.ipynb"]), "1-attention")
    assert {student: file.assignment for student, file in found.items()} == dict.fromkeys(("12", "13"), "1-attention")
    assert found["13"].note == "submitted as '2-heads.ipynb', graded as 1-attention"


def test_much_that_lies_in_one_folder_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_or_zip, "MOST_FOLDERS", 5)
    monkeypatch.setattr(folder_or_zip, "MOST_OTHERS", 7)
    files = [f"ada/1-attention/{number}.txt" for number in range(20)]
    files += [f"ada/1-attention/a/b/{number}/x.txt" for number in range(20)]
    files += ["ada/1-attention/c/d/e/f/g/h/i/j/k/deep.txt"]
    files += ["ada/1-attention/1-attention.ipynb", "bob/1-attention/1-attention.ipynb"]
    path = unpacked(tmp_path, files)
    listed = ["/".join(entry.parts) for entry in folder_or_zip.list_folder(path)]
    assert sum(name.startswith("class/ada/1-attention/") and name.count("/") == 3 for name in listed) == 8
    assert sum("/a/b/" in name for name in listed) < 6
    assert not [name for name in listed if "deep" in name]
    assert [file.problem for file in rows(path).values()] == [None, None]


def test_several_paths_are_one_class(tmp_path: Path) -> None:
    zipped = packed(tmp_path, CANVAS[:2])
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(zipped.read_bytes()[:-30])
    files, failed = find_all([damaged, zipped], KNOWN, None, EXERCISES)
    assert [file.student for file in files] == ["12", "13"]
    assert [(file.student, *said(file)[:1]) for file in failed] == [("damaged", "unreadable")]
    with pytest.raises(DuplicateSubmission, match="12 submitted 1-attention twice"):
        find_all([zipped, zipped], KNOWN)


@either
def test_documents_without_any_notebook_are_nobodys_submissions(tmp_path: Path, lay) -> None:
    """`grader grade ~/Downloads --assignment 1-attention` makes no students of what lies there."""
    path = lay(tmp_path, ["bill.pdf", "photos/trip.pdf", "letter.docx"])
    for only in (None, "1-attention"):
        with pytest.raises(Unreadable, match="contains no submission"):
            rows(path, only)
    (tmp_path / "more").mkdir()
    with_one = lay(tmp_path / "more", ["4711.ipynb", "4712.pdf"])
    assert set(rows(with_one, "1-attention")) == {"4711", "4712"}
