"""Converts grades to the files of learning platforms.

canvas      Gradebook import.
moodle      The assignment's grading worksheet if the ids are Moodle's own numbers (they are in its zip),
            otherwise a file for the gradebook's CSV import.
blackboard, brightspace, sakai, openolat
            The table that each of them reads, with students identified by user name.
gradescope  results.json.
csv         One table with all values.

Each platform has its own module in `services`, which names the source for its format. All points
are the gradebook's: with manual points, and minus the late penalty. A cell without a score stays
empty. The field `left_out` of an `Export` names the students without a row.
"""

from collections.abc import Iterable, Sequence

from grader import __version__
from grader.records import GradebookEntry, Student
from grader.report.services.canvas import canvas
from grader.report.services.csv_table import CannotExport, Export, WrongOwnFile, exact, score, table
from grader.report.services.gradescope import gradescope
from grader.report.services.moodle import moodle
from grader.report.services.user_names import blackboard, brightspace, openolat, sakai
from grader.report.text import exercise_ids

# What writes the file of a platform that has a column for the assignment.
COLUMNS = {"canvas": canvas, "blackboard": blackboard, "brightspace": brightspace, "sakai": sakai, "openolat": openolat}
SERVICES = (*COLUMNS, "moodle", "gradescope", "csv")


def export(service: str, entries: Iterable[GradebookEntry], *, column: str = "", own: str = "") -> Export:
    """Return the content of the file that a service imports.

    Args:
        column: the head of the assignment's column on the platform, or its number there.
        own: the text of the platform's own file of the class, which gets filled in; "" without one.

    Raises:
        ValueError: the service is not one of SERVICES.
        CannotExport: the service has no file for this combination of entries, or `own` does not fit
            them.
    """
    if service not in SERVICES:
        raise ValueError(f"there is no export to {service!r}. Choose one of {', '.join(SERVICES)}")
    sorted_entries = sorted(entries, key=lambda entry: (entry.student.id, entry.assignment))
    names = sorted({entry.assignment for entry in sorted_entries if entry.assignment})
    if service in COLUMNS:
        worth = {name: max(entry.max_score for entry in sorted_entries if entry.assignment == name) for name in names}
        return COLUMNS[service](_by_student(sorted_entries), worth, column, own)
    if service == "moodle":
        return moodle(_by_student(sorted_entries), names, own)
    return gradescope(sorted_entries) if service == "gradescope" else Export(text=_csv(sorted_entries))


def _by_student(entries: Sequence[GradebookEntry]) -> list[tuple[Student, dict[str, GradebookEntry]]]:
    """Return each student with their entries by assignment. Leave out students who have no score at all."""
    by_student: dict[Student, dict[str, GradebookEntry]] = {}
    for entry in entries:
        if entry.assignment and entry.status != "missing":
            by_student.setdefault(entry.student, {})[entry.assignment] = entry
    return [
        (student, by_assignment)
        for student, by_assignment in by_student.items()
        if any(entry.score is not None for entry in by_assignment.values())
    ]


# ---------------------------------------------------------------- one table


def _csv(entries: Sequence[GradebookEntry]) -> str:
    ids = exercise_ids(entries)
    others = sorted({name for entry in entries for name in entry.cells} - set(ids))
    person = ["student", "last_name", "first_name", "email"]
    points = ["score", "max_score", "raw_score", "penalty", "seconds_late", "needs_manual_grade"]
    last = ["flags", "message", "isolation", "device", "seconds", "submission_sha256", "grader_version"]
    rows = [[*person, "assignment", "status", *points, *ids, *others, *last]]
    for entry in entries:
        student, grade = entry.student, entry.grade
        flags = "; ".join(f"{flag.exercise or ''} {flag.kind}".strip() for flag in grade.flags)
        ran = [grade.isolation, grade.device, f"{grade.seconds:.2f}", grade.submission_sha256, __version__]
        scores = ["", exact(entry.max_score), "", "", "", ""]
        if entry.score is not None:
            late = "" if entry.seconds_late is None else exact(entry.seconds_late)
            scores = [score(entry), scores[1], exact(entry.raw_score), exact(entry.penalty), late, ""]
        scores[-1] = "yes" if entry.needs_manual_grade else "no"
        rows.append(
            [
                *(student.id, student.last_name, student.first_name, student.email),
                *(entry.assignment, entry.status, *scores),
                *(_points(entry, name) for name in (*ids, *others)),
                *(flags, entry.message, *ran),
            ]
        )
    return table(rows)


def _points(entry: GradebookEntry, name: str) -> str:
    """Return the points that count for an exercise or a cell as text, or "" if it has not been scored."""
    verdicts = {verdict.id: verdict for verdict in entry.grade.verdicts}
    cell = entry.cells.get(name)
    points = entry.points(verdicts[name]) if name in verdicts else cell.points if cell else None
    return "" if points is None else exact(points)


__all__ = ["SERVICES", "CannotExport", "Export", "WrongOwnFile", "export"]
