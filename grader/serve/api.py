"""The API with which a notebook's cell submits the notebook and reads its points. docs/serve.md describes it.

A program signs in with the header `Authorization: Bearer TOKEN`. The token is a personal code,
which the student's page shows, or a JupyterHub token. All answers are JSON. An error has the form
`{"error": "…"}`.
"""

from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from grader.records import GradebookEntry, Outcome
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.sign_in import STUDENT, new_code
from grader.serve.site import Site
from grader.serve.student_pages import look_up, state_of, take
from grader.serve.web import Visit, get, post

PATH = "/api/submissions"


def submit(visit: Visit) -> Response:
    """Put the uploaded notebook into the queue, and return the JSON about the new attempt.

    The form has the fields `assignment` and `notebook`.
    """
    name = visit.text("assignment")
    if name not in visit.site.open_assignments():
        known = ", ".join(visit.site.open_assignments()) or "none"
        raise HTTPException(404, f"The assignment {name!r} is not open. The open assignments are: {known}.")
    attempt = take(visit.site, visit.person, name, visit.form.get("notebook"))
    return JSONResponse(_told(visit.site, attempt), 202, {"Location": f"{PATH}/{attempt.id}"})


def look(visit: Visit) -> Response:
    """Return the state of one of the student's attempts, with points and explanations once it is graded."""
    own = attempts.attempts_of(visit.site.store, visit.person)
    attempt = next((one for one in own if str(one.id) == visit["id"]), None)
    if attempt is None:
        raise HTTPException(404, "There is no such submission, or it is not yours.")
    return JSONResponse(_told(visit.site, attempt))


def about(visit: Visit) -> Response:
    """Return JSON that states whether the server accepts JupyterHub tokens.

    A notebook sends its JupyterHub token only to a server that accepts such tokens.
    """
    return JSONResponse({"hub": visit.site.settings.hub is not None})


def code(visit: Visit) -> Response:
    """Show a new personal code, which replaces the previous one."""
    days = visit.site.settings.link_days
    return visit.html("code.html.j2", code=new_code(visit.site.store, visit.site.key, visit.person, days))


def _told(site: Site, attempt: Attempt) -> dict[str, Any]:
    """Return the JSON about an attempt. Score and exercises are None until the student may see feedback."""
    shown = look_up(site, attempt.student, attempt.assignment)
    is_shown = shown.shows_feedback and attempt.state in (attempts.GRADED, attempts.UNREADABLE)
    entry = shown.entry if is_shown and attempt.counts else None
    page = "feedback" if attempt.counts else f"attempts/{attempt.nth}"
    address = f"{site.settings.url}/a/{quote(attempt.assignment, safe='')}"
    return {
        "id": attempt.id,
        "assignment": attempt.assignment,
        "attempt": attempt.nth,
        "state": attempt.state,
        "message": attempt.message if is_shown and attempt.message else state_of(site, attempt),
        "is_done": not attempt.is_open,
        "counts": attempt.counts,
        "score": (entry.score if entry else attempt.worth) if is_shown else None,
        "max_score": attempt.max_score if is_shown else None,
        "exercises": _exercises(entry) if entry else None,
        "url": f"{address}/{page}" if is_shown else address,
    }


def _exercises(entry: GradebookEntry) -> list[dict[str, Any]]:
    """Return the points of each exercise, with an explanation for each exercise without full points."""
    return [
        {
            "id": verdict.id,
            "title": verdict.title,
            "outcome": verdict.outcome.name,
            "points": entry.points(verdict),
            "max_points": verdict.max_points,
            "message": "" if verdict.outcome is Outcome.PASSED else verdict.hint or verdict.message,
        }
        for verdict in entry.grade.verdicts
    ]


ROUTES = [post(PATH, submit, STUDENT), get(PATH + "/{id}", look, STUDENT), post("/code", code, STUDENT)]
