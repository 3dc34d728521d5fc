"""What all pages share: who asks, forms that are ours, HTML, and redirects that stay here."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from grader.report.page import templates
from grader.serve.guard import SANDBOXED, SMALL_BODY
from grader.serve.sign_in import SESSION_HOURS, Visitor, digest_of, form_token, visitor_of
from grader.serve.site import Site

HERE = Path(__file__).parent / "templates"


def site_of(request: Request) -> Site:
    """Return the course that this server is for."""
    return request.app.state.site


# ---------------------------------------------------------------- cookies and forms


def cookie(request: Request, name: str) -> str:
    """Return a cookie of ours; "" without one."""
    return request.cookies.get(_cookie_name(request, name), "")


def set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    """Give the browser a cookie that no script reads and no other site sends; "" removes it."""
    response.set_cookie(
        _cookie_name(request, name),
        value,
        max_age=SESSION_HOURS * 3600 if value else 0,
        path="/",
        secure=site_of(request).settings.secure,
        httponly=True,
        samesite="lax",
    )


def _cookie_name(request: Request, name: str) -> str:
    """With the prefix, browsers take the cookie from this host over TLS alone: a neighbouring host cannot plant one."""
    return f"__Host-{name}" if site_of(request).settings.secure else name


def visitor_or_none(request: Request) -> Visitor | None:
    """Return who is signed in."""
    return visitor_of(site_of(request).store, cookie(request, "session"))


def student_or_401(request: Request) -> Visitor:
    """Return the student who is signed in.

    Raises:
        HTTPException: nobody is, or it is an instructor, who hands in nothing.
    """
    visitor = visitor_or_none(request)
    if visitor is None:
        raise HTTPException(401)
    if visitor.is_instructor:
        raise HTTPException(
            403, "You are signed in as the instructor, who hands in nothing. Open a student's own link for that."
        )
    return visitor


async def instructors_site(request: Request) -> Site:
    """Return the course, if the instructor is signed in; for students these pages do not exist."""
    visitor = await run_in_threadpool(visitor_or_none, request)
    if visitor is None or not visitor.is_instructor:
        raise HTTPException(401 if visitor is None else 404)
    return site_of(request)


@asynccontextmanager
async def our_form(request: Request, *, anonymous: bool = False) -> AsyncIterator[FormData]:
    """Read a form, and refuse one without this browser's token. Leaving the context closes its files.

    Args:
        anonymous: the form is one of a page before signing in.

    Raises:
        HTTPException: the form has another token, or cannot be read.
    """
    async with request.form(max_files=1, max_fields=8, max_part_size=SMALL_BODY) as form:
        bound = cookie(request, "visit") if anonymous else digest_of(cookie(request, "session"))
        given = form.get("form_token")
        wanted = form_token(site_of(request).key, bound)
        if not bound or not isinstance(given, str) or not hmac.compare_digest(given.encode(), wanted.encode()):
            raise HTTPException(403, "This form is too old. Go back, load the page again, and send it once more.")
        yield form


def text_in(form: FormData, name: str, most: int = 4000) -> str:
    """Return a text of a form; "" where it is missing, or is a file."""
    value = form.get(name)
    return value.strip()[:most] if isinstance(value, str) else ""


# ---------------------------------------------------------------- answers


async def html(request: Request, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """Make a page of a template."""

    def make() -> str:
        visitor = visitor_or_none(request)
        token = form_token(site_of(request).key, visitor.session) if visitor else ""
        shared = {"visitor": visitor, "form_token": token}
        return _environment().get_template(template).render({**shared, **values})

    return HTMLResponse(await run_in_threadpool(make), status)


def students_html(page: bytes) -> Response:
    """Answer with a page that shows a student's text: it can run nothing, and reach nothing of this site."""
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": SANDBOXED})


def go_to(*parts: str) -> Response:
    """Send the browser to a page of ours."""
    return RedirectResponse("/" + "/".join(quote(part, safe="") for part in parts), 303)


@cache
def _environment() -> Environment:
    """Return the environment of the feedback pages, with our templates: it escapes all text."""
    environment = templates().overlay(loader=FileSystemLoader(HERE))
    environment.filters["when"] = when
    environment.filters["path"] = lambda text: quote(text, safe="")
    return environment


@cache
def style() -> bytes:
    """Return the styles of all pages: those of the feedback page, and ours."""
    import grader.report

    shared = Path(grader.report.__file__).parent / "templates" / "style.css"
    return shared.read_bytes() + (HERE / "serve.css").read_bytes()


def when(moment: datetime) -> str:
    """Write a time for people."""
    return f"{moment:%d %b %Y, %H:%M} UTC"
