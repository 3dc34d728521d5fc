"""The tables of Blackboard, Brightspace, Sakai and OpenOlat, by the rules that their importers have."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from grader.records import GradebookEntry, Student
from grader.report.export import export
from grader.report.services.csv_table import CannotExport, WrongOwnFile
from grader.report.services.roster import read_roster
from tests.report.class_of_grades import MISTAKEN, entries

NAME = "1-attention"
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t'
    '"Lab 1 [Total Pts: 100 Score] |664617"\t"Lab 2 [Total Pts: 50 Score] |664618"\n'
    '"Lovelace"\t"Ada"\t"{0}"\t"4711"\t"2026-11-20"\t"Yes"\t""\t""\n'
    '"Hopper"\t"Grace"\t"grace"\t"4712"\t"2026-11-20"\t"Yes"\t""\t""\n'
)
BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,First Name,Email,Lab 1 Points Grade <Numeric MaxPoints:100>,End-of-Line Indicator\n"
    "#4711,#{0},Lovelace,Ada,ada@example.org,,#\n#4712,#grace,Hopper,Grace,grace@example.org,,#\n"
)
SAKAI = (
    '"Lab 1","SCORE_GRADE_TYPE"\n\n"Display ID","ID","Last Name","First Name","grade","Submission date"\n'
    '"{0}","{0}","Lovelace","Ada","",""\n"grace","grace","Hopper","Grace","7","2026"\n'
)
OWN = {"blackboard": BLACKBOARD, "brightspace": BRIGHTSPACE, "sakai": SAKAI}


@pytest.fixture(scope="module")
def scores() -> list[GradebookEntry]:
    """What the gradebook says of one graded student."""
    return entries([MISTAKEN])


def cells(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def who(found, **about: str):
    return [replace(entry, student=Student(**{"id": entry.student.id, **about})) for entry in found]


def test_blackboards_table_is_utf_16_with_tabs_and_the_columns_number(scores) -> None:
    column = "Lab 1 [Total Pts: 100 Score] |664617"
    exported = export("blackboard", scores, column=column)
    assert exported.encoding == "utf-16"
    assert exported.text.startswith('"Username"\t')
    assert cells(exported.text, "\t") == [["Username", column], [scores[0].student.id, f"{scores[0].score:g}"]]


@pytest.mark.parametrize("column", ["", "Lab 1", "664617"])
def test_blackboard_without_a_numbered_column_would_get_a_column_of_text(scores, column: str) -> None:
    with pytest.raises(CannotExport, match="Pass --column, as in 'Lab 1"):
        export("blackboard", scores, column=column)


def test_blackboards_own_file_gives_the_column_by_its_number(scores) -> None:
    own = BLACKBOARD.format(scores[0].student.id)
    exported = export("blackboard", scores, column="664618", own=own)
    assert cells(exported.text, "\t")[0] == ["Username", "Lab 2 [Total Pts: 50 Score] |664618"]
    with pytest.raises(CannotExport, match=r"Lab 1 .*Lab 2"):
        export("blackboard", scores, own=own)


def test_brightspaces_rows_end_with_a_hash_and_the_head_has_the_points(scores) -> None:
    exported = export("brightspace", scores, column="Lab 1")
    assert cells(exported.text) == [
        ["Username", "Lab 1 Points Grade <Numeric MaxPoints:100>", "End-of-Line Indicator"],
        [scores[0].student.id, f"{scores[0].score:g}", "#"],
    ]
    exported = export("brightspace", scores, own=BRIGHTSPACE.format(scores[0].student.id))
    assert cells(exported.text)[0][:2] == ["OrgDefinedId", "Username"]
    assert cells(exported.text)[1][:2] == ["#4711", f"#{scores[0].student.id}"]


def test_brightspaces_own_numbers_need_its_list(scores) -> None:
    numbered = who(scores, id="397063", lms_id="397063", first_name="Ada", last_name="Lovelace")
    with pytest.raises(CannotExport, match="Pass --fill"):
        export("brightspace", numbered)
    exported = export("brightspace", numbered, own=BRIGHTSPACE.format("ada"))
    assert cells(exported.text)[1][:2] == ["#4711", "#ada"]


def test_sakais_own_table_is_filled_in_and_nothing_else_changes(scores) -> None:
    exported = export("sakai", scores, own=SAKAI.format(scores[0].student.id))
    before, after = cells(SAKAI.format(scores[0].student.id)), cells(exported.text)
    before[3][4] = f"{scores[0].score:g}"
    assert after == before
    made = cells(export("sakai", scores).text)
    assert made[1] == []
    assert made[2][:5] == ["Display ID", "ID", "Last Name", "First Name", "grade"]


def test_openolats_rows_have_no_head(scores) -> None:
    exported = export("openolat", scores)
    assert cells(exported.text, "\t") == [[scores[0].student.id, f"{scores[0].score:g}"]]
    with pytest.raises(CannotExport, match="nothing to fill in"):
        export("openolat", scores, own="x")


@pytest.mark.parametrize("service", OWN)
@pytest.mark.parametrize(
    ("about", "found"),
    [
        ({"id": "4711"}, True),
        ({"id": "f3-uuid", "email": "ADA@example.org"}, True),
        ({"id": "f3-uuid", "first_name": "Ada", "last_name": "Lovelace"}, True),
        ({"id": "f3-uuid", "first_name": "Ada"}, False),
        ({"id": "f3-uuid"}, False),
    ],
)
def test_who_signed_in_by_lti_is_found_in_the_platforms_own_file(scores, service: str, about, found: bool) -> None:
    if (service == "sakai" and about["id"] == "4711") or (service != "brightspace" and "email" in about):
        found = False  # its file has no such column
    column = "664617" if service == "blackboard" else ""
    exported = export(service, who(scores, **about), column=column, own=OWN[service].format("ada"))
    assert (f"{scores[0].score:g}" in exported.text, exported.left_out) == (found, () if found else (about["id"],))


@pytest.mark.parametrize("service", OWN)
def test_two_people_of_one_name_are_found_by_no_name(scores, service: str) -> None:
    own = OWN[service].format("ada").replace("Hopper", "Lovelace").replace("Grace", "Ada")
    about = who(scores, id="x", first_name="Ada", last_name="Lovelace")
    assert export(service, about, column="664617" if service == "blackboard" else "", own=own).left_out == ("x",)


@pytest.mark.parametrize("service", [*OWN, "openolat"])
def test_one_file_is_for_one_assignment(scores, service: str) -> None:
    both = [*scores, *(replace(entry, assignment="2-heads") for entry in scores)]
    with pytest.raises(CannotExport, match="one assignment"):
        export(service, both)


@pytest.mark.parametrize("service", OWN)
def test_what_is_no_table_of_the_platform_is_refused(scores, service: str) -> None:
    with pytest.raises(WrongOwnFile, match="not a table of the class"):
        export(service, scores, column="664617" if service == "blackboard" else "", own="a,b\n1,2\n")


@pytest.mark.parametrize("service", OWN)
def test_the_people_of_a_class_are_read_from_its_table(service: str) -> None:
    listed = read_roster(OWN[service].format("ada"))
    mail = {name: f"{name}@example.org" if service == "brightspace" else "" for name in ("ada", "grace")}
    assert list(listed) == [
        Student(id="ada", first_name="Ada", last_name="Lovelace", email=mail["ada"]),
        Student(id="grace", first_name="Grace", last_name="Hopper", email=mail["grace"]),
    ]
    assert all(student.id in ids for student, ids in listed.items())
