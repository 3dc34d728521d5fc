"""Canvas's table, filled into an export of its gradebook as lib/gradebook_exporter.rb of canvas-lms writes it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from grader.records import Grade, GradebookEntry, Student
from grader.report.export import CannotExport, WrongOwnFile, export
from grader.report.services.csv_table import read_table
from tests.report.class_of_grades import FULL, PARTLY, entries, from_platform

ADA, BOB = replace(FULL, student="12"), replace(PARTLY, student="13")
# Names as Canvas writes them: one that begins with = in quotes, as a spreadsheet would run it.
OWN = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Lab 1 (87568490),1-attention (901),Final Score\r\n"
    ",,,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,,20.00,100.00,(read only)\r\n"
    '"Lovelace, Ada",12,s-12,ada,"Monday_A, 1+1",,,,\r\n'
    '"=""=1+1""",13,s-13,ünal_x,Tuesday,,17,,\r\n'
    '"Student, Test",99,,,Tuesday,,,,\r\n'
)


def rows(grades: list[Grade], **options: str) -> list[list[str]]:
    text = export("canvas", from_platform(grades), **options).text
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize(
    ("column", "head"),
    [
        ("", "1-attention"),
        ("Lab 1 (87568490)", "Lab 1 (87568490)"),
        ("87568490", "1-attention (87568490)"),
        ("Lab 1", "Lab 1"),
    ],
)
def test_the_column_has_the_head_that_canvas_goes_by(column: str, head: str) -> None:
    assert rows([ADA], column=column)[0][-1] == head


def test_one_column_is_for_one_assignment() -> None:
    with pytest.raises(CannotExport, match="pass --assignment, as in 1-attention"):
        rows([ADA, replace(ADA, assignment="2-heads")], column="87568490")


@pytest.mark.parametrize("column", ["901", "1-attention", "1-attention (901)", ""])
def test_what_canvas_says_of_the_students_is_kept(column: str) -> None:
    assert rows([ADA, BOB], column=column, own=OWN) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "1-attention (901)"],
        ["    Points Possible", "", "", "", "", "100"],
        ["Lovelace, Ada", "12", "s-12", "ada", "Monday_A, 1+1", "100"],
        ['\'="=1+1"', "13", "s-13", "ünal_x", "Tuesday", "64"],
    ]


def test_who_is_not_in_canvas_is_named() -> None:
    exported = export("canvas", from_platform([ADA, replace(FULL, student="77")]), own=OWN)
    assert exported.left_out == ("77",)
    assert "77" not in exported.text


@pytest.mark.parametrize("login", ["ada", "s-12"])
def test_without_canvas_s_number_login_and_school_s_number_count(login: str) -> None:
    text = export("canvas", entries([replace(FULL, student=login)]), own=OWN).text
    assert '"Lovelace, Ada",12,s-12,ada,' in text
    # 12 as a name of ours is not Canvas's number.
    assert export("canvas", entries([ADA]), own=OWN).left_out == ("12",)


def test_another_number_of_points_in_canvas_is_said() -> None:
    assert export("canvas", from_platform([ADA]), own=OWN).remarks == ()
    said = export("canvas", from_platform([ADA]), own=OWN, column="Lab 1").remarks
    assert said == ("Canvas has 20.00 maximum points for 'Lab 1 (87568490)', but the gradebook has 100",)


@pytest.mark.parametrize(
    ("own", "column", "message"),
    [
        ("a,b\r\n1,2\r\n", "", "lacks the columns ID and Section"),
        ("", "", "it is empty"),
        (OWN, "4711", r"has no column '4711'; pass --column, one of: Lab 1 \(87568490\), 1-attention \(901\)"),
        (OWN.replace("Lab 1 (87568490)", "1-attention (87568490)"), "1-attention", "has several columns"),
        ('"Student,ID', "", "it is not a CSV file|lacks the columns ID"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(own: str, column: str, message: str) -> None:
    with pytest.raises((CannotExport, WrongOwnFile), match=message):
        export("canvas", from_platform([ADA]), own=own or "\n", column=column)


def test_semicolons_and_a_byte_order_mark_are_read() -> None:
    own = "\N{BYTE ORDER MARK}" + OWN.replace('"Monday_A, 1+1"', "Monday").replace(",", ";").replace(
        '"Lovelace; Ada"', '"Lovelace, Ada"'
    )
    assert rows([ADA], own=own)[0][0] == "Student"
    assert rows([ADA], own=own)[2] == ["Lovelace, Ada", "12", "s-12", "ada", "Monday", "100"]


def test_a_short_row_is_as_long_as_the_head() -> None:
    assert read_table("a,b,c\r\n1\r\n") == [["a", "b", "c"], ["1", "", ""]]


def test_a_student_without_a_score_is_in_no_row() -> None:
    nothing = GradebookEntry.of(replace(FULL, student="13", status="fault", score=None))
    nothing = replace(nothing, student=Student(id="13", lms_id="13"))
    exported = export("canvas", [*from_platform([ADA]), nothing], own=OWN)
    assert (",13," in exported.text, exported.left_out) == (False, ())
