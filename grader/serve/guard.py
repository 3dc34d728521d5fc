"""What every request passes before a page sees it: host, origin, size, time and rate; and the headers of every answer."""

import asyncio
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.serve.log import shown
from grader.serve.settings import Settings, is_loopback
from grader.submission.file import MAX_BYTES

log = logging.getLogger("grader.serve")

SMALL_BODY = 64 << 10  # bytes of any other form
LARGEST_BODY = MAX_BYTES + SMALL_BODY  # of an upload
QUIET_SECONDS, WHOLE_SECONDS = 20.0, 300.0  # for the next part of a body, and for all of it
REQUESTS_A_MINUTE = 300  # of one address with one session
ADDRESS_REQUESTS_A_MINUTE = 6000  # of one address: a whole class may share it
UPLOADS_AT_ONCE = 16  # that are still coming
MINUTE = 60.0
LONGEST_ADDRESS = 60  # characters of a client's address; an IPv6 address with a zone has fewer
# Of our own pages: nothing from elsewhere, no inline script or style, no frame around them but a platform's.
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action {forms}; base-uri 'none'; frame-ancestors {frames}"
)
# Of pages with students' text: as in a file, without scripts, forms and this site's cookies.
SANDBOXED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
CLOSE = {"Connection": "close"}
# Addresses that are secrets: no log has them, and no next request names them.
SECRET = re.compile(r"^(/in/|/lti/register/).+")


class RateLimit:
    """Counts what each client does within a minute."""

    def __init__(self, most: int) -> None:
        self._most, self._began, self._counts = most, -math.inf, Counter[str]()

    def allows(self, client: str) -> bool:
        """Count one request; tell whether it is within the limit."""
        if time.monotonic() - self._began >= MINUTE:  # all begin anew, so that what is kept does not grow
            self._began, self._counts = time.monotonic(), Counter()
        self._counts[client] += 1
        return self._counts[client] <= self._most


@contextmanager
def at_once(counts: Counter[str], key: str, most: int, told: str) -> Iterator[None]:
    """Count one more of what goes on under a key, until the context ends. Call it where no other thread does.

    Raise HTTPException, which says `told`, if `most` go on already.
    """
    if counts[key] >= most:
        raise HTTPException(429, told)
    counts[key] += 1
    try:
        yield
    finally:
        counts[key] -= 1
        counts += Counter()  # leaves out what is 0


class Guard:
    """ASGI middleware around the pages.

    `settings` returns what serve.toml says now. A learning platform may send forms to the paths in `foreign`; they
    check who sent them by other means.
    """

    def __init__(self, app: ASGIApp, settings: Callable[[], Settings], foreign: frozenset[str]) -> None:
        self._app, self._settings, self._foreign = app, settings, foreign
        self._rate, self._address_rate = RateLimit(REQUESTS_A_MINUTE), RateLimit(ADDRESS_REQUESTS_A_MINUTE)
        self._coming = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with a guarded body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _with_headers(scope, send, self._settings)
        with ExitStack() as coming:
            try:
                self._admit(scope, coming)
            except HTTPException as refusal:
                await PlainTextResponse(refusal.detail + "\n", refusal.status_code)(scope, receive, answer)
                return
            # what `_bounded` raises is answered there
            await self._app(scope, _bounded(receive, coming.close), answer)

    def _admit(self, scope: Scope, coming: ExitStack) -> None:
        """Count a request, or raise HTTPException before anything of its body is read. `coming` closes when that has come."""
        headers, settings = Headers(scope=scope), self._settings()
        if not _is_ours(headers.get("host", ""), settings):
            raise HTTPException(421, "This server has another name.")
        client, session = client_of(scope), headers.get("cookie", "")[-80:]
        if not (self._address_rate.allows(client) and self._rate.allows(f"{client} {session}")):
            raise HTTPException(429, "Too many requests. Wait a minute.")
        if scope["method"] in ("GET", "HEAD"):
            return
        if scope["method"] != "POST":
            raise HTTPException(405, "Only GET and POST are known here.")
        if scope["path"] not in self._foreign and not _from_here(headers, settings):
            log.warning("refused a form from elsewhere: %s from %s", _path(scope), client)
            raise HTTPException(403, "This form came from another site.")
        if _length(headers, scope["path"]) > SMALL_BODY:
            told = "Many are handing in at this moment. Try again in a few seconds."
            coming.enter_context(at_once(self._coming, "uploads", UPLOADS_AT_ONCE, told))


def _length(headers: Headers, path: str) -> int:
    """Return the length of a body; raise HTTPException where none is said, or it is too long for this path."""
    length = headers.get("content-length", "")
    if not re.fullmatch(r"[0-9]{1,99}", length):
        raise HTTPException(411, "Say how long the form is (Content-Length).")
    largest = LARGEST_BODY if path.startswith("/a/") and path.count("/") == 2 else SMALL_BODY
    if int(length) > largest:
        told = f"This is larger than {largest >> 20 or 1} MiB. Clear the notebook's outputs, and save it."
        raise HTTPException(413, told)
    return int(length)


def client_of(scope: Scope) -> str:
    """Return the address that a request comes from, "unknown" without one; uvicorn has replaced the proxy's own.

    A proxy hands on what its client wrote, so the text may be anything.
    """
    return shown((scope.get("client") or ("unknown", 0))[0], LONGEST_ADDRESS)


def _path(scope: Scope) -> str:
    """Return a path as the log shows it: without a secret, and short."""
    return shown(SECRET.sub(r"\1…", scope["path"]))


def _is_ours(host: str, settings: Settings) -> bool:
    """Tell whether a request names this server. By a loopback address one reaches it for a look at its health."""
    host = host.lower()
    return settings.origin.endswith(f"//{host}") or is_loopback(host.rpartition(":")[0].strip("[]") or host)


def _from_here(headers: Headers, settings: Settings) -> bool:
    """Tell whether a form was sent by a page of ours, as far as the browser says.

    The page of a link sends no referrer, and browsers then call its origin "null"; so does a frame of another site, but
    that says `cross-site`.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    return origin is None or origin.lower() == settings.origin or (origin == "null" and site == "same-origin")


def _bounded(receive: Receive, came: Callable[[], None]) -> Receive:
    """Return a `receive` that raises HTTPException where a body is too slow or too long, and calls `came` at its end."""
    began, total, ended = time.monotonic(), 0, False

    async def bounded() -> Message:
        nonlocal total, ended
        if ended:  # what is waited for now is that the browser goes away
            return await receive()
        left = WHOLE_SECONDS - (time.monotonic() - began)
        try:
            message = await asyncio.wait_for(receive(), max(0.0, min(QUIET_SECONDS, left)))
        except TimeoutError:
            raise HTTPException(408, "The upload was too slow. Try again on a better connection.", CLOSE) from None
        total += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if total > LARGEST_BODY:
            raise HTTPException(413, "The upload is larger than it said.", CLOSE)
        if ended:
            came()
        return message

    return bounded


def _headers(path: str, status: int, settings: Settings) -> dict[str, str]:
    """Return the headers of a page. What a platform opens may be in its frame, and answer it by a form.

    A refusal may be in any frame: it has nothing to press, and a platform that is not registered should show why.
    """
    lti = path.startswith("/lti/")
    own = {each for one in settings.lti.values() for each in one.origins} if lti else set()
    framing = {"*"} if lti and status >= 400 else own
    forms, frames = " ".join(sorted({"'self'", *own})), " ".join(sorted(framing or {"'none'"}))
    told = {**HEADERS, "Content-Security-Policy": CSP.format(forms=forms, frames=frames)}
    if not framing:
        told["X-Frame-Options"] = "DENY"
    if SECRET.match(path):
        told["Referrer-Policy"] = "no-referrer"
    if settings.secure:
        told["Strict-Transport-Security"] = "max-age=31536000"
    return told


def _with_headers(scope: Scope, send: Send, settings: Callable[[], Settings]) -> Send:
    """Return a `send` that adds our headers, unless a page has set its own, and writes a line of the log."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _headers(scope["path"], message["status"], settings()).items():
                headers.setdefault(name, value)
            log.info("%s %s '%s' %s", client_of(scope), shown(scope["method"]), _path(scope), message["status"])
        await send(message)

    return answer
