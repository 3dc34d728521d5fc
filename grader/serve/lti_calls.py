"""How this server asks learning platforms and JupyterHub for something, and the keys by which it and platforms know each other."""

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from grader.paths import write_atomically
from grader.serve.settings import Platform

FETCH_SECONDS, MOST_BYTES = 10.0, 4 << 20  # of what a platform answers
KEYS_SECONDS = 60.0  # before a platform's keys are fetched again for a key that is not among them
Headers = Mapping[str, str]
Answer = tuple[dict[str, Any], Headers]
_keys: dict[str, tuple[float, KeySet]] = {}


class LtiError(Exception):
    """A login or a launch is refused, or a platform does not answer; the message is for the person who sees the page."""


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        """Follow none: a platform sends this server nowhere else."""


_opener = build_opener(_NoRedirect, ProxyHandler({}))


def fetch(may_fetch: Callable[[str], bool], url: str, data: bytes = b"", headers: Headers | None = None) -> Answer:
    """Ask a platform, or JupyterHub; return the JSON object that it answers, {} for anything else, and the headers.

    Raise LtiError if it does not answer, or if the address is not its own.
    """
    if not may_fetch(url):
        raise LtiError(f"{url.partition('?')[0]!r} is no address of a platform that is known here")
    try:
        with _opener.open(Request(url, data or None, dict(headers or {})), timeout=FETCH_SECONDS) as answer:
            content, received = answer.read(MOST_BYTES), answer.headers
        told = json.loads(content) if content.strip() else {}
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        raise LtiError(f"{url.partition('?')[0]} does not answer as it should ({error})") from error
    return (told if isinstance(told, dict) else {}), received


def published_keys(platform: Platform, *, fresh: bool = False) -> KeySet:
    """Return the platform's public RSA keys; if `fresh`, fetched anew, though not more often than each KEYS_SECONDS."""
    fetched, keys = _keys.get(platform.keys_url, (0.0, None))
    if keys is None or (fresh and time.monotonic() - fetched > KEYS_SECONDS):
        told, _ = fetch(platform.may_fetch, platform.keys_url)
        found = [key for key in told.get("keys", ()) if isinstance(key, dict) and key.get("kty") == "RSA"]
        keys = KeySet([RSAKey.import_key(key) for key in found])
        _keys[platform.keys_url] = time.monotonic(), keys
    return keys


def own_key(folder: Path) -> RSAKey:
    """Return the key with which we sign what we ask of platforms; make it on first use."""
    path = folder / ".grader" / "lti.json"
    if not path.exists():
        made = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
        write_atomically(path, json.dumps(made.as_dict(private=True)), mode=0o600)
    return RSAKey.import_key(json.loads(path.read_text("utf-8")))


def signed(folder: Path, platform: Platform, audience: str, lasts: int, **claims: Any) -> str:
    """Return a signed token for a platform, good for `lasts` seconds, which says that we are its tool."""
    key, moment = own_key(folder), int(time.time())
    told = {"iss": platform.client_id, "aud": audience, "iat": moment, "exp": moment + lasts, **claims}
    return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, told, key)
