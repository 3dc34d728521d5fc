"""Checks every request before a page sees it, and sets the headers of every answer.

The checks cover the host, the origin of a form, the size of the body, and the time and rate of
requests.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import ExitStack

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.serve.log import shown
from grader.serve.settings import Settings, is_loopback
from grader.serve.shares import RateLimit, slow_form
from grader.submission.file import MAX_BYTES

log = logging.getLogger("grader.serve")

TINY_BODY = 1 << 10  # bytes of a form that signs in or out
SMALL_BODY = 64 << 10  # bytes of any other form
LARGEST_BODY = MAX_BYTES + SMALL_BODY  # of an upload
TINY_FORMS = ("/in", "/out")
QUIET_SECONDS, WHOLE_SECONDS = 20.0, 300.0  # for the next part of a body, and for all of it
SMALL_SECONDS = 10.0  # for all of a small body
MOMENT_SECONDS = 1.0  # a small body that takes longer takes a place among the slow ones
LEAST_RATE, GRACE_SECONDS = 8 << 10, 20.0  # bytes per second of an upload, after its first seconds
REQUESTS_A_MINUTE = 300  # of one address with one session
ADDRESS_REQUESTS_A_MINUTE = 6000  # of one address, of all who are not signed in: a whole class may share it
LONGEST_ADDRESS = 60  # characters of a client's address; an IPv6 address with a zone has fewer
# Of our own pages: nothing from elsewhere, no inline script or style, no frame around them but a platform's.
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action {forms}; base-uri 'none'; frame-ancestors {frames}"
)
# Of pages with students' text: as in a file, without scripts, forms and this site's cookies.
SANDBOXED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
CLOSE = {"Connection": "close"}
TOO_SLOW = "The upload was too slow. Try again on a better connection."
clock = time.monotonic
# Addresses that are secrets: no log has them, and no next request names them.
SECRET = re.compile(r"^(/in/|/lti/register/).+")


class Guard:
    """ASGI middleware around the pages.

    `settings` returns the present settings in serve.toml. `person_of` returns the id of the person
    whom a request's session signs in, or "" if nobody is signed in. A learning platform may send
    forms to the paths in `foreign`; the pages there check the sender by other means.
    """

    def __init__(
        self, app: ASGIApp, settings: Callable[[], Settings], person_of: Callable[[Scope], str], foreign: frozenset[str]
    ) -> None:
        self._app, self._settings, self._person_of, self._foreign = app, settings, person_of, foreign
        self._rate, self._address_rate = RateLimit(REQUESTS_A_MINUTE), RateLimit(ADDRESS_REQUESTS_A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on: with a small body once it has arrived, with a large one at once.

        A large body is then read with limits for its size and its time.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _with_headers(scope, send, self._settings)
        try:
            length = await self._admit(scope)
            inner = bounded(receive, length)
            if 0 < length <= SMALL_BODY:
                inner = await self._whole(scope, inner)
        except HTTPException as refusal:
            await PlainTextResponse(refusal.detail + "\n", refusal.status_code, CLOSE)(scope, receive, answer)
            return
        # what `bounded` raises from now on is answered there
        await self._app(scope, inner, answer)

    async def _admit(self, scope: Scope) -> int:
        """Count a request, and return the length of its body in bytes.

        Raises:
            HTTPException: the request is refused. Nothing of its body has been read.
        """
        headers, settings = Headers(scope=scope), self._settings()
        if not _is_ours(headers.get("host", ""), settings):
            raise HTTPException(421, "This server does not answer at this address.")
        await self._count(scope, headers)
        if scope["method"] in ("GET", "HEAD"):
            if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
                raise HTTPException(400, "A request for a page must not have a body.")
            return 0
        if scope["method"] != "POST":
            raise HTTPException(405, "This server accepts only GET and POST.")
        if scope["path"] not in self._foreign and not _from_here(headers, settings):
            log.warning("refused a form from elsewhere: %s from %s", _path(scope), client_of(scope))
            raise HTTPException(403, "This form came from another site.")
        return _length(headers, scope["path"])

    async def _count(self, scope: Scope, headers: Headers) -> None:
        """Count a request for its browser and for its address.

        Requests without a cookie or token count only for the address, because strangers must not
        share the small limit of one browser. Above the limit of the address, people who are signed
        in can still send requests. Only then does the server look up whether the request belongs to
        such a person.

        Raises:
            HTTPException: there are too many requests from the browser, or from the address of a
                stranger.
        """
        client, session = client_of(scope), (headers.get("cookie") or headers.get("authorization", ""))[-80:]
        if session and not self._rate.allows(f"{client} {session}"):
            raise HTTPException(429, "Too many requests. Wait a minute.")
        if not self._address_rate.allows(client) and not await run_in_threadpool(self._person_of, scope):
            raise HTTPException(429, "Too many requests from your network. Wait a minute, or use another network.")

    async def _whole(self, scope: Scope, receive: Receive) -> Receive:
        """Read a small body, and return a `receive` function that returns this body.

        So no page and no thread waits for a slow sender. A form that takes longer than
        MOMENT_SECONDS counts as one of the slow forms of its person, or else of its address.

        Raises:
            HTTPException: the body takes too long, or too many slow forms are arriving.
        """
        reading = asyncio.ensure_future(_read(receive))
        try:
            with ExitStack() as stack:
                if not (await asyncio.wait([reading], timeout=MOMENT_SECONDS))[0]:
                    person = await run_in_threadpool(self._person_of, scope)
                    stack.enter_context(slow_form(person, client_of(scope)))
                parts = await asyncio.wait_for(reading, SMALL_SECONDS)
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, CLOSE) from None
        finally:
            reading.cancel()

        async def again() -> Message:
            return parts.pop(0) if parts else await receive()

        return again


async def _read(receive: Receive) -> list[Message]:
    """Return the ASGI messages of a request's body, up to its end or until the browser disconnects."""
    parts = [await receive()]
    while parts[-1].get("more_body", False):
        parts.append(await receive())
    return parts


def _length(headers: Headers, path: str) -> int:
    """Return the length of a request's body in bytes, as its headers state it.

    Raises:
        HTTPException: the headers do not state exactly one length, or the body is too long for this
            path.
    """
    lengths = headers.getlist("content-length")
    if "transfer-encoding" in headers and lengths:  # the two may differ
        raise HTTPException(400, "Send either Content-Length or Transfer-Encoding.")
    if len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,99}", lengths[0]):
        raise HTTPException(411, "Send the length of the form (Content-Length).")
    upload = path == "/api/submissions" or (path.startswith("/a/") and path.count("/") == 2)
    largest = LARGEST_BODY if upload else TINY_BODY if path in TINY_FORMS else SMALL_BODY
    if int(lengths[0]) > largest:
        advice = "Clear the notebook's outputs, and save it." if upload else "Load the page again, and send less."
        raise HTTPException(413, f"This is larger than {largest >> 10} KiB. {advice}")
    return int(lengths[0])


def client_of(scope: Scope) -> str:
    """Return the network address that a request was sent from, or "unknown" if the request has none.

    Behind a proxy, uvicorn has replaced the proxy's address with the client's. The proxy passes on
    text that its client wrote, so the address may be any text.
    """
    return shown((scope.get("client") or ("unknown", 0))[0], LONGEST_ADDRESS)


def _path(scope: Scope) -> str:
    """Return the path of a request for the log: shortened, and without a secret."""
    return shown(SECRET.sub(r"\1…", scope["path"]))


def _is_ours(host: str, settings: Settings) -> bool:
    """Return True if the host that a request names is this server. Loopback addresses also pass, for health checks."""
    host = host.lower()
    return settings.origin.endswith(f"//{host}") or is_loopback(host.rpartition(":")[0].strip("[]") or host)


def _from_here(headers: Headers, settings: Settings) -> bool:
    """Return True if, according to the browser's headers, a page of this server sent a form.

    The page of a personal link sends no referrer, and browsers then send the origin "null". A frame
    of another site also has the origin "null", but its browser sends `cross-site`.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    return origin is None or origin.lower() == settings.origin or (origin == "null" and site == "same-origin")


def is_too_slow(received: int, seconds: float) -> bool:
    """Return True if a body arrives too slowly to let its sender occupy a place.

    Args:
        received: the bytes of the body that have arrived.
        seconds: the time since the body began.
    """
    return received < LEAST_RATE * (seconds - GRACE_SECONDS)


def bounded(receive: Receive, length: int) -> Receive:
    """Return a `receive` function that limits the size and the duration of a body.

    The function raises HTTPException if the body arrives too slowly or is longer than `length`
    bytes.
    """
    began, total, ended = clock(), 0, False

    async def limited() -> Message:
        nonlocal total, ended
        if ended:  # what is waited for now is that the browser goes away
            return await receive()
        left = WHOLE_SECONDS - (clock() - began)
        try:
            message = await asyncio.wait_for(receive(), max(0.0, min(QUIET_SECONDS, left)))
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, CLOSE) from None
        total += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if total > length:
            raise HTTPException(413, "The upload is larger than its Content-Length.", CLOSE)
        if not ended and is_too_slow(total, clock() - began):
            raise HTTPException(408, TOO_SLOW, CLOSE)
        return message

    return limited


def _headers(path: str, status: int, settings: Settings) -> dict[str, str]:
    """Return the security headers of a response.

    A page below /lti/ may be in the frame of a platform, and may send it a form. An error page
    below /lti/ may be in any frame: it has no buttons, and a platform that is not registered should
    show the reason.
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
    """Return a `send` function that writes a log line and adds our headers, except headers that a page has set."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _headers(scope["path"], message["status"], settings()).items():
                headers.setdefault(name, value)
            log.info("%s %s '%s' %s", client_of(scope), shown(scope["method"]), _path(scope), message["status"])
        await send(message)

    return answer
