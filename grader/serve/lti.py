"""Signing in by a learning platform: LTI 1.3, with OpenID Connect's third-party login.

Not pylti1p3next 2.0.2 (looked at in November 2026): it would bring a second set of libraries for signatures beside joserfc
(PyJWT and jwcrypto) and `requests`, which blocks; it has adapters for Flask and Django alone, so that cookies, sessions and
requests would be written here all the same; and it ties the login to a cookie in a frame, which browsers block more and more.

A launch proves who somebody is by a token that the platform has signed. What is checked: the state, which we made and which
works once; signature, by RS256 and the platform's published keys alone; issuer, audience, times, nonce, deployment, version
and message. The state is not tied to a cookie: a launch that somebody else began ends at a page that says whose it is.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey

from grader.paths import write_atomically
from grader.serve.settings import SettingsError, is_loopback
from grader.serve.sign_in import INSTRUCTOR, STUDENT, Ticket, digest_of
from grader.serve.site import Site
from grader.serve.store import Store, now, text_of

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
GRADE_SERVICE = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
INSTRUCTORS = {f"{MEMBERSHIP}#Instructor", f"{MEMBERSHIP}/Instructor#TeachingAssistant"}
LEARNER = f"{MEMBERSHIP}#Learner"
STATE_SECONDS, LEEWAY_SECONDS, OLDEST_SECONDS = 600, 60, 600
FETCH_SECONDS, MOST_BYTES = 10.0, 1 << 20  # of what a platform answers
KEYS_SECONDS = 60.0  # before a platform's keys are fetched again for a key that is not among them
ALGORITHMS = ["RS256"]  # no other: neither "none", nor one that takes a public key for a shared secret


class LtiError(Exception):
    """A login or a launch is refused; the message is for the person who sees the page."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A platform, as [lti.NAME] of serve.toml registers it."""

    name: str
    issuer: str
    client_id: str
    deployments: tuple[str, ...]
    login_url: str
    token_url: str
    keys_url: str
    student: str = "sub"  # the claim that is the student's id in the gradebook
    prefix: str = ""  # in front of that id, where two platforms have the same ids

    def may_fetch(self, url: str) -> bool:
        """Tell whether an address belongs to the platform: of no other this server asks for anything."""
        own = {_origin(each) for each in (self.issuer, self.token_url, self.keys_url, self.login_url)}
        return _origin(url) in own and is_protected(url)


def platforms(site: Site) -> Mapping[str, Platform]:
    """Return the registered platforms by name.

    Raises:
        SettingsError: a registration is not complete.
    """
    return {name: _platform(name, told) for name, told in site.settings.lti.items()}


def _platform(name: str, told: Any) -> Platform:
    place = f"serve.toml: [lti.{name}]"
    known = {field.name for field in fields(Platform)} - {"name"}
    needed = known - {"student", "prefix"}
    if not isinstance(told, dict) or set(told) - known or needed - set(told):
        raise SettingsError(f"{place} needs {', '.join(sorted(needed))}; and may have student and prefix")
    values = {**told, "deployments": tuple(map(str, told["deployments"]))}
    if not all(isinstance(value, str) for key, value in values.items() if key != "deployments"):
        raise SettingsError(f"{place} all values are texts, but deployments, a list of texts")
    if unsafe := next((key for key in ("login_url", "token_url", "keys_url") if not is_protected(values[key])), None):
        raise SettingsError(f"{place} {unsafe} must begin with https://")
    return Platform(name=name, **values)


def is_protected(url: str) -> bool:
    """Tell whether an address is fetched over TLS, or from this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


# ---------------------------------------------------------------- login and launch


def begin_login(site: Site, told: Mapping[str, str]) -> str:
    """Begin a launch; return the address at the platform to which the browser goes.

    Raises:
        LtiError: no registered platform asks for it.
    """
    client_id = told.get("client_id")
    for platform in platforms(site).values():
        if platform.issuer == told.get("iss") and client_id in (None, "", platform.client_id):
            break
    else:
        raise LtiError("Your platform is not known here. Tell your instructor.")
    state, nonce = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    expires = text_of(now() + timedelta(seconds=STATE_SECONDS))
    with site.store.writing() as db:
        db.execute("DELETE FROM lti_state WHERE expires < ?", (text_of(now()),))
        db.execute("INSERT INTO lti_state VALUES (?, ?, ?, ?)", (digest_of(state), nonce, platform.name, expires))
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": f"{site.settings.url.rstrip('/')}/lti/launch",
        "login_hint": told.get("login_hint", ""),
        "lti_message_hint": told.get("lti_message_hint", ""),
        "state": state,
        "nonce": nonce,
    }
    return f"{platform.login_url}{'&' if urlsplit(platform.login_url).query else '?'}{urlencode(query)}"


def launch(site: Site, token: str, state: str) -> tuple[Ticket, Platform]:
    """Check a launch; return who it is, and whose launch. Remember where the score goes.

    Raises:
        LtiError: something in it is not right.
    """
    nonce, platform = _take_state(site, state)
    claims = _claims(platform, token)
    _check(site, platform, claims, nonce)
    person = f"{platform.prefix}{_claim_text(claims, platform.student)}"
    roles = set(claims.get(f"{CLAIM}roles") or ())
    if not roles & (INSTRUCTORS | {LEARNER}):
        raise LtiError("You are neither a student nor an instructor of this course.")
    role = INSTRUCTOR if roles & INSTRUCTORS else STUDENT
    assignment = _assignment(site, claims)
    leads_to = "/class" if role == INSTRUCTOR else f"/a/{assignment}" if assignment else "/"
    if role == STUDENT and assignment:
        _remember(site.store, platform, claims, person, assignment)
    name = str(claims.get("name") or "")
    return Ticket(person=person, role=role, name=name, via="lti", leads_to=leads_to), platform


def _take_state(site: Site, state: str) -> tuple[str, Platform]:
    """Return nonce and platform of a login that we began; it works once."""
    with site.store.writing() as db:
        query = "DELETE FROM lti_state WHERE digest = ? AND expires > ? RETURNING nonce, platform"
        row = db.execute(query, (digest_of(state), text_of(now()))).fetchone()
    if row is None or row["platform"] not in platforms(site):
        raise LtiError("This launch is too old, or was used already. Open the task in your course once more.")
    return row["nonce"], platforms(site)[row["platform"]]


def _claims(platform: Platform, token: str) -> dict[str, Any]:
    """Return what the platform has signed."""
    for fresh in (False, True):
        try:
            return dict(jwt.decode(token, published_keys(platform, fresh=fresh), algorithms=ALGORITHMS).claims)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            failed: Exception = error
    raise LtiError("The signature of your platform is not valid.") from failed


def _check(site: Site, platform: Platform, claims: Mapping[str, Any], nonce: str) -> None:
    """Refuse a launch that is not for us, not from now, or not the one that we asked for."""
    moment = time.time()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    issued, expires = (_seconds(claims.get(name)) for name in ("iat", "exp"))
    target = str(claims.get(f"{CLAIM}target_link_uri") or "")
    for holds, what in (
        (claims.get("iss") == platform.issuer, "issuer"),
        (platform.client_id in audiences, "audience"),
        (len(audiences) == 1 or claims.get("azp") == platform.client_id, "authorised party"),
        (expires > moment - LEEWAY_SECONDS, "time"),
        (moment - OLDEST_SECONDS < issued < moment + LEEWAY_SECONDS, "time"),
        (hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()), "nonce"),
        (str(claims.get(f"{CLAIM}deployment_id")) in platform.deployments, "deployment"),
        (claims.get(f"{CLAIM}version") == "1.3.0", "version"),
        (claims.get(f"{CLAIM}message_type") == "LtiResourceLinkRequest", "message"),
        (not target or _origin(target) == _origin(site.settings.url), "target"),
    ):
        if not holds:
            raise LtiError(f"This launch is not valid: its {what} is not the expected one.")


def _seconds(value: object) -> float:
    """Return a time of a claim; one long ago if it is none."""
    return float(value) if isinstance(value, int | float) else 0.0


def _claim_text(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim that names a student; of nested ones the path is written with `.`, as in `ext.user_username`."""
    if name in ("sub", "email", "preferred_username"):
        value: Any = claims.get(name)
    else:
        group, _, key = name.partition(".")
        value = (claims.get(f"{CLAIM}{group}") or {}).get(key)
    if not isinstance(value, str) or not value:
        raise LtiError("Your platform does not say who you are. Tell your instructor.")
    return value


def _assignment(site: Site, claims: Mapping[str, Any]) -> str | None:
    """Return the assignment that a launch is for: of the custom parameter, or of the link's address."""
    custom = (claims.get(f"{CLAIM}custom") or {}).get("assignment")
    target = urlsplit(str(claims.get(f"{CLAIM}target_link_uri") or "")).path
    wanted = custom or (target.removeprefix("/a/") if target.startswith("/a/") else None)
    return wanted if wanted in site.open_assignments() else None


def _remember(store: Store, platform: Platform, claims: Mapping[str, Any], person: str, assignment: str) -> None:
    """Keep where the platform wants the score, if it wants one."""
    lineitem = (claims.get(GRADE_SERVICE) or {}).get("lineitem")
    if not isinstance(lineitem, str) or not platform.may_fetch(lineitem):
        return
    row = (person, assignment, platform.name, str(claims["sub"]), lineitem)
    with store.writing() as db:
        db.execute(
            "INSERT INTO lti_place (person, assignment, platform, subject, lineitem) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO"
            " UPDATE SET platform = excluded.platform, subject = excluded.subject, lineitem = excluded.lineitem,"
            " sent = CASE WHEN lineitem = excluded.lineitem THEN sent ELSE '' END",
            row,
        )


# ---------------------------------------------------------------- keys, and talking to a platform

_keys: dict[str, tuple[float, KeySet]] = {}


def published_keys(platform: Platform, *, fresh: bool = False) -> KeySet:
    """Return the platform's public keys: those of RSA, whatever else it may publish.

    Args:
        fresh: fetch them again, though not more often than each KEYS_SECONDS.
    """
    fetched, keys = _keys.get(platform.keys_url, (0.0, None))
    if keys is None or (fresh and time.monotonic() - fetched > KEYS_SECONDS):
        told = fetch(platform, Request(platform.keys_url))
        found = [key for key in told.get("keys", ()) if isinstance(key, dict) and key.get("kty") == "RSA"]
        keys = KeySet([RSAKey.import_key(key) for key in found])
        _keys[platform.keys_url] = time.monotonic(), keys
    return keys


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        """Follow none: a platform sends this server nowhere else."""


@cache
def _opener() -> OpenerDirector:
    return build_opener(_NoRedirect, ProxyHandler({}))


def fetch(platform: Platform, request: Request) -> dict[str, Any]:
    """Ask a platform for something; return the object that it answers.

    Raises:
        LtiError: it does not answer, or the address is not the platform's.
    """
    if not platform.may_fetch(request.full_url):
        raise LtiError(f"{request.full_url} is no address of {platform.name}")
    try:
        with _opener().open(request, timeout=FETCH_SECONDS) as answer:
            content = answer.read(MOST_BYTES)
        told = json.loads(content) if content.strip() else {}
    except (URLError, OSError, ValueError) as error:
        raise LtiError(f"{platform.name} does not answer as it should ({error})") from error
    return told if isinstance(told, dict) else {}


def own_key(folder: Path) -> RSAKey:
    """Return the key with which we sign what we ask of platforms; make it on first use."""
    path = folder / ".grader" / "lti.json"
    if not path.exists():
        made = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
        write_atomically(path, json.dumps(made.as_dict(private=True)), mode=0o600)
    return RSAKey.import_key(json.loads(path.read_text("utf-8")))
