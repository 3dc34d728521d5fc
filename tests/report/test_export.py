"""Files for learning platforms, read back as those read them. No platform is here: the rules are from their
documentation, and Canvas's and Moodle's from the source of their importers."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from grader.records import CellScore, Grade, GradebookEntry, Student
from grader.report.export import CannotExport, export
from tests.report.class_of_grades import CLASS, FAULT, FULL, MISTAKEN, PARTLY, UNREADABLE, entries, from_platform


def rows(service: str, grades) -> list[list[str]]:
    text = export(service, entries(grades)).text
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_canvas():
    head, possible, *students = rows("canvas", [FULL, PARTLY, UNREADABLE])
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "1-attention"]
    assert possible == ["    Points Possible", "", "", "", "", "100"]
    assert students == [
        ["josé", "", "", "josé", "", "64"],
        ["s0001", "", "", "s0001", "", "100"],
        ["s0007", "", "", "s0007", "", "0"],
    ]


def test_canvas_knows_its_own_numbers():
    grade = replace(FULL, student="12345")
    _, _, student = csv.reader(io.StringIO(export("canvas", from_platform([grade])).text))
    assert student == ["12345", "12345", "", "", "", "100"]
    # A number that the file's name says may be a matriculation number, and another person's in Canvas.
    assert rows("canvas", [grade])[2] == ["12345", "", "", "12345", "", "100"]


def test_a_fault_has_no_row_and_hides_no_other_assignment():
    heads = replace(FULL, assignment="2-heads", score=97.5)
    assert [row[0] for row in rows("canvas", [FAULT, FULL])[2:]] == ["s0001"]
    students = rows("canvas", [FAULT, replace(heads, student="s0008"), FULL])[2:]
    assert students == [["s0001", "", "", "s0001", "", "100", ""], ["s0008", "", "", "s0008", "", "", "97.5"]]
    assert rows("canvas", [FULL, heads])[2] == ["s0001", "", "", "s0001", "", "100", "97.5"]


def of_people() -> list[GradebookEntry]:
    """Ada, with points by hand and a penalty; Bob, whose newest version is a fault; Cem, who handed in nothing."""
    ada = Student(id="4711", first_name="Ada", last_name="Lovelace", email="ada@example.org", lms_id="4711")
    cells = {"1.1": CellScore(points=7.0, max_points=5.0, by_hand=True, needs_manual_grade=True, comment="Good.")}
    entry = replace(
        GradebookEntry.of(FULL), student=ada, cells=cells, raw_score=102.0, penalty=10.0, score=92.0, seconds_late=60.0
    )
    bob = replace(GradebookEntry.of(PARTLY), student=Student(id="bob"), fault="no sandbox")
    nothing = Grade(student="4713", assignment="1-attention", status="missing", score=None, max_score=100.0)
    return [entry, bob, GradebookEntry.of(nothing)]


def test_what_people_decided_leaves_in_every_file():
    canvas = list(csv.reader(io.StringIO(export("canvas", of_people()).text)))
    assert canvas[2:] == [["Lovelace, Ada", "4711", "", "", "", "92"], ["bob", "", "", "bob", "", "64"]]
    table = list(csv.DictReader(io.StringIO(export("csv", of_people()).text)))
    ada = table[0]
    wanted = {"score": "92", "raw_score": "102", "penalty": "10", "seconds_late": "60", "1.1": "7"}
    assert {name: ada[name] for name in wanted} == wanted
    assert (ada["needs_manual_grade"], ada["email"]) == ("yes", "ada@example.org")
    assert [(row["student"], row["status"], row["score"]) for row in table] == [
        ("4711", "graded", "92"),
        ("4713", "missing", ""),
        ("bob", "fault", "64"),
    ]
    results = json.loads(export("gradescope", of_people()[:1]).text)
    assert (results["score"], results["tests"][0]["score"]) == (92.0, 7.0)
    assert results["tests"][0]["output"].endswith("**Your instructor writes:** Good.")


def test_a_third_of_a_point_leaves_as_nbgrader_has_it():
    entry = replace(GradebookEntry.of(FULL), score=1 / 3, student=Student(id="4711"))
    assert "0.333333" in export("canvas", [entry]).text
    assert "0.333333" in export("moodle", [entry]).text
    assert "0.333333" in export("csv", [entry]).text


def test_one_name_that_is_no_number_does_not_flip_moodles_worksheet():
    exported = export("moodle", of_people())
    head, *students = csv.reader(io.StringIO(exported.text))
    assert head[0] == "Identifier"
    assert [row[:2] + row[4:5] for row in students] == [["Participant 4711", "Ada Lovelace", "92.00"]]
    assert exported.left_out == ("bob",)


def test_id_numbers_that_are_numbers_here_and_there_are_no_participants():
    exported = rows("moodle", [replace(FULL, student="4711"), PARTLY])
    assert exported == [["ID number", "1-attention"], ["4711", "100"], ["josé", "64"]]


def test_moodle_worksheet_for_its_own_numbers():
    grades = [replace(FULL, student="4711"), replace(PARTLY, student="4712")]
    head, *students = csv.reader(io.StringIO(export("moodle", from_platform(grades)).text))
    needed = {name: head.index(name) for name in ("Identifier", "Grade", "Last modified (grade)", "Maximum Grade")}
    assert [[row[place] for place in needed.values()] for row in students] == [
        ["Participant 4711", "100.00", "-", "100.00"],
        ["Participant 4712", "64.00", "-", "100.00"],
    ]


def test_moodle_has_a_worksheet_for_each_assignment():
    grades = [replace(FULL, student="4711"), replace(FULL, student="4711", assignment="2-heads")]
    with pytest.raises(CannotExport, match="pass --assignment, as in 1-attention"):
        export("moodle", from_platform(grades))


def test_moodle_gradebook_import_for_other_names():
    heads = replace(FULL, assignment="2-heads", score=97.5)
    assert rows("moodle", [FULL, heads, PARTLY, FAULT]) == [
        ["ID number", "1-attention", "2-heads"],
        ["josé", "64", ""],
        ["s0001", "100", "97.5"],
    ]
    assert rows("moodle", [replace(FULL, student="ada@example.org")])[0] == ["Email address", "1-attention"]


def test_gradescope_results_of_one_submission():
    results = json.loads(export("gradescope", entries([MISTAKEN])).text)
    assert (results["score"], results["execution_time"], results["stdout_visibility"]) == (85.0, 1, "hidden")
    assert sum(test["score"] for test in results["tests"]) == results["score"]
    values, batch = (test for test in results["tests"] if test["number"].startswith("1.4."))
    assert {key: values[key] for key in ("number", "name", "score", "max_score", "status")} == {
        "number": "1.4.1",
        "name": "Attention: output and weights are the reference's",
        "score": 0.0,
        "max_score": 9.0,
        "status": "failed",
    }
    assert "allowed 1e-05" in values["output"]
    assert "**Likely cause:** Divide the scores by √d\\_k." in values["output"]
    assert (batch["status"], batch["output"]) == ("failed", "passed, but gives points only if the values are right")
    assert results["tests"][0]["status"] == "passed"


def test_gradescope_gets_no_score_from_a_fault():
    results = json.loads(export("gradescope", entries([FAULT])).text)
    assert "score" not in results
    assert "tests" not in results
    assert "You lose no points" in results["output"]
    assert json.loads(export("gradescope", entries([UNREADABLE])).text)["score"] == 0.0


def test_gradescope_results_of_a_class_are_by_student():
    assert set(json.loads(export("gradescope", entries([FULL, MISTAKEN])).text)) == {"s0001", "s0417"}
    twice = [FULL, replace(FULL, assignment="2-heads")]
    assert set(json.loads(export("gradescope", entries(twice)).text)) == {"s0001/1-attention", "s0001/2-heads"}


def test_the_table_has_every_point_flag_and_message():
    head, *students = rows("csv", CLASS)
    table = {row[0]: dict(zip(head, row, strict=True)) for row in students}
    assert head[:8] == ["student", "last_name", "first_name", "email", "assignment", "status", "score", "max_score"]
    assert (table["josé"]["1.5"], table["josé"]["flags"]) == ("9", "1.4 uses-builtin")
    assert (table["s0008"]["score"], table["s0008"]["status"]) == ("", "fault")
    assert table["s0007"]["message"] == UNREADABLE.message
    assert len(students) == len(CLASS)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "\r\n@", "＝", "＋", "－", "＠", "﹦"])
@pytest.mark.parametrize("service", ["canvas", "moodle", "csv"])
def test_no_cell_is_a_formula(service: str, start: str):
    attack = f"{start}HYPERLINK(1)"
    grades = [replace(FULL, student=attack, message=attack)]
    cells = [cell for row in rows(service, grades) for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.lstrip().startswith(tuple("=+-@＝＋－＠﹦"))]


@pytest.mark.parametrize("service", ["canvas", "moodle", "csv"])
def test_a_negative_number_is_no_formula(service: str):
    cells = [cell for row in rows(service, [replace(FULL, student="-12345", score=-2.5)]) for cell in row]
    assert {"-12345", "-2.5"} <= set(cells)
    cells = [cell for row in rows(service, [replace(FULL, student="-1+2")]) for cell in row]
    assert "'-1+2" in cells


def test_names_with_commas_quotes_and_line_breaks_stay_in_their_cell():
    name = 'Lovelace, "Ada"\nCountess'
    assert rows("moodle", [replace(FULL, student=name)])[1] == ['Lovelace, "Ada" Countess', "100"]


def test_a_service_that_is_none():
    with pytest.raises(ValueError, match=r"there is no export to 'ilias'. Choose one of canvas, blackboard, .*csv"):
        export("ilias", [FULL])
