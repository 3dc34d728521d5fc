"""The pages of the instructor: who handed in what, the queue, and the appeals that wait. Students get a 404 here."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from grader.classes.gradebook.appeals import appeals_of, decide_appeal
from grader.commands.from_gradebook import whole_class_page
from grader.records import GradebookEntry, Student
from grader.report.text import who
from grader.serve import attempts, web
from grader.serve.attempts import Attempt
from grader.serve.flags import MOST_SHOWN as MOST_FLAGS
from grader.serve.flags import Flagged, Key, flags_of, with_all_flags
from grader.serve.lti_scores import unsent
from grader.serve.lti_services import missing
from grader.serve.settings import BY_HAND
from grader.serve.sign_in import INSTRUCTOR
from grader.serve.site import Site, release, released, show_solutions, solutions_shown
from grader.serve.web import LONGEST_APPEAL, Visit, get, go_to, post, students_html

MOST_SHOWN = 50  # attempts of the queue
POINTS = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?")  # as people write them; float() accepts more


def overview(visit: Visit) -> Response:
    """Show the class."""
    return visit.html("class.html.j2", **collect(visit.site))


def collect(site: Site) -> dict[str, Any]:
    """Collect what the page of the class shows."""
    everybody, students, entries = attempts.everybodys(site.store), site.students(), site.entries()
    by_person, scores = _by_person(everybody), _scores(entries)
    flagged = _flagged(by_person, scores)
    names = site.open_assignments()
    tables = []
    for name, title in names.items():
        pairs = by_person.keys() | scores.keys()
        ids = sorted({person for assignment, person in pairs if assignment == name} | students.keys())
        rows = [(students.get(id, Student(id=id)), by_person.get((name, id)), scores.get((name, id))) for id in ids]
        handed_in = sum(1 for _, own, entry in rows if own or entry)
        policy = site.settings.policy(name)
        tables.append({"name": name, "title": title, "rows": rows, "handed_in": handed_in, "policy": policy})
    shown = released(site.store)
    waiting = attempts.queue(site.store, site.settings.grading_seconds_an_hour)
    return {
        "tables": tables,
        "queue": waiting[:MOST_SHOWN],
        "queued": len(waiting),
        "faults": [attempt for attempt in everybody if attempt.state == attempts.FAULT],
        "appeals": [(who(entry.student), entry, appeal) for entry, appeal in appeals_of(entries) if not appeal.outcome],
        "by_hand": [name for name in names if site.settings.policy(name).feedback == BY_HAND and name not in shown],
        "solutions": sorted(names.keys() - site.due_dates("").keys() - solutions_shown(site.store)),
        "flagged": flagged,
        "most_flags": MOST_FLAGS,
        "students": students,
        "has_grades": bool(scores),
        "sent": len(site.store.rows("SELECT 1 FROM lti_place WHERE sent != ''")),
        "unsent": [(row, wanted) for row, wanted in unsent(site, entries)],
        "missing": missing(site),
    }


def _by_person(everybody: Iterable[Attempt]) -> Mapping[Key, list[Attempt]]:
    """Map assignments and students to the attempts."""
    by_person: dict[Key, list[Attempt]] = defaultdict(list)
    for attempt in everybody:
        by_person[attempt.assignment, attempt.student].append(attempt)
    return by_person


def _scores(entries: Iterable[GradebookEntry]) -> dict[Key, GradebookEntry]:
    """Map assignments and students to what the gradebook has of a submission."""
    return {(entry.assignment, entry.student.id): entry for entry in entries if entry.status != "missing"}


def _flagged(by_person: Mapping[Key, list[Attempt]], scores: Mapping[Key, GradebookEntry]) -> dict[Key, list[Flagged]]:
    """Map assignments and students to the flags of all attempts, where there are any."""
    keys = sorted(by_person.keys() | scores.keys())
    found = {key: flags_of(by_person.get(key, []), scores.get(key)) for key in keys}
    return {key: flags for key, flags in found.items() if flags}


def report(visit: Visit) -> Response:
    """Show the report of the class, as `grader report` writes it, with the flags of all attempts."""
    site, entries = visit.site, visit.site.entries()
    flagged = _flagged(_by_person(attempts.everybodys(site.store)), _scores(entries))
    page = whole_class_page(site.config, with_all_flags(entries, flagged))
    return students_html(page.encode("utf-8", "replace"))


def feedback(visit: Visit) -> Response:
    """Show a student's feedback page as the student sees it, and above it the flags of all attempts."""
    student, name = visit["student"], visit["assignment"]
    entry = visit.site.entry(student, name)
    if entry is None:
        raise HTTPException(404)
    flags = flags_of(attempts.attempts_of(visit.site.store, student, name), entry)
    above = web.render("flags.html.j2", flags=flags, most_flags=MOST_FLAGS).encode("utf-8", "replace") if flags else b""
    return students_html(visit.site.feedback_page(entry).replace(b"<body>", b"<body>" + above, 1))


def decide(visit: Visit) -> Response:
    """Write down what the instructor decides about an appeal; HTTPException if there is none, or for wrong points."""
    site, said = visit.site, visit.text("points")
    found = next((pair for pair in appeals_of(site.entries()) if str(pair[1].number) == visit["number"]), None)
    if found is None:
        raise HTTPException(404)
    if said and not POINTS.fullmatch(said):
        raise HTTPException(400, f"{said[:20]!r} is no number of points. Leave it empty to keep the points.")
    points = float(said.replace(",", ".")) if said else None
    decide_appeal(site.gradebook, site.course, *found, points, visit.text("comment", LONGEST_APPEAL))
    return go_to("class")


def show_feedback(visit: Visit) -> Response:
    """Show students score and feedback of an assignment from now on."""
    if visit.text("assignment") not in visit.site.open_assignments():
        raise HTTPException(404)
    release(visit.site.store, visit.text("assignment"))
    return go_to("class")


def open_solutions(visit: Visit) -> Response:
    """Show students the worked solutions of an assignment without a due date from now on."""
    name = visit.text("assignment")
    if name not in visit.site.open_assignments():
        raise HTTPException(404)
    if name in visit.site.due_dates(""):
        raise HTTPException(409, "This assignment has a due date. Students see its solutions after that.")
    show_solutions(visit.site.store, name)
    return go_to("class")


def grade_again(visit: Visit) -> Response:
    """Put what we could not grade back into the queue."""
    attempts.again(visit.site.store)
    return go_to("class")


def send_again(visit: Visit) -> Response:
    """Send the scores again that platforms have refused."""
    visit.site.store.change("UPDATE lti_place SET refused = ''")
    return go_to("class")


ROUTES = [
    get("/class", overview, INSTRUCTOR),
    get("/class/report", report, INSTRUCTOR),
    get("/class/feedback/{student}/{assignment}", feedback, INSTRUCTOR),
    post("/class/appeals/{number}", decide, INSTRUCTOR),
    post("/class/show", show_feedback, INSTRUCTOR),
    post("/class/solutions", open_solutions, INSTRUCTOR),
    post("/class/again", grade_again, INSTRUCTOR),
    post("/class/scores", send_again, INSTRUCTOR),
]
