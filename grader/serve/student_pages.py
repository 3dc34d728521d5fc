"""Shows a student's pages. Their addresses contain no names: each page belongs to the person who is signed in."""

import asyncio
import logging
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from grader.classes.gradebook.appeals import add_appeal
from grader.classes.gradebook.errors import RecordError
from grader.course import lessons
from grader.paths import notebook_path
from grader.records import GradebookEntry
from grader.report.text import by_number, lateness, number
from grader.serve import attempts
from grader.serve.attempts import Attempt
from grader.serve.settings import Policy
from grader.serve.shares import at_once
from grader.serve.sign_in import STUDENT
from grader.serve.site import Site
from grader.serve.store import StoreError, now
from grader.serve.web import LONGEST_APPEAL, Visit, get, go_to, post, students_html
from grader.submission.cells import with_server
from grader.submission.file import MAX_BYTES

LOOK_SECONDS = 0.5  # between two looks at the queue
LONGEST_STREAM = 600.0  # seconds; the browser then asks again
STREAMS_EACH = 4  # of one student at a time
LEAST_FREE = 2 << 30  # bytes of the disk: grading and the gradebook need some
NOTEBOOK = "application/x-ipynb+json"
BOM = b"\xef\xbb\xbf"
log = logging.getLogger("grader.serve")
_streams = Counter[str]()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One assignment in the form in which its student may see it."""

    name: str
    title: str
    due: datetime | None
    policy: Policy
    attempts: tuple[Attempt, ...]  # the newest first
    entry: GradebookEntry | None  # None if feedback is not shown
    shows_feedback: bool

    @property
    def is_past_due(self) -> bool:
        """Return True if an attempt submitted now is late."""
        return self.due is not None and now() > self.due

    def is_late(self, attempt: Attempt) -> bool:
        """Return True if an attempt was submitted after the due date."""
        return self.due is not None and attempt.when > self.due

    def lateness(self, attempt: Attempt) -> str:
        """Return a sentence about a late attempt, or "" for any other attempt."""
        if attempt.counts and self.entry is not None:
            return lateness(self.entry.penalty, self.entry.seconds_late)
        penalty = 0.0 if attempt.worth is None else (attempt.score or 0.0) - attempt.worth
        return lateness(penalty, float(self.is_late(attempt)))

    @property
    def waits(self) -> bool:
        """Return True if an attempt waits for its grade or is being graded."""
        return any(attempt.is_open for attempt in self.attempts)

    @property
    def score(self) -> str:
        """The submission's score in words, or "" if it has no score or the student may not see it."""
        if self.entry is None or self.entry.score is None:
            return ""
        return f"{number(self.entry.score)} of {number(self.entry.max_score)}"


def look_up(site: Site, student: str, name: str, dues: Mapping[str, datetime] | None = None) -> Shown:
    """Return an assignment in the form in which a student may see it now.

    Args:
        name: the assignment.
        dues: the student's due dates if they were read already; None to read them.
    """
    dues = site.due_dates(student) if dues is None else dues
    due, shows = dues.get(name), site.shows_feedback(name, student, dues)
    return Shown(
        name=name,
        title=site.open_assignments()[name],
        due=due,
        policy=site.settings.policy(name),
        attempts=tuple(attempts.attempts_of(site.store, student, name)),
        entry=site.entry(student, name) if shows else None,
        shows_feedback=shows,
    )


def _asked(visit: Visit) -> tuple[Site, str, str]:
    """Return the course, the student and the assignment in the request's address.

    Raises:
        HTTPException: students may not see the assignment.
    """
    name = visit["assignment"]
    if name not in visit.site.open_assignments():
        raise HTTPException(404)
    return visit.site, visit.person, name


# ---------------------------------------------------------------- pages


def assignments(visit: Visit) -> Response:
    """Show the list of all assignments that students may see."""
    site, dues = visit.site, visit.site.due_dates(visit.person)
    shown = [look_up(site, visit.person, name, dues) for name in site.open_assignments()]
    return visit.html("assignments.html.j2", shown=shown)


def assignment(visit: Visit) -> Response:
    """Show one assignment: the student's attempts, their points, and the form to submit another attempt."""
    site, student, name = _asked(visit)
    shown = look_up(site, student, name)
    cells = shown.entry.cells if shown.entry else {}
    appeals = shown.entry.appeals if shown.entry else ()
    waiting = {each.exercise for each in appeals if not each.outcome}
    return visit.html(
        "assignment.html.j2",
        one=shown,
        state=state_of(site, shown.attempts[0]) if shown.attempts else "",
        exercises=[id for id in sorted(cells, key=by_number) if cells[id].max_points and id not in waiting],
        waiting=sorted(waiting, key=by_number),
        decided=sorted({each.exercise for each in appeals} - waiting, key=by_number),
        known=[exercise.id for exercise in lessons()[name].exercises],
        most_bytes=MAX_BYTES,
    )


def state_of(site: Site, attempt: Attempt) -> str:
    """Return one or more sentences for the student about the state of an attempt."""
    if attempt.state == attempts.WAITING:
        budget = site.settings.grading_seconds_an_hour
        ahead = attempts.place_in_queue(site.store, attempt, budget)
        if ahead is None and (until := attempts.waits_until(site.store, attempt.student, budget)):
            used = f"You have used your grading time of this hour, which is {_duration(budget)}."
            return f"Your attempt is in the queue. {used} The server does not grade it before {until:%H:%M} UTC."
        if not ahead:
            return "Your attempt is next in the queue."
        return f"Your attempt is in the queue. {ahead} {'attempt is' if ahead == 1 else 'attempts are'} before it."
    if attempt.state == attempts.GRADING:
        return "The grader is grading your attempt."
    if attempt.state == attempts.REPLACED:
        return "Your newer attempt replaced this one before it was graded. This one does not count."
    if attempt.state == attempts.FAULT and attempt.deaths >= attempts.MOST_DEATHS:
        told = "This attempt could not be graded: the grading process ended each time while it ran your notebook."
        return (
            f"{told} You lose no points. Change code that uses a lot of memory or ends the process, and submit again."
        )
    if attempt.state == attempts.FAULT and attempt.removed:
        return "This attempt could not be graded because of a grader error. You lose no points. Submit again."
    if attempt.state == attempts.FAULT:
        told = "This attempt could not be graded because of a grader error. You lose no points."
        return f"{told} Your file is kept, and it will be graded again."
    return "Your attempt is graded." if attempt.state == attempts.GRADED else "The grader could not read this file."


def _duration(seconds: int) -> str:
    """Return a number of seconds in words, as minutes if it is a multiple of 60."""
    count, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def notebook(visit: Visit) -> Response:
    """Send the student notebook with a last cell that submits it to this server."""
    site, _, name = _asked(visit)
    text = with_server(notebook_path(site.root, name).read_text("utf-8"), site.settings.url)
    told = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}.ipynb"}
    return Response(text, media_type=NOTEBOOK, headers=told)


def refuse_early(visit: Visit) -> None:
    """Refuse an upload before its body is read, if the student submitted too often within the last hour."""
    site, student, name = _asked(visit)
    own = attempts.attempts_of(site.store, student, name)
    attempts.refuse_too_many(own, site.settings.policy(name).attempts_an_hour)


def submit(visit: Visit) -> Response:
    """Store an upload, and answer once it is on the disk and in the queue."""
    site, student, name = _asked(visit)
    take(site, student, name, visit.form.get("notebook"))
    return go_to("a", name)


def take(site: Site, student: str, name: str, upload: object) -> Attempt:
    """Store an upload on the disk, put it into the queue, and return its attempt.

    Args:
        name: the assignment.
        upload: the field of the form that should contain a file.

    Raises:
        HTTPException: the upload is refused. The message states the reason.
    """
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise HTTPException(400, "Choose your notebook first.")
    if shutil.disk_usage(site.folder).free < LEAST_FREE:
        raise HTTPException(
            503, "The server's disk is nearly full, so it cannot accept your file. Tell your instructor."
        )
    start = upload.file.read(64).removeprefix(BOM).lstrip()
    upload.file.seek(0)
    if not start.startswith(b"{"):
        raise HTTPException(400, f"This file is not a notebook. Choose the file {name}.ipynb that Jupyter saved.")
    rules = site.settings.policy(name)
    try:
        place, digest = attempts.keep_upload(site.folder, student, name, upload.file)
        kept = (student, name, place, digest)
        return attempts.enqueue(site.store, site.folder, kept, rules.attempts_an_hour, rules.kept_megabytes << 20)
    except (StoreError, OSError) as error:
        log.warning("an upload of %r to %s was not kept: %s", student, name, error)
        raise HTTPException(
            503, "The server could not store your file, because it cannot write at the moment. Try again in a minute."
        ) from error


def feedback(visit: Visit) -> Response:
    """Show the feedback page of the attempt that counts."""
    site, student, name = _asked(visit)
    entry = look_up(site, student, name).entry
    if entry is None:
        raise HTTPException(404)
    return students_html(site.feedback_page(entry))


def attempt_feedback(visit: Visit) -> Response:
    """Show the feedback on one attempt, with the points that it got when it was graded."""
    site, student, name = _asked(visit)
    path = attempts.file_of(site.store, site.folder, (student, name, visit["nth"]), attempts.PAGE)
    if not site.shows_feedback(name, student):
        raise HTTPException(404)
    return students_html(site.for_student(path.read_bytes(), name, student))


def attempt_notebook(visit: Visit) -> Response:
    """Send the notebook of one attempt back to its student, as it was uploaded."""
    site, student, name = _asked(visit)
    return send_attempt(site, student, name, visit["nth"])


def send_attempt(site: Site, student: str, name: str, nth: str) -> Response:
    """Send the notebook of an attempt, as it was uploaded.

    Args:
        name: the assignment.
        nth: the attempt's number as text.

    Raises:
        HTTPException: there is no such attempt, or its notebook was removed.
    """
    path = attempts.file_of(site.store, site.folder, (student, name, nth), f"{name}.ipynb")
    return FileResponse(path, media_type=NOTEBOOK, filename=f"{student}-{name}-{nth}.ipynb")


def appeal(visit: Visit) -> Response:
    """Record a student's request that a person looks at an exercise again."""
    site, student, name = _asked(visit)
    shown = look_up(site, student, name)
    if shown.entry is None:
        raise HTTPException(404)
    add_appeal(site.gradebook, site.course, shown.entry, visit.text("exercise"), visit.text("text", LONGEST_APPEAL))
    return go_to("a", name)


# ---------------------------------------------------------------- what happens in the queue, as it happens


class Stream(EventSourceResponse):
    """A stream of events that reports each new state of a student's newest attempt."""

    def __init__(self, site: Site, student: str, name: str) -> None:
        super().__init__(_changes(site, student, name))
        self._student = student

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, unless the student has too many of these streams open."""
        with at_once(
            _streams, self._student, STREAMS_EACH, "This page is open too many times. Close some of its tabs."
        ):
            await super().__call__(scope, receive, send)


def events(visit: Visit) -> Response:
    """Send the state of the student's newest attempt each time it changes, until the attempt is graded."""
    return Stream(*_asked(visit))


async def _changes(site: Site, student: str, name: str) -> AsyncIterator[dict[str, str]]:
    """Yield an event for each new state of the newest attempt. The last event has the name "graded"."""

    def look() -> tuple[str, bool]:
        try:
            own = attempts.attempts_of(site.store, student, name)
            return (state_of(site, own[0]), own[0].is_open) if own else ("", False)
        except (RecordError, StoreError) as error:  # the next look may succeed
            log.warning("the state of an attempt of %r at %s is not known: %s", student, name, error)
            return said, True

    said, deadline = "", time.monotonic() + LONGEST_STREAM
    while time.monotonic() < deadline:
        state, waits = await run_in_threadpool(look)
        if state != said or not waits:
            said = state
            yield {"event": "state" if waits else "graded", "data": state}
        if not waits:
            return
        await asyncio.sleep(LOOK_SECONDS)


ROUTES = [
    get("/a/{assignment}", assignment, STUDENT),
    post("/a/{assignment}", submit, STUDENT, before=refuse_early),
    get("/a/{assignment}/notebook", notebook, STUDENT),
    get("/a/{assignment}/feedback", feedback, STUDENT),
    get("/a/{assignment}/attempts/{nth}", attempt_feedback, STUDENT),
    get("/a/{assignment}/attempts/{nth}/notebook", attempt_notebook, STUDENT),
    post("/a/{assignment}/appeals", appeal, STUDENT),
    get("/a/{assignment}/events", events, STUDENT),
]
