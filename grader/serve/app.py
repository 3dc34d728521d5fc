"""The web server's pages by address, and those about signing in."""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from grader.classes.gradebook.errors import RecordError
from grader.serve import class_pages, links, lti_pages, student_pages, web
from grader.serve.guard import BodyRefused, Guard, RateLimit, client_of
from grader.serve.sign_in import Ticket, begin_session, can_sign_in, end_session, form_token, read_ticket
from grader.serve.site import Site
from grader.serve.web import site_of

log = logging.getLogger("grader.serve")
WRONG_LINKS_A_MINUTE = 20  # of one address
IMMUTABLE = {"Cache-Control": "max-age=300"}


def make_app(site: Site) -> Starlette:
    """Return the web application of a course."""
    routes = [
        Route("/", home),
        Route("/in/{token}", ask_to_sign_in),
        Route("/in", sign_in, methods=["POST"]),
        Route("/out", sign_out, methods=["POST"]),
        Route("/static/style.css", static),
        Route("/static/live.js", static),
        Route("/health", health),
        *student_pages.ROUTES,
        *class_pages.ROUTES,
        *lti_pages.ROUTES,
    ]
    handlers = {HTTPException: on_refusal, BodyRefused: on_refusal, RecordError: on_refusal, 500: on_error}
    guard = Middleware(Guard, settings=lambda: site.settings, foreign=frozenset({lti_pages.LOGIN, lti_pages.LAUNCH}))
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.wrong_links = RateLimit(WRONG_LINKS_A_MINUTE)
    return app


async def home(request: Request) -> Response:
    """Show the assignments; to the instructor the class; to anybody else how to sign in."""
    visitor = await run_in_threadpool(web.visitor_or_none, request)
    if visitor is None:
        return await web.html(request, "welcome.html.j2", {"refused": False})
    return web.go_to("class") if visitor.is_instructor else await student_pages.assignments(request)


# ---------------------------------------------------------------- signing in


async def ask_to_sign_in(request: Request) -> Response:
    """Show whose link this is. Opening it signs nobody in: what looks at links in mails does nothing, and neither do other sites."""
    token = request.path_params["token"]
    ticket = await run_in_threadpool(_ticket, request, token)
    if ticket is None:
        return await _wrong_link(request)
    visit = secrets.token_urlsafe(24)
    student = (await run_in_threadpool(site_of(request).students)).get(ticket.person)
    name = ticket.name or (student.name if student else "")
    values = {"ticket": ticket, "name": name, "token": token, "form_token": form_token(site_of(request).key, visit)}
    response = await web.html(request, "sign_in.html.j2", values)
    web.set_cookie(request, response, "visit", visit)
    response.headers["Referrer-Policy"] = "no-referrer"  # the address is the secret
    return response


async def sign_in(request: Request) -> Response:
    """Begin a session for the person of a link or a ticket."""
    async with web.our_form(request, anonymous=True) as form:
        token = web.text_in(form, "token")
    ticket = await run_in_threadpool(_ticket, request, token, use=True)
    if ticket is None:
        return await _wrong_link(request)
    site = site_of(request)
    names = await run_in_threadpool(site.students)
    known = names.get(ticket.person)
    named = Ticket(**{**vars(ticket), "name": ticket.name or (known.name if known else "")})
    found = await run_in_threadpool(links.ticket_of, site.store, site.key, token)
    until = found[1] if found else None
    session = await run_in_threadpool(begin_session, site.store, named, web.cookie(request, "session"), until)
    log.info("signed in: %r, %s, by %s, from %s", ticket.person, ticket.role, ticket.via, client_of(request.scope))
    local = ticket.leads_to if ticket.leads_to.startswith("/") else "/"
    response = web.go_to(*filter(None, local.split("/")))
    web.set_cookie(request, response, "session", session)
    web.set_cookie(request, response, "visit", "")
    return response


def _ticket(request: Request, token: str, *, use: bool = False) -> Ticket | None:
    """Return what a link or a ticket says; None if it says nothing, or an id that can be no folder."""
    site = site_of(request)
    found = links.ticket_of(site.store, site.key, token)
    ticket = found[0] if found else read_ticket(site.store, token, use=use)
    return ticket if ticket is not None and can_sign_in(ticket.person) else None


async def _wrong_link(request: Request) -> Response:
    """Refuse a link. Who tries many is refused shortly; a link that works always works, for others may share the address."""
    client = client_of(request.scope)
    if not request.app.state.wrong_links.allows(client):
        return PlainTextResponse("Too many links that do not work. Wait a minute.\n", 429)
    log.warning("a link that does not work, from %s", client)
    return await web.html(request, "welcome.html.j2", {"refused": True}, 403)


async def sign_out(request: Request) -> Response:
    """End the session, in the store, too."""
    async with web.our_form(request):
        await run_in_threadpool(end_session, site_of(request).store, web.cookie(request, "session"))
    response = web.go_to()
    web.set_cookie(request, response, "session", "")
    return response


# ---------------------------------------------------------------- the rest


async def static(request: Request) -> Response:
    """Answer with the styles, or with the only script: it shows what happens in the queue without a reload."""
    is_style = request.url.path.endswith(".css")
    content = await run_in_threadpool(web.style if is_style else Path(web.HERE / "live.js").read_bytes)
    return Response(content, media_type=f"text/{'css' if is_style else 'javascript'}", headers=IMMUTABLE)


async def health(request: Request) -> Response:
    """Say that the server answers, for a proxy that asks."""
    return PlainTextResponse("ok\n")


async def on_refusal(request: Request, error: Exception) -> Response:
    """Answer a request that is refused with a page that says why, and what to do."""
    if isinstance(error, HTTPException | BodyRefused):
        status, detail = (
            (error.status_code, error.detail) if isinstance(error, HTTPException) else (error.status, error.detail)
        )
    else:
        status, detail = 409, str(error)
    if status == 401:
        return await web.html(request, "welcome.html.j2", {"refused": False}, 401)
    # Starlette's own detail is the status in words, which tells a student nothing.
    own = detail if detail and detail != HTTPStatus(status).phrase else "There is no such page, or it is not yours."
    response = await web.html(request, "refused.html.j2", {"status": status, "detail": own}, status)
    if isinstance(error, BodyRefused):
        response.headers["Connection"] = "close"
    return response


async def on_error(request: Request, error: Exception) -> Response:
    """Answer with a page where we are at fault; the log has the error."""
    return PlainTextResponse("Something went wrong here. It is not your fault. Try again in a minute.\n", 500)
