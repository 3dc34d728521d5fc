"""Reads the students of a class from a file of the platform: its gradebook export, or Moodle's grading worksheet."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from grader.records import Student
from grader.report.services.csv_table import WrongOwnFile, read_table
from grader.report.services.moodle import IDENTIFIER, PARTICIPANT
from grader.report.services.user_names import BLACKBOARD, BRIGHTSPACE, SAKAI, Format, OwnFile, own_file

# Canvas writes a name that begins with = as a formula that gives the name.
AS_FORMULA = re.compile(r'="(.*)"')
# The login of the student as whom a teacher looks at the course: an HMAC-SHA1, so that nobody enrols it by accident
# (find_or_create_student_view_student in app/models/course.rb of canvas-lms). Its name depends on the language.
MADE_UP_LOGIN = re.compile(r"[0-9a-f]{40}")


# A student, whose id is the platform's own number; and the login and the school's number, if the
# platform reports them.
Listed = tuple[Student, tuple[str, ...]]


def read_roster(text: str) -> dict[Student, tuple[str, ...]]:
    """Return the students in a platform's list of a class, each with their other ids.

    Canvas's Test Student is left out.

    Raises:
        WrongOwnFile: the text is not a list of a class.
    """
    head, *rows = read_table(text)
    people = (dict(zip(head, row, strict=True)) for row in rows)
    if "ID" in head and "Section" in head:
        students = (row for row in people if row["ID"].strip().isdecimal())
        return dict(listed for listed in map(_of_canvas, students) if not _is_test_student(*listed))
    if IDENTIFIER in head:
        return dict(_of_moodle(row) for row in people if row[IDENTIFIER].startswith(PARTICIPANT))
    for form in (BLACKBOARD, BRIGHTSPACE, SAKAI):
        with suppress(WrongOwnFile):
            return dict(_by_user_name(own_file(text, form), form))
    raise WrongOwnFile(
        "it is not a list of a class. Pass Canvas's gradebook export (with the columns ID and Section), Moodle's "
        "grading worksheet (with Identifier), the gradebook of Blackboard or Brightspace (with Username), or Sakai's "
        "grades.csv. For a list of your own, run nbgrader db student import FILE: a CSV file with the columns id, "
        "first_name, last_name and email."
    )


def _by_user_name(own: OwnFile, form: Format) -> Iterator[Listed]:
    """Yield the students of a table that identifies students by user name. Skip rows without a user name."""
    ids = zip(*map(own.column, form.ids), strict=True)
    about = zip(own.column(form.first), own.column(form.last), own.column(form.email), strict=True)
    for (user, *others), (first, last, email) in zip(ids, about, strict=True):
        if user:
            student = Student(id=user, first_name=first, last_name=last, email=email)
            yield student, tuple(dict.fromkeys(filter(None, (user, *others, email))))


def _of_canvas(row: Mapping[str, str]) -> Listed:
    """Return the student in a row of Canvas's export, in which the name is in one column or in two."""
    last, _, first = _plain(row.get("Student", "")).partition(", ")
    logins = (row.get("SIS Login ID", "").strip(), row.get("SIS User ID", "").strip())
    first, last = _plain(row.get("FirstName", "")) or first, _plain(row.get("LastName", "")) or last
    number = row["ID"].strip()
    return Student(id=number, first_name=first, last_name=last, lms_id=number), tuple(filter(None, logins))


def _is_test_student(student: Student, logins: tuple[str, ...]) -> bool:
    """Return True if Canvas made up this student.

    The student is recognised by the login, or without a login by the English name "Test Student".
    """
    if not logins:
        return (student.first_name, student.last_name) == ("Test", "Student")
    return len(logins) == 1 and MADE_UP_LOGIN.fullmatch(logins[0]) is not None


def _of_moodle(row: Mapping[str, str]) -> Listed:
    """Return the student in a row of Moodle's worksheet. With anonymous marking, the row contains only a number."""
    first, _, last = row.get("Full name", "").strip().rpartition(" ")
    email = row.get("Email address", "").strip()
    logins = (row.get("ID number", "").strip(), email)
    number = row[IDENTIFIER].removeprefix(PARTICIPANT).strip()
    student = Student(id=number, first_name=first, last_name=last, email=email, lms_id=number)
    return student, tuple(filter(None, logins))


def _plain(name: str) -> str:
    match = AS_FORMULA.fullmatch(name.strip())
    return (match[1] if match else name).strip()
