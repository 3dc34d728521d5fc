"""What all pages share: routes that say who may come in, forms that are ours, HTML, and redirects that stay here.

A page is a plain function of a `Visit`. It runs in a thread, where it may wait for the disk and the gradebook.
"""

import hmac
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
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

from grader.report.page import templates
from grader.serve import hub
from grader.serve.guard import SANDBOXED, SMALL_BODY, at_once, client_of
from grader.serve.sign_in import INSTRUCTOR, SESSION_SECONDS, STUDENT, Ticket, digest_of, form_token, visitor_of
from grader.serve.site import Site

HERE = Path(__file__).parent / "templates"
LONGEST_APPEAL = 2000  # characters
# Forms at a time of one person, and of those whom nobody knows from one address: who sends many slowly takes no place of others.
FORMS_EACH, FORMS_OF_STRANGERS = 3, 100
ANYBODY, NEWCOMER, PLATFORM = "anybody", "newcomer", "platform"  # who may come in, besides students and instructors


@dataclass(kw_only=True)
class Visit:
    """One request: of whom, and with which form."""

    request: Request
    form: FormData = field(default_factory=FormData)

    @property
    def site(self) -> Site:
        """The course that this server is for."""
        return self.request.app.state.site

    @cached_property
    def visitor(self) -> Ticket | None:
        """Who is signed in, or whose notebook server at JupyterHub asks."""
        if self.hub_token:
            return hub.ticket_of(self.site, self.hub_token)
        return visitor_of(self.site.store, self.cookie("session"))

    @property
    def hub_token(self) -> str:
        """The token of JupyterHub that a program sends; no other site makes a browser send one."""
        kind, _, token = self.request.headers.get("authorization", "").partition(" ")
        return token if kind.lower() in ("token", "bearer") else ""

    @property
    def person(self) -> str:
        """The id of who is signed in; "" for anybody else."""
        return self.visitor.person if self.visitor else ""

    def __getitem__(self, name: str) -> Any:
        """Return a part of the address."""
        return self.request.path_params[name]

    def text(self, name: str, most: int = 4000) -> str:
        """Return a text of the form; "" where it is missing, or is a file."""
        value = self.form.get(name)
        text = value.strip()[:most] if isinstance(value, str) else ""
        return text.encode("utf-8", "replace").decode()  # a form may name an encoding that makes half characters

    def cookie(self, name: str) -> str:
        """Return a cookie of ours; "" without one."""
        return self.request.cookies.get(self._cookie_name(name), "")

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Give the browser a cookie that no script reads and no other site sends; "" removes it."""
        age = SESSION_SECONDS if value else 0
        secure = self.site.settings.secure
        name = self._cookie_name(name)
        response.set_cookie(name, value, max_age=age, path="/", secure=secure, httponly=True, samesite="lax")

    def _cookie_name(self, name: str) -> str:
        """With the prefix, browsers take the cookie from this host over TLS alone: a neighbouring host cannot plant one."""
        return f"__Host-{name}" if self.site.settings.secure else name

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Make a page of a template, with who is signed in, the settings, the token for forms, and these values."""
        visitor = None if self.request.url.path.startswith("/lti/") else self.visitor  # those pages may be in a frame
        token = form_token(self.site.key, visitor.session) if visitor else ""
        shared = {"visitor": visitor, "settings": self.site.settings, "form_token": token}
        return HTMLResponse(render(template, **{**shared, **values}), status)


# ---------------------------------------------------------------- routes

_forms = Counter[str]()
Page = Callable[[Visit], Response]


def get(path: str, page: Page, who: str = ANYBODY) -> Route:
    """Return the route of a page that changes nothing."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(lambda: page(_admit(request, who)))

    return Route(path, answer, methods=["GET"])


def post(path: str, page: Page, who: str, before: Callable[[Visit], None] = lambda visit: None) -> Route:
    """Return the route of a form; `before` raises HTTPException where the form need not be read."""

    async def answer(request: Request) -> Response:
        visit = await run_in_threadpool(_admit, request, who)
        await run_in_threadpool(before, visit)
        async with _form(visit, who):
            return await run_in_threadpool(page, visit)

    return Route(path, answer, methods=["POST"])


def _admit(request: Request, who: str) -> Visit:
    """Return the visit of a person who may see a page; raise HTTPException for anybody else."""
    visit = Visit(request=request)
    if who in (STUDENT, INSTRUCTOR):
        if visit.visitor is None:
            raise HTTPException(401)
        if who == INSTRUCTOR and visit.visitor.role != INSTRUCTOR:  # for students the class has no pages
            raise HTTPException(404)
        if who == STUDENT and visit.visitor.role == INSTRUCTOR:
            told = "You are signed in as the instructor, who hands in nothing. Open a student's own link for that."
            raise HTTPException(403, told)
    return visit


@asynccontextmanager
async def _form(visit: Visit, who: str) -> AsyncIterator[None]:
    """Read a form, and refuse one without this browser's token, or while many come. Leaving the context closes its files."""
    known = who in (STUDENT, INSTRUCTOR)
    sender, most = (visit.person, FORMS_EACH) if known else (client_of(visit.request.scope), FORMS_OF_STRANGERS)
    files, fields, size = (0, 20, 1 << 16) if who == PLATFORM else (1, 8, SMALL_BODY)
    with at_once(_forms, f"{known} {sender}", most, "You are sending others at this moment. Wait for them."):
        async with visit.request.form(max_files=files, max_fields=fields, max_part_size=size) as visit.form:
            if who != PLATFORM and not visit.hub_token:
                bound = visit.cookie("visit") if who == NEWCOMER else digest_of(visit.cookie("session"))
                given, wanted = visit.text("form_token"), form_token(visit.site.key, bound)
                if not bound or not hmac.compare_digest(given.encode(), wanted.encode()):
                    raise HTTPException(403, "This form is too old. Load its page again, and send it once more.")
            yield


# ---------------------------------------------------------------- answers


def students_html(page: bytes) -> Response:
    """Answer with a page that shows a student's text: it can run nothing, and reach nothing of this site."""
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": SANDBOXED})


def go_to(*parts: str) -> Response:
    """Send the browser to a page of ours."""
    return RedirectResponse("/" + "/".join(quote(part, safe="") for part in parts), 303)


def render(template: str, **values: Any) -> str:
    """Fill in a template of the server, or of the feedback pages."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    """Return the environment of the feedback pages, with our templates besides: it escapes all text."""
    shared = templates()
    environment = shared.overlay(loader=ChoiceLoader([FileSystemLoader(HERE), shared.loader]))
    environment.filters["when"] = lambda moment: f"{moment:%d %b %Y, %H:%M} UTC"
    environment.filters["path"] = lambda text: quote(text, safe="")
    return environment
