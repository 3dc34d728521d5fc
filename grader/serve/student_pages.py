"""The pages of a student. No address holds a student's name: each shows what belongs to the person who is signed in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from shutil import disk_usage
from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.hear_appeals import add_appeal
from grader.paths import notebook_path
from grader.records import GradebookEntry
from grader.report.text import by_number, number
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.settings import AFTER_DUE, Policy
from grader.serve.site import Site
from grader.serve.store import now
from grader.serve.web import go_to, html, our_form, site_of, student_or_401, students_html, text_in

LOOK_SECONDS = 0.5  # between two looks at the queue
LONGEST_STREAM = 600.0  # seconds; the browser then asks again
STREAMS_EACH = 4  # of one student at a time
LONGEST_APPEAL = 2000  # characters
LEAST_FREE = 2 << 30  # bytes of the disk: grading and the gradebook need some
BOM = b"\xef\xbb\xbf"
_streams: dict[str, int] = {}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a student sees of one assignment."""

    name: str
    title: str
    due: datetime | None
    policy: Policy
    attempts: tuple[Attempt, ...]  # the newest first
    entry: GradebookEntry | None  # what the gradebook says, if feedback is shown
    shows_feedback: bool
    hidden_why: str = ""

    @property
    def is_past_due(self) -> bool:
        """Tell whether handing in now is late."""
        return self.due is not None and now() > self.due

    @property
    def waits(self) -> bool:
        """Tell whether an attempt has no grade yet."""
        return any(attempt.is_open for attempt in self.attempts)

    @property
    def score(self) -> str:
        """The score that the gradebook has, in words; "" as long as it has none, or none is shown."""
        if self.entry is None or self.entry.score is None:
            return ""
        return f"{number(self.entry.score)} of {number(self.entry.max_score)}"


def look_up(site: Site, student: str, name: str, dues: Mapping[str, datetime] | None = None) -> Shown:
    """Collect what a student sees of an assignment.

    Args:
        dues: the due dates of this student, if they were read already.
    """
    due = (site.due_dates(student) if dues is None else dues).get(name)
    shows = site.shows_feedback(name, due)
    why = ""
    if not shows:
        by_date = site.policy(name).feedback == AFTER_DUE and due is not None
        why = "You read the feedback here after the due date." if by_date else "Your instructor will show the feedback."
    return Shown(
        name=name,
        title=site.open_assignments()[name],
        due=due,
        policy=site.policy(name),
        attempts=tuple(attempts.attempts_of(site.store, student, name)),
        entry=site.entry(student, name) if shows else None,
        shows_feedback=shows,
        hidden_why=why,
    )


async def _asked(request: Request) -> tuple[Site, str, str]:
    """Return the course, the student who is signed in, and the assignment that the address names, if students see it."""
    visitor = await run_in_threadpool(student_or_401, request)
    site, name = site_of(request), request.path_params["assignment"]
    if name not in await run_in_threadpool(site.open_assignments):
        raise HTTPException(404)
    return site, visitor.person, name


# ---------------------------------------------------------------- pages


async def assignments(request: Request) -> Response:
    """Show all assignments."""
    visitor = await run_in_threadpool(student_or_401, request)
    site = site_of(request)

    def collect() -> list[Shown]:
        dues = site.due_dates(visitor.person)
        return [look_up(site, visitor.person, name, dues) for name in site.open_assignments()]

    return await html(request, "assignments.html.j2", {"shown": await run_in_threadpool(collect)})


async def assignment(request: Request) -> Response:
    """Show one assignment: what was handed in, what it was worth, and where to hand in."""
    site, student, name = await _asked(request)
    return await _page(request, site, student, name)


async def _page(
    request: Request, site: Site, student: str, name: str, complaint: str = "", status: int = 200
) -> Response:

    def collect() -> dict[str, Any]:
        shown = look_up(site, student, name)
        newest = shown.attempts[0] if shown.attempts else None
        cells = shown.entry.cells if shown.entry else {}
        waiting = {each.exercise for each in shown.entry.appeals if not each.outcome} if shown.entry else set()
        return {
            "one": shown,
            "state": state_of(site, newest) if newest else "",
            "exercises": [id for id in sorted(cells, key=by_number) if cells[id].max_points and id not in waiting],
            "waiting": sorted(waiting, key=by_number),
            "complaint": complaint,
        }

    return await html(request, "assignment.html.j2", await run_in_threadpool(collect), status)


def state_of(site: Site, attempt: Attempt) -> str:
    """Say in words how an attempt is doing."""
    if attempt.state == attempts.WAITING:
        ahead = attempts.place_in_queue(site.store, attempt)
        return f"In the queue: {ahead} before you." if ahead else "In the queue: you are next."
    if attempt.state == attempts.GRADING:
        return "Being graded now."
    if attempt.state == attempts.FAULT:
        return "We could not grade this. The fault is ours and costs you nothing: your file is kept, and it will be graded again."
    return "Graded." if attempt.state == attempts.GRADED else "This file could not be read."


async def notebook(request: Request) -> Response:
    """Hand out the student notebook."""
    site, _, name = await _asked(request)
    path = notebook_path(site.root, name)
    return FileResponse(path, media_type="application/x-ipynb+json", filename=f"{name}.ipynb")


async def hand_in(request: Request) -> Response:
    """Keep an upload, and answer when it is on the disk and in the queue."""
    site, student, name = await _asked(request)
    most = site.policy(name).attempts_an_hour

    def refuse_early() -> None:
        with site.store.reading() as db:
            attempts.refuse_too_many(db, student, name, most)

    try:
        await run_in_threadpool(refuse_early)
        async with our_form(request) as form:
            file = form.get("notebook")
            if not isinstance(file, UploadFile) or not file.filename:
                return await _page(request, site, student, name, "Choose your notebook first.", 400)
            await run_in_threadpool(_keep, site, student, name, file, most)
    except attempts.TooMany as error:
        return await _page(request, site, student, name, str(error), 429)
    except (attempts.SameFile, NotNotebook) as error:
        return await _page(request, site, student, name, str(error), 400)
    return go_to("a", name)


class NotNotebook(Exception):
    """The file is none that Jupyter saved; the message says what to choose."""


def _keep(site: Site, student: str, name: str, upload: UploadFile, most: int) -> None:
    """Write an upload to the disk, and put it into the queue."""
    if disk_usage(site.folder).free < LEAST_FREE:
        raise HTTPException(503, "The disk here is nearly full. Tell your instructor; your file was not taken.")
    start = upload.file.read(64).removeprefix(BOM).lstrip()
    upload.file.seek(0)
    if not start.startswith(b"{"):
        raise NotNotebook(f"This is no notebook. Choose the file {name}.ipynb, as Jupyter saved it.")
    place, digest = attempts.keep_upload(site.folder, student, name, upload.file)
    try:
        attempts.enqueue(site.store, site.folder, student, name, place, digest, most)
    except (attempts.TooMany, attempts.SameFile):
        attempts.drop_upload(site.folder, student, name, place)
        raise


async def feedback(request: Request) -> Response:
    """Show the feedback page of the attempt that counts."""
    site, student, name = await _asked(request)

    entry = (await run_in_threadpool(look_up, site, student, name)).entry
    if entry is None:
        raise HTTPException(404)
    return students_html(await run_in_threadpool(site.feedback_page, entry))


async def attempt_feedback(request: Request) -> Response:
    """Show the feedback on one attempt, as it was graded."""
    site, student, name = await _asked(request)

    def read() -> bytes | None:
        if not site.shows_feedback(name, site.due_dates(student).get(name)):
            return None
        own = attempts.attempts_of(site.store, student, name)
        one = next((each for each in own if each.nth == request.path_params["nth"]), None)
        path = one and attempts.folder_of(site.folder, student, name, one.place) / attempts.PAGE
        return path.read_bytes() if path and path.is_file() else None

    page = await run_in_threadpool(read)
    if page is None:
        raise HTTPException(404)
    return students_html(page)


async def appeal(request: Request) -> Response:
    """Record that a student asks for another look at an exercise."""
    site, student, name = await _asked(request)
    async with our_form(request) as form:
        exercise, text = text_in(form, "exercise"), text_in(form, "text", LONGEST_APPEAL)
    shown = await run_in_threadpool(lambda: look_up(site, student, name))
    if shown.entry is None:
        raise HTTPException(404)
    try:
        await run_in_threadpool(add_appeal, site.gradebook, site.course, shown.entry, exercise, text)
    except RecordError as error:
        return await _page(request, site, student, name, str(error), 409)
    return go_to("a", name)


# ---------------------------------------------------------------- what happens in the queue, as it happens


async def events(request: Request) -> Response:
    """Send the state of the newest attempt each time that it changes, until it is graded."""
    site, student, name = await _asked(request)
    if _streams.get(student, 0) >= STREAMS_EACH:
        raise HTTPException(429, "This page is open many times already. Close some of them.")
    return EventSourceResponse(_changes(site, student, name))


async def _changes(site: Site, student: str, name: str) -> AsyncIterator[dict[str, str]]:
    """Yield the states; the last event has the name "graded"."""

    def look() -> tuple[str, bool]:
        own = attempts.attempts_of(site.store, student, name)
        return (state_of(site, own[0]), own[0].is_open) if own else ("", False)

    _streams[student] = _streams.get(student, 0) + 1
    try:
        said, deadline = "", asyncio.get_running_loop().time() + LONGEST_STREAM
        while asyncio.get_running_loop().time() < deadline:
            state, waits = await run_in_threadpool(look)
            if state != said or not waits:
                said = state
                yield {"event": "state" if waits else "graded", "data": state}
            if not waits:
                return
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        _streams[student] -= 1
        if not _streams[student]:
            del _streams[student]


ROUTES = [
    Route("/a/{assignment}", assignment, methods=["GET"]),
    Route("/a/{assignment}", hand_in, methods=["POST"]),
    Route("/a/{assignment}/notebook", notebook),
    Route("/a/{assignment}/feedback", feedback),
    Route("/a/{assignment}/attempts/{nth:int}", attempt_feedback),
    Route("/a/{assignment}/appeals", appeal, methods=["POST"]),
    Route("/a/{assignment}/events", events),
]
