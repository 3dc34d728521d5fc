"""Maps each address to its page, and defines the pages for signing in and out."""

import logging
import secrets
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from grader.classes.gradebook.errors import AppealError, RecordError
from grader.serve import api, class_pages, hub, lti, lti_register, student_pages, submission_pages, web
from grader.serve.guard import Guard, client_of
from grader.serve.lti_calls import LtiError, NoAnswer, hub_calls
from grader.serve.platforms import LAUNCH, LOGIN
from grader.serve.shares import UPLOADS_A_MINUTE, RateLimit
from grader.serve.sign_in import INSTRUCTOR, Ticket, begin_session, end_token, form_token, make_ticket, ticket_of
from grader.serve.site import Site
from grader.serve.store import StoreError
from grader.serve.web import ANYBODY, NEWCOMER, Visit, get, post

log = logging.getLogger("grader.serve")
WRONG_LINKS_A_MINUTE = 20  # of one address
STATUS = {AppealError: 409, NoAnswer: 503, LtiError: 403}  # of errors that a page says in words
NO_GRADEBOOK = "The grades cannot be read or written at the moment. Your submissions are kept. Try again in a minute."
NO_STORE = "The server cannot write at the moment. Nothing was changed. Try again in a minute.\n"


def make_app(site: Site) -> Starlette:
    """Return the web application of a course."""
    routes = [
        get("/", home),
        get("/in/{token}", ask_to_sign_in),
        post("/in", sign_in, NEWCOMER),
        post("/out", sign_out, ANYBODY),
        get("/static/style.css", lambda visit: _static(web.render("serve.css"), "text/css")),
        get("/static/live.js", lambda visit: _static(web.render("live.js"), "text/javascript")),
        get("/static/close.js", lambda visit: _static(web.render("close.js"), "text/javascript")),
        get("/health", lambda visit: PlainTextResponse("ok\n")),
        *student_pages.ROUTES,
        *api.ROUTES,
        *class_pages.ROUTES,
        *submission_pages.ROUTES,
        *lti.ROUTES,
        *lti_register.ROUTES,
        get("/hub/login", lambda visit: RedirectResponse(hub.login_address(visit.site), 302)),
        get("/hub/callback", from_hub, runs=hub_calls),
    ]
    refusals = (HTTPException, RecordError, StoreError, *STATUS)
    handlers: dict[Any, Any] = dict.fromkeys(refusals, on_refusal) | {500: on_error}
    foreign = frozenset({LOGIN, LAUNCH})
    guard = Middleware(Guard, settings=lambda: site.settings, person_of=web.person_of_session, foreign=foreign)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.wrong_links = RateLimit(WRONG_LINKS_A_MINUTE)
    app.state.large_uploads = RateLimit(UPLOADS_A_MINUTE)
    return app


def home(visit: Visit) -> Response:
    """Show the assignments to a student, the class to the instructor, and the ways to sign in to anybody else."""
    if visit.visitor is None:
        return visit.html("welcome.html.j2")
    return web.go_to("class") if visit.visitor.role == INSTRUCTOR else student_pages.assignments(visit)


# ---------------------------------------------------------------- signing in


def ask_to_sign_in(visit: Visit) -> Response:
    """Show the name of the person whom a link would sign in.

    The page itself signs nobody in. So mail scanners and other sites, which also open links, cannot
    begin a session.
    """
    ticket = _ticket(visit)
    if ticket is None:
        return _wrong_link(visit)
    browser = secrets.token_urlsafe(24)
    token = form_token(visit.site.key, browser)
    response = visit.html("sign_in.html.j2", ticket=ticket, token=visit["token"], form_token=token)
    visit.set_cookie(response, "visit", browser)
    return response


def sign_in(visit: Visit) -> Response:
    """Begin a session for the person whom a link or a ticket signs in."""
    ticket = _ticket(visit, use=True)
    if ticket is None:
        return _wrong_link(visit)
    session = begin_session(visit.site.store, ticket, visit.cookie("session"))
    client = client_of(visit.request.scope)
    log.info("signed in: %r, %s, by %s, from %s", ticket.person, ticket.role, ticket.via, client)
    response = web.go_to(*filter(None, ticket.leads_to.split("/")))
    visit.set_cookie(response, "session", session)
    visit.set_cookie(response, "visit", "")
    return response


def from_hub(visit: Visit) -> Response:
    """Check the code that the browser brings from JupyterHub, and lead to the page that asks to sign in.

    That page shows the name of the account, as after a personal link.
    """
    asked = visit.request.query_params
    ticket = hub.receive(visit.site, asked.get("code", ""), asked.get("state", ""))
    return web.go_to("in", make_ticket(visit.site.store, ticket))


def _ticket(visit: Visit, *, use: bool = False) -> Ticket | None:
    """Return the ticket of the link in a request, or None if the link is not valid.

    A ticket states who may sign in. If the ticket has no name, add the name from the gradebook.

    Args:
        use: read the link from the form, and use up a ticket that works only once.
    """
    token = visit.text("token") if use else visit["token"]
    ticket = ticket_of(visit.site.store, visit.site.key, token, use=use)
    known = visit.site.students().get(ticket.person) if ticket and not ticket.name else None
    return replace(ticket, name=known.name) if ticket and known else ticket


def _wrong_link(visit: Visit) -> Response:
    """Answer a request with a link that is not valid.

    An address that tries many such links is refused for a short time. Valid links always work.
    """
    client = client_of(visit.request.scope)
    if not visit.request.app.state.wrong_links.allows(client):
        return PlainTextResponse(
            "You have opened too many links that do not work. Wait a minute, and try again.\n", 429
        )
    log.warning("a link that does not work, from %s", client)
    return visit.html("welcome.html.j2", 403, refused=True)


def sign_out(visit: Visit) -> Response:
    """End the session, both in the browser and in the store."""
    end_token(visit.site.store, visit.cookie("session"))
    response = web.go_to()
    visit.set_cookie(response, "session", "")
    return response


# ---------------------------------------------------------------- the rest


def _static(content: str, kind: str) -> Response:
    """Return a response with a style sheet or a script of the pages. Browsers may keep it for 300 seconds."""
    return Response(content, media_type=kind, headers={"Cache-Control": "max-age=300"})


def on_refusal(request: Request, error: Exception) -> Response:
    """Answer a refused request with a page that shows the reason and the next step."""
    visit = web.Visit(request=request)
    if isinstance(error, StoreError):  # a page needs to read who is signed in
        log.warning("%s: %s", request.url.path, error)
        return PlainTextResponse(NO_STORE, 503)
    if not isinstance(error, HTTPException):
        error = _refusal(visit, error)
    status, said = error.status_code, error.detail
    if request.url.path.startswith(api.PATH):
        why = (
            "The server does not know this code or token. Create a new code on the submission page."
            if status == 401
            else said
        )
        return JSONResponse({"error": why}, status, error.headers)
    if status == 401:
        return visit.html("welcome.html.j2", 401)
    # Starlette's own detail is the status in words, which tells a student nothing.
    own = said if said and said != HTTPStatus(status).phrase else "There is no such page, or it is not yours."
    if visit.token:  # a program asks
        return PlainTextResponse(f"{own}\n", status)
    steps = request.url.path.split("/")
    back = {"a": "/".join(steps[:3]), "class": "/class"}.get(steps[1], "/")
    response = visit.html("refused.html.j2", status, code=status, detail=own, back=back)
    response.headers.update(error.headers or {})
    return response


def _refusal(visit: Visit, error: Exception) -> HTTPException:
    """Return the HTTP error with which the server refuses a request that failed with `error`.

    Messages of gradebook errors are for operators, so only the instructor sees them.
    """
    for kind, code in STATUS.items():
        if isinstance(error, kind):
            return HTTPException(code, str(error))
    log.warning("%s: %s", visit.request.url.path, error)
    # To know a visitor by a token, JupyterHub would have to be asked, which threads of pages do not do.
    if not visit.token and visit.visitor and visit.visitor.role == INSTRUCTOR:
        return HTTPException(409, str(error))
    return HTTPException(503, NO_GRADEBOOK)


def on_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed because of a server error with a short page. The log contains the error."""
    return PlainTextResponse("The server has an error. It is not your fault. Try again in a minute.\n", 500)
