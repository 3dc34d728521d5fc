"""Every way in which scores leave, read back: nbgrader's export, ours, the table and the pages."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse

COLUMN = "Lab 1 [Total Pts: 100 Score] |664617"  # of Blackboard
SCORE = re.compile(r'class="score"><b>([^<]+)</b>')  # on a feedback page

Scores = dict[str, str]  # student → score as it is written; "" for an empty cell


def nbgrader_export(url: str, folder: Path) -> dict[str, dict[str, str]]:
    """Return the rows of nbgrader's export of everybody who handed in, by student."""
    with Gradebook(url, COURSE) as gradebook:
        CsvExportPlugin(to=str(folder / "nbgrader.csv"), assignment=[NAME]).export(gradebook)
        handed_in = {one.student_id for one in gradebook.assignment_submissions(NAME)}
    with (folder / "nbgrader.csv").open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file) if row["student_id"] in handed_in}


def exported(course: SmallCourse, folder: Path, url: str | None = None) -> dict[str, Scores]:
    """Export to every service, and return what each file says of the students' scores."""
    own = ("--gradebook", url) if url else ()
    found = {}
    for service in READ:
        file = folder / f"{service}.out"
        column = ("--column", COLUMN) if service == "blackboard" else ()
        course.grader("export", service, "--assignment", NAME, "--out", str(file), "--force", *column, *own)
        found[service] = READ[service](file)
    if "" in found["gradescope"]:  # the results of a single submission do not say whose they are
        (student,) = found["canvas"]
        found["gradescope"] = {student: found["gradescope"][""]}
    return found


def reported(course: SmallCourse, folder: Path, url: str | None = None) -> dict[str, Scores]:
    """Return what the table of `grader report` and its page say of the students' scores."""
    own = ("--gradebook", url) if url else ()
    printed = course.grader("report", *own)
    course.grader("report", "--html", str(folder / "class.html"), *own)
    page = (folder / "class.html").read_text("utf-8")
    return {"table": read_table(printed), "page": read_class_page(page)}


def table_of(file: Path) -> list[dict[str, str]]:
    """Read a CSV file with a head."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, strict=True))


def _canvas(file: Path) -> Scores:
    _, *students = table_of(file)  # the first row has the points possible
    return {row["SIS Login ID"] or row["SIS User ID"] or row["ID"]: row[NAME] for row in students}


def _moodle(file: Path) -> Scores:
    scores = {}
    for row in table_of(file):
        if "Identifier" in row:
            scores[row["Identifier"].removeprefix("Participant ")] = row["Grade"]
        else:
            scores[row.get("ID number") or row["Email address"]] = row[NAME]
    return scores


def _csv(file: Path) -> Scores:
    return {row["student"]: row["score"] for row in table_of(file)}


def _gradescope(file: Path) -> Scores:
    results = json.loads(file.read_text("utf-8"))
    if "extra_data" in results:
        results = {"": results}
    return {name.removesuffix(f"/{NAME}"): str(one["score"]) if "score" in one else "" for name, one in results.items()}


def _blackboard(file: Path) -> Scores:
    with file.open(encoding="utf-16", newline="") as lines:
        return {row["Username"]: row[COLUMN] for row in csv.DictReader(lines, delimiter="\t", strict=True)}


def _brightspace(file: Path) -> Scores:
    rows = [list(row.values()) for row in table_of(file)]
    assert all(end == "#" for _, _, end in rows)
    return {student: score for student, score, _ in rows}


def _sakai(file: Path) -> Scores:
    with file.open(encoding="utf-8", newline="") as lines:
        _, _, head, *rows = csv.reader(lines, strict=True)
    return {row[head.index("ID")]: row[head.index("grade")] for row in rows}


def _openolat(file: Path) -> Scores:
    with file.open(encoding="utf-8", newline="") as lines:
        return dict(csv.reader(lines, delimiter="\t", strict=True))


READ = {
    "canvas": _canvas,
    "moodle": _moodle,
    "csv": _csv,
    "gradescope": _gradescope,
    "blackboard": _blackboard,
    "brightspace": _brightspace,
    "sakai": _sakai,
    "openolat": _openolat,
}


def read_table(printed: str) -> Scores:
    """Read the students' scores from the table on the terminal."""
    # A name may follow the id; between two columns are two spaces at least.
    rows = re.findall(r"^(\S+)(?: \S+)* {2,}(-?[0-9.]+|–)(?: / [0-9.]+)? ", printed, re.MULTILINE)
    return {student: score.replace("–", "") for student, score in rows}


def read_class_page(page: str) -> Scores:
    """Read the students' scores from the class page: from the last table that has a column "score"."""
    tables = _Tables()
    tables.feed(page)
    head, *rows = next(table for table in reversed(tables.found) if "score" in table[0])
    # A name may follow the id, and a penalty the score: "s01 Ada Lovelace", "18.25 (late −10)".
    cells = ((row[head.index("student")].split()[0], row[head.index("score")].split()[0]) for row in rows)
    return {student: score.replace("–", "") for student, score in cells}


def score_on(page: str) -> str:
    """Return the total on a feedback page; "" if it shows none."""
    found = SCORE.search(page)
    return found[1] if found else ""


class _Tables(HTMLParser):
    """Collects the text of all tables' cells."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[list[str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1][-1][-1] += data
