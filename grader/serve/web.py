"""Defines the parts that all pages share: routes with access rules, forms with a token, HTML, and safe redirects.

A page is a plain function of a `Visit`. It runs in a thread, so it may wait for the disk and the
gradebook.
"""

import hmac
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from grader.report.page import templates
from grader.serve import hub
from grader.serve.guard import SANDBOXED, SMALL_BODY
from grader.serve.lti_calls import HUB_CALLS, in_own_threads
from grader.serve.shares import at_once, upload_place
from grader.serve.sign_in import (
    INSTRUCTOR,
    SESSION_SECONDS,
    STUDENT,
    Ticket,
    digest_of,
    form_token,
    student_with_code,
    visitor_of,
)
from grader.serve.site import Site

HERE = Path(__file__).parent / "templates"
LONGEST_APPEAL = 2000  # characters
FORMS_EACH = 3  # of a person, at a time
ANYBODY, NEWCOMER, PLATFORM = "anybody", "newcomer", "platform"  # who may come in, besides students and instructors


@dataclass(kw_only=True)
class Visit:
    """One request, with its form and the person who sent it."""

    request: Request
    form: FormData = field(default_factory=FormData)
    _known: tuple[Ticket | None, ...] = ()  # the visitor, once it is known

    @property
    def site(self) -> Site:
        """The course that this server is for."""
        return self.request.app.state.site

    @property
    def visitor(self) -> Ticket | None:
        """The ticket of the person who is signed in or whose notebook sends the request, or None for a stranger.

        It is not a `cached_property`. In Python 3.11, all objects share one lock for such a
        property, and a thread that waits for JupyterHub would keep that lock.
        """
        if not self._known:
            here = self.visitor_known_here
            of_hub = self.token and here is None and self.site.settings.hub
            self._known = (hub.ticket_of(self.site, self.token) if of_hub else here,)
        return self._known[0]

    @property
    def visitor_known_here(self) -> Ticket | None:
        """The ticket of a person with a session or a personal code, or None. This never asks JupyterHub."""
        if self.token:
            return self.with_code
        return visitor_of(self.site.store, self.cookie("session"))

    @property
    def with_code(self) -> Ticket | None:
        """The ticket of the student whose personal code a notebook sends, or None without a valid code."""
        return student_with_code(self.site.store, self.site.key, self.token) if self.token else None

    @property
    def token(self) -> str:
        """The token that a program sends, or "" without one: a personal code or a JupyterHub token.

        No other site can make a browser send such a token.
        """
        kind, _, token = self.request.headers.get("authorization", "").partition(" ")
        return token if kind.lower() in ("token", "bearer") else ""

    @property
    def person(self) -> str:
        """The id of the person who is signed in, or "" if nobody is signed in."""
        return self.visitor.person if self.visitor else ""

    def __getitem__(self, name: str) -> Any:
        """Return the part of the request's address that the route calls `name`."""
        return self.request.path_params[name]

    def text(self, name: str, most: int = 4000) -> str:
        """Return a text field of the form, cut to `most` characters, or "" if the field is missing or is a file."""
        value = self.form.get(name)
        text = value.strip()[:most] if isinstance(value, str) else ""
        return text.encode("utf-8", "replace").decode()  # a form may name an encoding that makes half characters

    def cookie(self, name: str) -> str:
        """Return the value of one of this server's cookies, or "" if it is missing."""
        return self.request.cookies.get(self._cookie_name(name), "")

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Set a cookie in the browser, or remove it if `value` is "". Scripts and other sites cannot use the cookie."""
        age = SESSION_SECONDS if value else 0
        secure = self.site.settings.secure
        name = self._cookie_name(name)
        response.set_cookie(name, value, max_age=age, path="/", secure=secure, httponly=True, samesite="lax")

    def _cookie_name(self, name: str) -> str:
        """Return the cookie's full name. With TLS, a prefix makes browsers accept it only from this host."""
        return f"__Host-{name}" if self.site.settings.secure else name

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page made from a template.

        The template gets `values`, the signed-in person, the settings and the token for forms.
        """
        visitor = None if self.request.url.path.startswith("/lti/") else self.visitor  # those pages may be in a frame
        token = form_token(self.site.key, visitor.session) if visitor else ""
        shared = {"visitor": visitor, "settings": self.site.settings, "form_token": token}
        return HTMLResponse(render(template, **{**shared, **values}), status)


# ---------------------------------------------------------------- routes

_forms = Counter[str]()
Page = Callable[[Visit], Response]
In = Callable[..., Any]  # runs a function in a thread, and returns what that returns


def get(path: str, page: Page, who: str = ANYBODY, *, runs: In = run_in_threadpool) -> Route:
    """Return the route of a page that changes nothing.

    Args:
        who: the people who may see the page.
        runs: runs the page in a thread. A page that may wait for long needs its own kind of
            threads.
    """

    async def answer(request: Request) -> Response:
        visit = await _visit(request, who)
        return await runs(page, visit)

    return Route(path, answer, methods=["GET"])


def post(
    path: str,
    page: Page,
    who: str,
    before: Callable[[Visit], None] = lambda visit: None,
    *,
    runs: In = run_in_threadpool,
) -> Route:
    """Return the route of a form.

    Args:
        who: the people who may send the form.
        before: called before the form is read. It may refuse the form by raising HTTPException.
        runs: as for `get`.
    """

    async def answer(request: Request) -> Response:
        visit = await _visit(request, who)
        await run_in_threadpool(before, visit)
        async with _form(visit, who):
            return await runs(page, visit)

    return Route(path, answer, methods=["POST"])


async def _visit(request: Request, who: str) -> Visit:
    """Return the visit of a person who may see a page. Ask JupyterHub only in the threads for JupyterHub.

    Raises:
        HTTPException: as for `_admit`.
    """
    visit = Visit(request=request)
    if visit.token and not await run_in_threadpool(lambda: visit.with_code):
        await in_own_threads(HUB_CALLS, lambda: visit.visitor)
    return await run_in_threadpool(_admit, visit, who)


def person_of_session(scope: Scope) -> str:
    """Return the id of the person with the request's session or code, or "" without one. Never ask JupyterHub."""
    visitor = Visit(request=Request(scope)).visitor_known_here
    return visitor.person if visitor else ""


def _admit(visit: Visit, who: str) -> Visit:
    """Return a visit if its person may see a page.

    Raises:
        HTTPException: the person may not see the page, or must sign in first.
    """
    if who in (STUDENT, INSTRUCTOR):
        if visit.visitor is None:
            raise HTTPException(401)
        if who == INSTRUCTOR and visit.visitor.role != INSTRUCTOR:  # for students the class has no pages
            raise HTTPException(404)
        if who == STUDENT and visit.visitor.role == INSTRUCTOR:
            told = "You are signed in as the instructor, who cannot submit. Open a student's personal link to submit."
            raise HTTPException(403, told)
    return visit


@asynccontextmanager
async def _form(visit: Visit, who: str) -> AsyncIterator[None]:
    """Read the form of a visit, and close its files when the context ends.

    Raises:
        HTTPException: the form lacks this browser's token, or too many forms are arriving.
    """
    is_large = _is_large(visit.request)
    files, fields, size = (0, 20, 1 << 16) if who == PLATFORM else (1, 8, SMALL_BODY)
    with ExitStack() as stack:
        if who in (STUDENT, INSTRUCTOR):  # the forms of others are small, and there in whole
            message = "You are sending other forms at this moment. Wait until they have arrived, and try again."
            stack.enter_context(at_once(_forms, visit.person, FORMS_EACH, message))
        if is_large and not visit.request.app.state.large_uploads.allows(visit.person):
            raise HTTPException(429, "You have sent too many files in this minute. Wait a minute, and try again.")
        with upload_place(visit.person) if is_large else nullcontext():
            visit.form = await visit.request.form(max_files=files, max_fields=fields, max_part_size=size)
        try:
            if who != PLATFORM and not visit.token:
                bound = visit.cookie("visit") if who == NEWCOMER else digest_of(visit.cookie("session"))
                given, wanted = visit.text("form_token"), form_token(visit.site.key, bound)
                if not bound or not hmac.compare_digest(given.encode(), wanted.encode()):
                    raise HTTPException(403, "This form is too old. Load its page again, and send it once more.")
            yield
        finally:
            await visit.form.close()


def _is_large(request: Request) -> bool:
    """Return True if the body of a request is too large for the guard to have read it already."""
    return int(request.headers["content-length"]) > SMALL_BODY


# ---------------------------------------------------------------- answers


def students_html(page: bytes) -> Response:
    """Return a response with a page that contains a student's text.

    The page can run no scripts and reach nothing on this site.
    """
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": SANDBOXED})


def go_to(*parts: str) -> Response:
    """Return a redirect to a page of this server, whose path has these parts."""
    return RedirectResponse("/" + "/".join(quote(part, safe="") for part in parts), 303)


def render(template: str, **values: Any) -> str:
    """Return the text that a template of the server, or of the feedback pages, makes from `values`."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    """Return the template environment of the feedback pages, extended by the server's templates.

    It escapes all text.
    """
    shared = templates()
    environment = shared.overlay(loader=ChoiceLoader([FileSystemLoader(HERE), shared.loader]))
    environment.filters["when"] = lambda moment: f"{moment:%d %b %Y, %H:%M} UTC"
    environment.filters["path"] = lambda text: quote(text, safe="")
    return environment
