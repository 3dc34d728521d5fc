"""The pages of the instructor: who handed in what, the queue, and the appeals that wait. Students get a 404 here."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from grader.gradebook.errors import RecordError
from grader.gradebook.hear_appeals import decide_appeal
from grader.records import Appeal, GradebookEntry
from grader.report.text import who
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.settings import BY_HAND
from grader.serve.site import Site, release, released
from grader.serve.student_pages import LONGEST_APPEAL
from grader.serve.web import go_to, html, instructors_site, our_form, site_of, students_html, text_in

MOST_SHOWN = 50  # attempts of the queue


async def overview(request: Request) -> Response:
    """Show the class."""
    await instructors_site(request)
    return await _page(request)


async def _page(request: Request, complaint: str = "", status: int = 200) -> Response:
    values = await run_in_threadpool(collect, site_of(request))
    return await html(request, "class.html.j2", {**values, "complaint": complaint}, status)


def collect(site: Site) -> dict[str, Any]:
    """Collect what the page of the class shows."""
    everybody, students, entries = attempts.everybodys(site.store), site.students(), site.entries()
    by_person: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for attempt in everybody:
        by_person[attempt.assignment, attempt.student].append(attempt)
    scores = {(entry.assignment, entry.student.id): entry for entry in entries if entry.status != "missing"}
    names = site.open_assignments()
    tables = []
    for name, title in names.items():
        pairs = by_person.keys() | scores.keys()
        ids = sorted({person for assignment, person in pairs if assignment == name} | students.keys())
        rows = [
            {
                "id": id,
                "name": students[id].name if id in students else "",
                "attempts": by_person.get((name, id), []),
                "entry": scores.get((name, id)),
            }
            for id in ids
        ]
        handed_in = sum(1 for row in rows if row["attempts"] or row["entry"])
        tables.append({"name": name, "title": title, "rows": rows, "handed_in": handed_in, "policy": site.policy(name)})
    shown = released(site.store)
    waiting = [attempt for attempt in everybody if attempt.is_open]
    return {
        "tables": tables,
        "queue": waiting[:MOST_SHOWN],
        "queued": len(waiting),
        "faults": [attempt for attempt in everybody if attempt.state == attempts.FAULT],
        "appeals": [(who(entry.student), entry, appeal) for entry, appeal in _appeals(entries) if not appeal.outcome],
        "by_hand": [name for name in names if site.policy(name).feedback == BY_HAND and name not in shown],
        "has_grades": bool(scores),
    }


def _appeals(entries: list[GradebookEntry]) -> list[tuple[GradebookEntry, Appeal]]:
    found = [(entry, appeal) for entry in entries for appeal in entry.appeals]
    return sorted(found, key=lambda pair: pair[1].number)


async def report(request: Request) -> Response:
    """Show the report of the class, as `grader report` writes it."""
    site = await instructors_site(request)
    page = await run_in_threadpool(site.class_report)
    return students_html(page.encode("utf-8", "replace"))


async def feedback(request: Request) -> Response:
    """Show a student's feedback page."""
    site, about = await instructors_site(request), request.path_params
    entry = await run_in_threadpool(site.entry, about["student"], about["assignment"])
    if entry is None:
        raise HTTPException(404)
    return students_html(await run_in_threadpool(site.feedback_page, entry))


async def decide(request: Request) -> Response:
    """Write down what the instructor decides about an appeal."""
    site = await instructors_site(request)
    async with our_form(request) as form:
        said, comment = text_in(form, "points"), text_in(form, "comment", LONGEST_APPEAL)
    pairs = await run_in_threadpool(lambda: _appeals(site.entries()))
    found = next((pair for pair in pairs if pair[1].number == request.path_params["number"]), None)
    if found is None:
        raise HTTPException(404)
    try:
        points = float(said.replace(",", ".")) if said else None
        await run_in_threadpool(decide_appeal, site.gradebook, site.course, *found, points, comment)
    except ValueError:
        return await _page(request, f"{said!r} is no number of points. Leave it empty to keep the points.", 400)
    except RecordError as error:
        return await _page(request, str(error), 409)
    return go_to("class")


async def show_feedback(request: Request) -> Response:
    """Show students score and feedback of an assignment from now on."""
    site = await instructors_site(request)
    async with our_form(request) as form:
        name = text_in(form, "assignment")
    if name not in site.open_assignments():
        raise HTTPException(404)
    await run_in_threadpool(release, site.store, name)
    return go_to("class")


async def grade_again(request: Request) -> Response:
    """Put what we could not grade back into the queue."""
    site = await instructors_site(request)
    async with our_form(request):
        await run_in_threadpool(attempts.again, site.store)
    return go_to("class")


ROUTES = [
    Route("/class", overview, methods=["GET"]),
    Route("/class/report", report, methods=["GET"]),
    Route("/class/feedback/{student}/{assignment}", feedback, methods=["GET"]),
    Route("/class/appeals/{number:int}", decide, methods=["POST"]),
    Route("/class/show", show_feedback, methods=["POST"]),
    Route("/class/again", grade_again, methods=["POST"]),
]
