"""The addresses that a learning platform calls: login, launch, and our public key."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.serve.guard import CSP
from grader.serve.lti import LtiError, begin_login, launch, own_key
from grader.serve.sign_in import STUDENT, Ticket, can_sign_in, make_ticket
from grader.serve.site import Site
from grader.serve.web import html, site_of, text_in

LOGIN, LAUNCH = "/lti/login", "/lti/launch"


async def login(request: Request) -> Response:
    """Send the browser to the platform, which says who it is."""
    told = dict(request.query_params)
    if request.method == "POST":
        async with request.form(max_files=0, max_fields=20) as form:
            told = {name: text_in(form, name) for name in form}
    try:
        return RedirectResponse(await run_in_threadpool(begin_login, site_of(request), told), 302)
    except LtiError as error:
        raise HTTPException(403, str(error)) from error


async def receive(request: Request) -> Response:
    """Take a launch, and show a page from which the place to hand in opens in a tab of its own.

    In the platform's frame the cookie of a session would be another site's, which browsers block.
    """
    async with request.form(max_files=0, max_fields=20) as form:
        token, state = text_in(form, "id_token", 1 << 16), text_in(form, "state")
    site = site_of(request)
    try:
        ticket, platform = await run_in_threadpool(launch, site, token, state)
    except LtiError as error:
        raise HTTPException(403, str(error)) from error
    if not can_sign_in(ticket.person):
        raise HTTPException(403, "Your platform's name for you cannot be used here. Tell your instructor.")
    await run_in_threadpool(_name, site, ticket)
    one_time = await run_in_threadpool(make_ticket, site.store, ticket)
    response = await html(request, "lti.html.j2", {"token": one_time, "visitor": None})
    parts = urlsplit(platform.login_url)
    framed = f"frame-ancestors {parts.scheme}://{parts.netloc}"
    response.headers["Content-Security-Policy"] = CSP.replace("frame-ancestors 'none'", framed)
    return response


def _name(site: Site, ticket: Ticket) -> None:
    """Add a student to the gradebook, so that the class page lists who has handed in nothing, too."""
    if ticket.role == STUDENT:
        first, _, last = ticket.name.rpartition(" ")
        try:
            add_students(site.gradebook, site.course, [Student(id=ticket.person, first_name=first, last_name=last)])
        except RecordError:  # another program writes; grading adds the student, too
            return


async def keys(request: Request) -> Response:
    """Publish the key by which platforms know us."""
    key = await run_in_threadpool(own_key, site_of(request).folder)
    return JSONResponse({"keys": [key.as_dict(private=False)]})


ROUTES = [
    Route(LOGIN, login, methods=["GET", "POST"]),
    Route(LAUNCH, receive, methods=["POST"]),
    Route("/lti/keys", keys),
]
