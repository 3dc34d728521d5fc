"""Shows the class page: the table of all submissions, the queue, the due dates and the instructor's decisions."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from grader.classes.gradebook.appeals import appeals_of
from grader.classes.gradebook.lateness import set_due_date
from grader.commands.from_gradebook import whole_class_page
from grader.report.text import who
from grader.serve import attempts
from grader.serve.class_table import ClassTable, as_csv, class_table
from grader.serve.flags import MOST_SHOWN as MOST_FLAGS
from grader.serve.flags import Flagged, Key, with_all_flags
from grader.serve.lti_scores import unsent, without_place
from grader.serve.lti_services import missing
from grader.serve.settings import BY_HAND
from grader.serve.sign_in import INSTRUCTOR
from grader.serve.site import Site, release, released, show_solutions, solutions_shown
from grader.serve.web import Visit, get, go_to, post, students_html

MOST_SHOWN = 50  # attempts of the queue
# As browsers send a field for a date and a time; `fromisoformat` accepts more.
MOMENT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?")


def overview(visit: Visit) -> Response:
    """Show the class page."""
    return visit.html("class.html.j2", **collect(visit.site, visit.request.query_params))


def collect(site: Site, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that the class page shows.

    Args:
        asked: the query of the page's address, which sorts and filters the table.
    """
    everybody, entries = attempts.everybodys(site.store), site.entries()
    table, names, shown = class_table(site, everybody, entries), site.open_assignments(), released(site.store)
    waiting, dues = attempts.queue(site.store, site.settings.grading_seconds_an_hour), site.due_dates("")
    return {
        "table": table.arranged(asked),
        "dues": {name: dues.get(name) for name in names},
        "queue": waiting[:MOST_SHOWN],
        "queued": len(waiting),
        "faults": [attempt for attempt in everybody if attempt.state == attempts.FAULT],
        "appeals": [(who(entry.student), entry, appeal) for entry, appeal in appeals_of(entries) if not appeal.outcome],
        "by_hand": [name for name in names if site.settings.policy(name).feedback == BY_HAND and name not in shown],
        "solutions": sorted(names.keys() - dues.keys() - solutions_shown(site.store)),
        "flagged": flagged(table),
        "most_flags": MOST_FLAGS,
        "students": {row.student.id: row.student for row in table.rows},
        "has_grades": any(cell.entry for row in table.rows for cell in row.cells.values()),
        "sent": len(site.store.rows("SELECT 1 FROM lti_place WHERE sent != ''")),
        "unsent": [(row, wanted) for row, wanted in unsent(site, entries)],
        "without_place": without_place(site, entries),
        "missing": missing(site),
    }


def flagged(table: ClassTable) -> dict[Key, list[Flagged]]:
    """Map each assignment and student to the flags of all their attempts. Leave out pairs without flags."""
    found = {(name, row.student.id): row.cells[name].flags for name in table.columns for row in table.rows}
    return {key: flags for key, flags in found.items() if flags}


def download(visit: Visit) -> Response:
    """Send the table as CSV, sorted and filtered as on the page."""
    site = visit.site
    shown = class_table(site, attempts.everybodys(site.store), site.entries()).arranged(visit.request.query_params)
    told = {"Content-Disposition": 'attachment; filename="class.csv"'}
    return Response(as_csv(shown).encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=told)


def report(visit: Visit) -> Response:
    """Show the class report that `grader report` writes, with the flags of all attempts."""
    site, entries = visit.site, visit.site.entries()
    table = class_table(site, attempts.everybodys(site.store), entries)
    shown = with_all_flags(entries, flagged(table))
    page = whole_class_page(site.config, shown, "/class/students/{student}/{assignment}")
    return students_html(page.encode("utf-8", "replace"))


def show_feedback(visit: Visit) -> Response:
    """Release the score and feedback of an assignment to students."""
    if visit.text("assignment") not in visit.site.open_assignments():
        raise HTTPException(404)
    release(visit.site.store, visit.text("assignment"))
    return go_to("class")


def open_solutions(visit: Visit) -> Response:
    """Release the worked solutions of an assignment that has no due date to students."""
    name = visit.text("assignment")
    if name not in visit.site.open_assignments():
        raise HTTPException(404)
    if name in visit.site.due_dates(""):
        raise HTTPException(409, "This assignment has a due date. Students see its solutions after that.")
    show_solutions(visit.site.store, name)
    return go_to("class")


def change_due_date(visit: Visit) -> Response:
    """Set the due date of an assignment, or remove it if the form's field is empty.

    Raises:
        HTTPException: there is no such open assignment, or the text is not a date.
    """
    site, name = visit.site, visit.text("assignment")
    if name not in site.open_assignments():
        raise HTTPException(404)
    set_due_date(site.gradebook, site.course, name, read_moment(visit.text("due")), site.config.late_penalty)
    return go_to("class")


def read_moment(text: str) -> datetime | None:
    """Return the UTC time that a field of a form contains, or None if the field is empty.

    Raises:
        HTTPException: the text is not a time.
    """
    if not text:
        return None
    if MOMENT.fullmatch(text):
        with suppress(ValueError):  # the 30th of February
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
    raise HTTPException(
        400,
        f"{text[:20]!r} is not a date with a time. Write it in UTC as in 2030-01-31T18:00, or leave the field empty "
        "to remove the due date. Nothing was changed.",
    )


def grade_again(visit: Visit) -> Response:
    """Put attempts that a grader error left without a grade back into the queue."""
    attempts.again(visit.site.store)
    return go_to("class")


def send_again(visit: Visit) -> Response:
    """Mark the scores that platforms have refused, so that the server sends them again."""
    visit.site.store.change("UPDATE lti_place SET refused = ''")
    return go_to("class")


ROUTES = [
    get("/class", overview, INSTRUCTOR),
    get("/class/report", report, INSTRUCTOR),
    get("/class/table.csv", download, INSTRUCTOR),
    post("/class/due", change_due_date, INSTRUCTOR),
    post("/class/show", show_feedback, INSTRUCTOR),
    post("/class/solutions", open_solutions, INSTRUCTOR),
    post("/class/again", grade_again, INSTRUCTOR),
    post("/class/scores", send_again, INSTRUCTOR),
]
