"""Files for learning platforms, read back as those read them. No platform is here: the rules are from their
documentation, and Canvas's and Moodle's from the source of their importers."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from grader.report.export import export
from tests.report.class_of_grades import CLASS, FAULT, FULL, MISTAKEN, PARTLY, UNREADABLE


def rows(service: str, grades) -> list[list[str]]:
    text = export(service, grades)
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
    _, _, student = rows("canvas", [replace(FULL, student="12345")])
    assert student == ["12345", "12345", "", "", "", "100"]


def test_an_empty_cell_would_clear_a_score_in_canvas_so_a_fault_has_no_row():
    heads = replace(FULL, assignment="2-heads", score=97.5)
    names = [row[0] for row in rows("canvas", [FAULT, replace(heads, student="s0008"), FULL])[2:]]
    assert names == ["s0001"]
    assert rows("canvas", [FULL, heads])[2] == ["s0001", "", "", "s0001", "", "100", "97.5"]


def test_moodle_worksheet_for_its_own_numbers():
    head, *students = rows("moodle", [replace(FULL, student="4711"), replace(PARTLY, student="4712")])
    needed = {
        name: head.index(name) for name in ("Identifier", "Grade", "Last modified (grade)", "Maximum Grade")
    }
    assert [[row[place] for place in needed.values()] for row in students] == [
        ["Participant 4711", "100.00", "-", "100.00"],
        ["Participant 4712", "64.00", "-", "100.00"],
    ]


def test_moodle_gradebook_import_for_other_names():
    heads = replace(FULL, assignment="2-heads", score=97.5)
    assert rows("moodle", [FULL, heads, PARTLY, FAULT]) == [
        ["ID number", "1-attention", "2-heads"],
        ["josé", "64", ""],
        ["s0001", "100", "97.5"],
    ]
    assert rows("moodle", [replace(FULL, student="ada@example.org")])[0] == ["Email address", "1-attention"]


def test_gradescope_results_of_one_submission():
    results = json.loads(export("gradescope", [MISTAKEN]))
    assert (results["score"], results["execution_time"], results["stdout_visibility"]) == (85.0, 1, "hidden")
    assert sum(test["score"] for test in results["tests"]) == results["score"]
    attention = results["tests"][3]
    assert {key: attention[key] for key in ("number", "name", "score", "max_score", "status")} == {
        "number": "1.4",
        "name": "Attention (attention)",
        "score": 0.0,
        "max_score": 15.0,
        "status": "failed",
    }
    assert attention["output"].endswith("allowed 1e-05\nHint: Divide the scores by √d_k.")
    assert results["tests"][0]["status"] == "passed"


def test_gradescope_gets_no_score_from_a_fault():
    results = json.loads(export("gradescope", [FAULT]))
    assert "score" not in results
    assert "tests" not in results
    assert "costs you nothing" in results["output"]
    assert json.loads(export("gradescope", [UNREADABLE]))["score"] == 0.0


def test_gradescope_results_of_a_class_are_by_student():
    assert set(json.loads(export("gradescope", [FULL, MISTAKEN]))) == {"s0001", "s0417"}
    twice = [FULL, replace(FULL, assignment="2-heads")]
    assert set(json.loads(export("gradescope", twice))) == {"s0001/1-attention", "s0001/2-heads"}


def test_the_table_has_every_point_flag_and_message():
    head, *students = rows("csv", CLASS)
    table = {row[0]: dict(zip(head, row, strict=True)) for row in students}
    assert head[:8] == ["student", "assignment", "status", "score", "max_score", "1.1", "1.2", "1.3"]
    assert (table["josé"]["1.5"], table["josé"]["flags"]) == ("9", "1.4 uses-builtin")
    assert (table["s0008"]["score"], table["s0008"]["status"]) == ("", "fault")
    assert table["s0007"]["message"] == UNREADABLE.message
    assert len(students) == len(CLASS)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "\r\n@"])
@pytest.mark.parametrize("service", ["canvas", "moodle", "csv"])
def test_no_cell_is_a_formula(service: str, start: str):
    attack = f"{start}HYPERLINK(1)"
    grades = [replace(FULL, student=attack, message=attack)]
    cells = [cell for row in rows(service, grades) for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]


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
    with pytest.raises(
        ValueError, match=r"no export to 'blackboard'; there are canvas, moodle, gradescope, csv"
    ):
        export("blackboard", [FULL])
