"""Shows the instructor one student's submission of one assignment, with appeals and an extension to decide on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import Response

from grader.classes.gradebook.appeals import appeals_of, decide_appeal
from grader.classes.gradebook.lateness import set_extension
from grader.classes.results.folders import autograded_notebook
from grader.classes.results.pages import read_answers
from grader.records import Appeal, CellScore, GradebookEntry, Outcome, Student, Verdict
from grader.report.page import MOST_LINES
from grader.report.text import appeal_outcome, clean_lines, lateness
from grader.serve import attempts, web
from grader.serve.class_table import Cell
from grader.serve.flags import MOST_SHOWN as MOST_FLAGS
from grader.serve.flags import flags_of
from grader.serve.sign_in import INSTRUCTOR
from grader.serve.site import Site
from grader.serve.student_pages import send_attempt
from grader.serve.web import LONGEST_APPEAL, Visit, get, go_to, post, students_html

# Numbers as people write them; float() accepts more.
POINTS = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?")
HOURS = re.compile(r"[0-9]{1,4}(?:[.,][0-9]{1,2})?")
STATES = {
    attempts.WAITING: "in the queue",
    attempts.GRADING: "being graded",
    attempts.REPLACED: "not graded: a newer attempt replaced it",
    attempts.FAULT: "not graded: grader error",
    attempts.UNREADABLE: "unreadable",
    attempts.GRADED: "",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a submission with the student's answer: an exercise, a question, or a cell of the instructor."""

    id: str
    title: str = ""
    points: float | None = None  # None without a score
    cell: CellScore | None = None
    message: str = ""  # the reason for missing points
    text: Markup = Markup("")  # the student's code or words, escaped
    appeals: tuple[tuple[Appeal, str], ...] = ()  # each with its decision in words


def submission(visit: Visit) -> Response:
    """Show a student's exercises, code, attempts and appeals at an assignment."""
    site, student, name = visit.site, visit["student"], visit["assignment"]
    cell = Cell(attempts=attempts.attempts_of(site.store, student, name), entry=site.entry(student, name))
    known = site.students()
    if cell.is_empty and (student not in known or name not in site.open_assignments()):
        raise HTTPException(404)
    due, regular = (site.due_dates(person).get(name) for person in (student, ""))
    entry = cell.entry
    return visit.html(
        "submission.html.j2",
        student=known.get(student, Student(id=student)),
        name=name,
        cell=cell,
        entry=entry,
        lateness=lateness(entry.penalty, entry.seconds_late) if entry else "",
        parts=[*parts_of(entry, _answers(site, entry))] if entry else [],
        states=STATES,
        due=due,
        extension=(due - regular).total_seconds() / 3600 if due and regular else None,
        flags=cell.flags,
        most_flags=MOST_FLAGS,
    )


def _answers(site: Site, entry: GradebookEntry) -> Mapping[str, str]:
    """Return the student's code in the executed notebook by exercise, or nothing if the file cannot be read."""
    notebook = autograded_notebook(site.folder / "autograded", entry.student.id, entry.assignment)
    read = read_answers(entry.student.id, notebook)
    return read.answers if read else {}


def parts_of(entry: GradebookEntry, answers: Mapping[str, str]) -> Iterator[Part]:
    """Yield the exercises, then the questions, then the other graded cells of a submission.

    An exercise that the student has not begun is yielded without code, unless it has an appeal.

    Args:
        answers: the student's code by exercise.
    """
    verdicts: dict[str, Verdict] = {verdict.id: verdict for verdict in entry.grade.verdicts}
    written = {text.id: text for text in entry.grade.written}
    for id in dict.fromkeys((*verdicts, *written, *entry.cells)):
        verdict, cell = verdicts.get(id), entry.cells.get(id)
        appeals = tuple((each, appeal_outcome(each, entry)) for each in entry.appeals if each.exercise == id)
        is_stub = verdict is not None and verdict.outcome is Outcome.MISSING and not appeals
        text = written[id].text if id in written else "" if is_stub else answers.get(id, "")
        failed = verdict is not None and verdict.outcome is not Outcome.PASSED
        named = verdict or written.get(id)
        yield Part(
            id=id,
            title=named.title if named else "",
            points=entry.points(verdict) if verdict else cell.points if cell else None,
            cell=cell,
            message=(verdict.hint or verdict.message) if verdict and failed else "",
            text=_shown(text),
            appeals=appeals,
        )


def _shown(text: str) -> Markup:
    """Return a student's text for HTML: escaped, cut after MOST_LINES lines, with its lines and spaces kept."""
    lines = clean_lines(text.replace("\t", "    ")).rstrip().split("\n")
    more = [f"… {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return escape("\n".join([*lines[:MOST_LINES], *more]))


def feedback(visit: Visit) -> Response:
    """Show the flags of all attempts, and below them the feedback page in the form that the student may see."""
    student, name = visit["student"], visit["assignment"]
    entry = visit.site.entry(student, name)
    if entry is None:
        raise HTTPException(404)
    flags = flags_of(attempts.attempts_of(visit.site.store, student, name), entry)
    above = web.render("flags.html.j2", flags=flags, most_flags=MOST_FLAGS).encode("utf-8", "replace") if flags else b""
    return students_html(visit.site.feedback_page(entry).replace(b"<body>", b"<body>" + above, 1))


def attempt_feedback(visit: Visit) -> Response:
    """Show the feedback on one attempt, with the points that it got when it was graded."""
    site, attempt = visit.site, (visit["student"], visit["assignment"], visit["nth"])
    return students_html(attempts.file_of(site.store, site.folder, attempt, attempts.PAGE).read_bytes())


def attempt_notebook(visit: Visit) -> Response:
    """Send the notebook of one attempt, as it was uploaded."""
    return send_attempt(visit.site, visit["student"], visit["assignment"], visit["nth"])


def decide(visit: Visit) -> Response:
    """Record the instructor's decision on an appeal.

    Raises:
        HTTPException: there is no such appeal, or the points are not a number.
    """
    site, said = visit.site, visit.text("points")
    found = next((pair for pair in appeals_of(site.entries()) if str(pair[1].number) == visit["number"]), None)
    if found is None:
        raise HTTPException(404)
    if said and not POINTS.fullmatch(said):
        raise HTTPException(
            400,
            f"{said[:20]!r} is not a number of points. Write a number such as 2.5, or leave the field empty to keep "
            "the points.",
        )
    points = float(said.replace(",", ".")) if said else None
    decide_appeal(site.gradebook, site.course, *found, points, visit.text("comment", LONGEST_APPEAL))
    return go_to("class", "students", found[0].student.id, found[0].assignment)


def extend(visit: Visit) -> Response:
    """Set a student's extension in hours, or remove it if the form's field is empty.

    Raises:
        HTTPException: the student or assignment is unknown, or the hours are not a number.
    """
    site, student, name, hours = visit.site, visit["student"], visit["assignment"], visit.text("hours")
    if name not in site.open_assignments() or student not in site.students():
        raise HTTPException(404)
    if hours and not HOURS.fullmatch(hours):
        raise HTTPException(
            400,
            f"{hours[:20]!r} is not a number of hours from 0 to 9999. Leave the field empty to remove the extension. "
            "Nothing was changed.",
        )
    extension = timedelta(hours=float(hours.replace(",", ".") or 0))
    set_extension(site.gradebook, site.course, student, name, extension, site.config.late_penalty)
    return go_to("class", "students", student, name)


HERE = "/class/students/{student}/{assignment}"
ROUTES = [
    get(HERE, submission, INSTRUCTOR),
    get(f"{HERE}/attempts/{{nth}}", attempt_feedback, INSTRUCTOR),
    get(f"{HERE}/attempts/{{nth}}/notebook", attempt_notebook, INSTRUCTOR),
    post(f"{HERE}/extension", extend, INSTRUCTOR),
    get("/class/feedback/{student}/{assignment}", feedback, INSTRUCTOR),
    post("/class/appeals/{number}", decide, INSTRUCTOR),
]
