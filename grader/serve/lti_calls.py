"""Calls learning platforms and JupyterHub, and keeps the keys that sign these calls."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey

from grader.paths import write_atomically
from grader.report.text import clean
from grader.serve.log import shown
from grader.serve.settings import Platform, origin
from grader.serve.shares import at_once

FETCH_SECONDS, MOST_BYTES = 10.0, 4 << 20  # of what a platform answers
KEYS_SECONDS = 60.0  # before a platform's keys are fetched again for a key that is not among them
FAILURES, PAUSE_SECONDS = 3, 30.0  # in a row, until nobody waits for a service; how long
THREADS = 4  # that wait for JupyterHub, and as many for platforms
MOST_WAITING = 100  # requests that may wait for one of these threads
MOST_REASON = 300  # characters of a refusal that people read
BUSY_SECONDS, LONGEST_BUSY = 60.0, 3600.0  # to wait if a service is asked too often, and does not say how long
TRY_LATER = (401, 408, 425, 429)  # of the answers from 400 to 499, those that may be others the next time
USER_AGENT = "attention-course (grader serve)"  # some platforms refuse a request without one
clock = time.monotonic
Headers = Mapping[str, str]
Answer = tuple[Any, Headers]
_keys: dict[str, tuple[float, KeySet]] = {}


class LtiError(Exception):
    """A login or a launch is refused, or a platform does not answer. The person on the page reads the message."""

    status = 0  # of the answer behind it, as HTTP numbers them; 0 without one
    reason = ""  # what the platform wrote, for instructors
    wait = 0.0  # seconds for which the platform wants to be left alone

    @property
    def is_final(self) -> bool:
        """Return True if the same request would be refused again."""
        return 400 <= self.status < 500 and self.status not in TRY_LATER


class Refused(LtiError):
    """A platform or JupyterHub has answered that it does not know a person or a token, or does not allow it."""


class NoAnswer(LtiError):
    """A platform or JupyterHub cannot be reached at the moment."""


class Breaker:
    """Remembers services that do not answer, so that not everybody waits for them.

    After FAILURES failures in a row, calls fail at once for PAUSE_SECONDS. Then one request tries
    again, and its result decides for the others. Threads share a breaker.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures, self._until = Counter[str](), dict[str, float]()

    def check(self, service: str) -> None:
        """Raise NoAnswer if a service has failed several times in a row and its pause has not ended."""
        with self._lock:
            if clock() < self._until.get(service, 0.0):
                raise NoAnswer(f"{service} does not answer at the moment. Try again in half a minute.")
            if self._failures[service] >= FAILURES:
                self._until[service] = clock() + PAUSE_SECONDS  # for all others, while this request tries

    def record(self, service: str, *, answered: bool) -> None:
        """Record whether a service has answered a request."""
        with self._lock:
            self._failures[service] = 0 if answered else self._failures[service] + 1
            failing = self._failures[service] >= FAILURES
            self._until[service] = clock() + PAUSE_SECONDS if failing else 0.0


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        """Follow no redirect, because a platform must not send this server to other addresses."""


breaker = Breaker()
_opener = build_opener(_NoRedirect, ProxyHandler({}))


def fetch(
    may_fetch: Callable[[str], bool], url: str, data: bytes = b"", headers: Headers | None = None, kind: type = dict
) -> Answer:
    """Send a request to a platform or JupyterHub, and return the JSON of the answer and its headers.

    Args:
        may_fetch: returns True for the addresses that may be requested.
        data: the body of a POST request; empty for a GET request.
        kind: `list` if the answer is a JSON array, `dict` if it is a JSON object.

    Returns:
        the JSON value, empty if the answer is of another kind; and the headers by lower-case name.

    Raises:
        LtiError: the service does not answer or refuses the request, or the address may not be
            requested.
    """
    if not may_fetch(url):
        raise LtiError(f"{shown(url.partition('?')[0])!r} is not an address of a registered platform")
    service = origin(url)
    breaker.check(service)
    request = Request(url, data or None, {"User-Agent": USER_AGENT, **(headers or {})})
    try:
        with _opener.open(request, timeout=FETCH_SECONDS) as answer:
            content, received = _read(answer), answer.headers
        told = json.loads(content) if content.strip() else kind()
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        # Whoever answers with a refusal, or with nonsense, answers.
        breaker.record(service, answered=not isinstance(error, OSError) or isinstance(error, HTTPError))
        raise _problem(url, error) from error
    breaker.record(service, answered=True)
    joined = {name.lower(): ", ".join(received.get_all(name, ())) for name in received}
    return (told if isinstance(told, kind) else kind()), joined


def _problem(url: str, error: Exception) -> LtiError:
    """Return the exception for a failed request, with the platform's reason if it gave one."""
    said = f"{shown(url.partition('?')[0])} does not answer as it should ({shown(str(error))})"
    if not isinstance(error, HTTPError):
        return NoAnswer(said) if isinstance(error, OSError) else LtiError(said)
    text = b""
    with suppress(OSError, HTTPException, ValueError), error:
        text = cast(HTTPResponse, error.fp).read1(MOST_REASON * 4)  # what is there: nobody waits for the rest
    words = clean(" ".join(text.decode("utf-8", "replace").split()))[:MOST_REASON]
    # Canvas says 403 where others say 429.
    status = 429 if "rate limit exceeded" in words.lower() else error.code
    problem = Refused(said) if status in (401, 403) else LtiError(said)
    problem.status, problem.reason = status, f"{error.code} {shown(str(error.reason))}: {words}".rstrip(": ")
    waits = "Retry-After" in error.headers or status == 429
    problem.wait = _seconds_to_wait(error.headers.get("Retry-After", "")) if waits else 0.0
    return problem


def _seconds_to_wait(retry_after: str) -> float:
    """Return the seconds for which a service asks clients to wait.

    Args:
        retry_after: its header, a number or a date. Without a valid value, return BUSY_SECONDS.
    """
    with suppress(ValueError, TypeError, OverflowError):
        is_number = retry_after.strip().isdecimal()
        seconds = float(retry_after) if is_number else parsedate_to_datetime(retry_after).timestamp() - time.time()
        return min(max(1.0, seconds), LONGEST_BUSY)
    return BUSY_SECONDS


def _read(answer: HTTPResponse) -> bytes:
    """Return the body of an answer, cut after MOST_BYTES.

    Raises:
        TimeoutError: the answer takes longer than FETCH_SECONDS.
    """
    ends, parts, size = clock() + FETCH_SECONDS, list[bytes](), 0
    while (part := answer.read1(1 << 16)) and size < MOST_BYTES:
        parts.append(part)
        size += len(part)
        if clock() > ends:
            raise TimeoutError("the answer takes too long")
    return b"".join(parts)[:MOST_BYTES]


# ---------------------------------------------------------------- threads of their own


@dataclass(frozen=True)
class Calls:
    """The threads that wait for one kind of service.

    The pages use other threads, which stay free even if the service is slow.
    """

    threads: ThreadPoolExecutor
    waiting: Counter[str] = field(default_factory=Counter)


HUB_CALLS, PLATFORM_CALLS = (Calls(ThreadPoolExecutor(THREADS, name)) for name in ("hub", "platforms"))


async def in_own_threads(calls: Calls, function: Callable[[], Any]) -> Any:
    """Run a function in the threads for one kind of service, and return its result.

    Raises:
        HTTPException: too many requests wait for this kind of service already.
    """
    message = "Many people are signing in at this moment. Try again in half a minute."
    with at_once(calls.waiting, "requests", MOST_WAITING, message):
        return await asyncio.get_running_loop().run_in_executor(calls.threads, function)


async def hub_calls(function: Callable[..., Any], *given: Any) -> Any:
    """Run a function that may call JupyterHub in the threads for JupyterHub, and return its result."""
    return await in_own_threads(HUB_CALLS, partial(function, *given))


async def platform_calls(function: Callable[..., Any], *given: Any) -> Any:
    """Run a function that may call a platform in the threads for platforms, and return its result."""
    return await in_own_threads(PLATFORM_CALLS, partial(function, *given))


def published_keys(platform: Platform, *, fresh: bool = False) -> KeySet:
    """Return the platform's public RSA keys, which this server keeps after the first request.

    Args:
        fresh: request them again, but at most once in KEYS_SECONDS.
    """
    fetched, keys = _keys.get(platform.keys_url, (0.0, None))
    if keys is None or (fresh and time.monotonic() - fetched > KEYS_SECONDS):
        told, _ = fetch(platform.may_fetch, platform.keys_url)
        listed = told.get("keys")
        keys = KeySet([key for each in (listed if isinstance(listed, list) else ()) if (key := _rsa_key(each))])
        _keys[platform.keys_url] = time.monotonic(), keys
    return keys


def _rsa_key(told: object) -> RSAKey | None:
    """Return a public RSA key for signatures, or None if the value is not such a key.

    So one bad key does not spoil the other keys of a platform.
    """
    if not isinstance(told, dict) or told.get("kty") != "RSA" or told.get("use", "sig") != "sig":
        return None
    try:
        return RSAKey.import_key({name: told[name] for name in ("kty", "n", "e", "kid") if name in told})
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None


def own_key(folder: Path) -> RSAKey:
    """Return the private key with which this server signs requests to platforms. Create it on first use."""
    path = folder / ".grader" / "lti.json"
    if not path.exists():
        made = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
        write_atomically(path, json.dumps(made.as_dict(private=True)), mode=0o600)
    return RSAKey.import_key(json.loads(path.read_text("utf-8")))


def signed(folder: Path, platform: Platform, audience: str, lasts: int, **claims: Any) -> str:
    """Return a token, signed by this server, that identifies it to a platform as the registered tool.

    Args:
        audience: the recipient that the token names.
        lasts: the seconds for which the token is valid.
        claims: further values to put into the token.
    """
    key, moment = own_key(folder), int(time.time())
    told = {"iss": platform.client_id, "aud": audience, "iat": moment, "exp": moment + lasts, **claims}
    return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, told, key)
