"""Reads who is in a class from a platform's own file: Canvas's gradebook export, or Moodle's grading worksheet."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.report.services.csv_table import WrongOwnFile, read_table
from grader.report.services.moodle import IDENTIFIER, PARTICIPANT

# Canvas writes a name that begins with = as a formula that gives the name.
AS_FORMULA = re.compile(r'="(.*)"')
# The login of the student as whom a teacher looks at the course: an HMAC-SHA1, so that nobody enrols it by accident
# (find_or_create_student_view_student in app/models/course.rb of canvas-lms). Its name depends on the language.
MADE_UP_LOGIN = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A person on a platform's list."""

    number: str  # the platform's own
    logins: tuple[str, ...] = ()  # the login and the school's number, as far as the platform says them
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def read_roster(text: str) -> list[Listed]:
    """Read the people of a class; Canvas's Test Student, who is nobody, is left out.

    Raises:
        WrongOwnFile: it is no file of Canvas's or Moodle's.
    """
    head, *rows = read_table(text)
    people = (dict(zip(head, row, strict=True)) for row in rows)
    if "ID" in head and "Section" in head:
        students = (row for row in people if row["ID"].strip().isdecimal())
        return [one for one in map(_of_canvas, students) if not _is_test_student(one)]
    if IDENTIFIER in head:
        return [_of_moodle(row) for row in people if row[IDENTIFIER].startswith(PARTICIPANT)]
    raise WrongOwnFile(
        "it is no list of a class. Expected are Canvas's gradebook export (with the columns ID and Section) or Moodle's "
        "grading worksheet (with Identifier)."
    )


def _of_canvas(row: Mapping[str, str]) -> Listed:
    """Read a row of Canvas's export, in which a name is one column or two."""
    last, _, first = _plain(row.get("Student", "")).partition(", ")
    logins = (row.get("SIS Login ID", "").strip(), row.get("SIS User ID", "").strip())
    return Listed(
        number=row["ID"].strip(),
        logins=tuple(filter(None, logins)),
        first_name=_plain(row.get("FirstName", "")) or first,
        last_name=_plain(row.get("LastName", "")) or last,
    )


def _is_test_student(one: Listed) -> bool:
    """Tell whether Canvas made up this person: by the login, or where the export has none, by the English name."""
    if not one.logins:
        return (one.first_name, one.last_name) == ("Test", "Student")
    return len(one.logins) == 1 and MADE_UP_LOGIN.fullmatch(one.logins[0]) is not None


def _of_moodle(row: Mapping[str, str]) -> Listed:
    """Read a row of a worksheet; where marking is blind it tells a number alone."""
    first, _, last = row.get("Full name", "").strip().rpartition(" ")
    email = row.get("Email address", "").strip()
    logins = (row.get("ID number", "").strip(), email)
    return Listed(
        number=row[IDENTIFIER].removeprefix(PARTICIPANT).strip(),
        logins=tuple(filter(None, logins)),
        first_name=first,
        last_name=last,
        email=email,
    )


def _plain(name: str) -> str:
    match = AS_FORMULA.fullmatch(name.strip())
    return (match[1] if match else name).strip()
