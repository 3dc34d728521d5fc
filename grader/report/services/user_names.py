"""Blackboard, Brightspace, Sakai and OpenOlat: tables that identify a student by the user name.

Blackboard reads UTF-16 text with tabs. It finds the column by the number behind its name; without a
number it creates a new text column with 0 points (help.blackboard.com, "Work offline with grade
data").
Brightspace finds a student by Username or OrgDefinedId; its own export puts "#" in front of both.
The head of the column contains the maximum points, and every row ends with "#" (community.d2l.com,
article 3538).
Sakai reads grades.csv of the assignment's zip: a title, an empty row, then a row for each student
(AssignmentServiceImpl).
OpenOlat's bulk assessment reads rows of user name and score (GTACourseNode and its documentation).

If the instructor passes the platform's own file of the class, its rows are used. A student whose id
is not in that file is found by the e-mail address, or by first and last name if they are unique. So
this also works for a class that signed in by LTI.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.records import Student
from grader.report.services.csv_table import CannotExport, Export, Scores, WrongOwnFile, exact, read_table, score, table

BLACKBOARD_COLUMN = "Lab 1 [Total Pts: 100 Score] |664617"  # for messages
BRIGHTSPACE_END = "End-of-Line Indicator"


@dataclass(frozen=True)
class Format:
    """The form in which a platform writes its table of a class."""

    ids: tuple[str, ...]  # the columns with the student's id; the first is the user name
    last: str = "Last Name"
    first: str = "First Name"
    email: str = "Email"


BLACKBOARD = Format(("Username", "Student ID"))
BRIGHTSPACE = Format(("Username", "OrgDefinedId"))
SAKAI = Format(("ID", "Display ID"))


@dataclass(frozen=True)
class OwnFile:
    """A platform's own table of the class."""

    before: tuple[list[str], ...]  # the rows above the head
    head: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        """Return the cells of a column without Brightspace's "#", or "" for each row if the column does not exist."""
        if name not in self.head:
            return [""] * len(self.rows)
        place = self.head.index(name)
        return [row[place].strip().removeprefix("#") for row in self.rows]


def own_file(text: str, form: Format) -> OwnFile:
    """Return a platform's table of the class.

    Raises:
        WrongOwnFile: the text is not such a table.
    """
    rows = read_table(text, whole=True)
    for at, row in enumerate(rows):
        if any(name in row for name in form.ids) and (form is not SAKAI or "grade" in row):
            width = len(row)
            return OwnFile(
                tuple(rows[:at]), row, [[*line, *[""] * width][:width] for line in rows[at + 1 :] if any(line)]
            )
    raise WrongOwnFile(f"it is not a table of the class: it lacks the column {form.ids[0]}")


def find(students: Sequence[Student], own: OwnFile, form: Format) -> Mapping[Student, int]:
    """Return the index of each student's row in a platform's table. Leave out students without a row.

    A student is found by an id, or else by the e-mail address. Otherwise the student is found by
    name, if only one student and only one row have this name.
    """
    ids: dict[str, int] = {}
    for key in reversed(form.ids):
        ids |= {id: place for place, id in enumerate(own.column(key)) if id}
    emails = {mail.casefold(): place for place, mail in enumerate(own.column(form.email)) if mail}
    names = list(zip(own.column(form.first), own.column(form.last), strict=True))
    everybody = [(student.first_name, student.last_name) for student in students]
    found: dict[Student, int] = {}
    for student, name in zip(students, everybody, strict=True):
        unique = any(name) and names.count(name) == 1 and everybody.count(name) == 1
        place = ids.get(student.id, emails.get(student.email.casefold(), names.index(name) if unique else None))
        if place is not None:
            found[student] = place
    return found


def blackboard(students: Scores, worth: Mapping[str, float], column: str = "", own: str = "") -> Export:
    """Return the table that Blackboard imports.

    Args:
        column: the head of the assignment's column in Blackboard, or the number in it.
        own: the file that Blackboard wrote; "" without one.

    Raises:
        CannotExport: neither `column` nor `own` determines the head of the column.
        WrongOwnFile: `own` is not a table of the class.
    """
    name, _ = _only(worth, "Blackboard")
    theirs = own_file(own, BLACKBOARD) if own else None
    numbered = [head for head in theirs.head if "|" in head] if theirs else []
    heads = [head for head in numbered if column in ("", head, head.rpartition("|")[2])]
    if column and not numbered and "|" in column:
        heads = [column]
    if len(heads) != 1:
        known = ", ".join(numbered) or f"as in '{BLACKBOARD_COLUMN}', which its own download (Work Offline) shows"
        raise CannotExport(f"which column of Blackboard? Pass --column, {known}")
    rows, left_out = _rows(students, name, theirs, BLACKBOARD, BLACKBOARD.ids[:1])
    text = table([["Username", heads[0]], *rows], separator="\t", quoted=True)
    return Export(text=text, left_out=left_out, encoding="utf-16")


def brightspace(students: Scores, worth: Mapping[str, float], column: str = "", own: str = "") -> Export:
    """Return the table that Brightspace imports.

    Args:
        column: the name of the grade item in Brightspace, or "" if the item has the assignment's
            name.
        own: the file that Brightspace wrote; "" without one.

    Raises:
        CannotExport: there are several assignments, or the user names are not known.
        WrongOwnFile: `own` is not a table of the class.
    """
    name, points = _only(worth, "Brightspace")
    theirs = own_file(own, BRIGHTSPACE) if own else None
    if theirs is None and any(student.has_lms_id for student, _ in students):
        raise CannotExport(
            "Brightspace's download does not contain user names, but the import needs them. Pass --fill with "
            "the file that "
            "Grades, Export writes; the grader finds the students in it by their names"
        )
    keys = [key for key in reversed(BRIGHTSPACE.ids) if key in theirs.head] if theirs else ["Username"]
    rows, left_out = _rows(students, name, theirs, BRIGHTSPACE, keys)
    head = f"{column or name} Points Grade <Numeric MaxPoints:{exact(points)}>"
    return Export(text=table([[*keys, head, BRIGHTSPACE_END], *([*row, "#"] for row in rows)]), left_out=left_out)


def sakai(students: Scores, worth: Mapping[str, float], column: str = "", own: str = "") -> Export:
    """Return grades.csv for the zip that Sakai imports.

    Args:
        column: the title in the first row; "" for the assignment's name.
        own: the grades.csv that Sakai wrote; "" without one.

    Raises:
        CannotExport: there are several assignments.
        WrongOwnFile: `own` is not a table of the class.
    """
    name, _ = _only(worth, "Sakai")
    if not own:
        keys = ["Display ID", "ID", "Last Name", "First Name", "grade"]
        rows = [
            [student.id, student.id, student.last_name, student.first_name, score(scores.get(name))]
            for student, scores in students
        ]
        return Export(text=table([[column or name, "SCORE_GRADE_TYPE"], [], keys, *rows]))
    theirs = own_file(own, SAKAI)
    places = find([student for student, _ in students], theirs, SAKAI)
    filled, grade = [list(row) for row in theirs.rows], theirs.head.index("grade")
    for student, scores in students:
        if student in places:
            filled[places[student]][grade] = score(scores.get(name))
    left_out = tuple(student.id for student, _ in students if student not in places)
    return Export(text=table([*theirs.before, theirs.head, *filled]), left_out=left_out)


def openolat(students: Scores, worth: Mapping[str, float], column: str = "", own: str = "") -> Export:
    """Return the rows that OpenOlat's bulk assessment reads. They have no head.

    Raises:
        CannotExport: there are several assignments, or `own` or `column` is given.
    """
    if own or column:
        raise CannotExport("OpenOlat's rows are user names and scores: there is nothing to fill in, and no column")
    name, _ = _only(worth, "OpenOlat")
    return Export(text=table(([student.id, score(scores.get(name))] for student, scores in students), separator="\t"))


def _only(worth: Mapping[str, float], platform: str) -> tuple[str, float]:
    """Return the only assignment and its maximum points.

    Raises:
        CannotExport: there are several assignments, or none.
    """
    if len(worth) != 1:
        raise CannotExport(
            f"{platform}'s file is for one assignment: pass --assignment, as in {min(worth, default='1-attention')}"
        )
    return next(iter(worth.items()))


def _rows(
    students: Scores, name: str, own: OwnFile | None, form: Format, keys: Sequence[str]
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Return a row with ids and score for each student, and the ids of the students without a row.

    A student without a row is missing in the platform's own table.

    Args:
        own: the platform's own table, or None without one.
        keys: the columns with ids that each row contains.
    """
    if own is None:
        return [[*[student.id] * len(keys), score(scores.get(name))] for student, scores in students], ()
    places = find([student for student, _ in students], own, form)
    ids = [[own.rows[place][own.head.index(key)] for key in keys] for place in range(len(own.rows))]
    rows = [[*ids[places[student]], score(scores.get(name))] for student, scores in students if student in places]
    return rows, tuple(student.id for student, _ in students if student not in places)
