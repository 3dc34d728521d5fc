"""Signs people in: each way to sign in makes a ticket, and a ticket begins a session. Also makes personal links.

Each way to sign in (a link, `lti`, `hub`) finds out who somebody is, and makes a `Ticket`. A page
then shows the person's name, and the session begins only after a click on its button. So nobody is
signed in as somebody else without noticing.
"""

import hmac
import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from itsdangerous import BadSignature, Signer

from grader.serve.store import Store, now, text_of
from grader.submission.file import name_problem

STUDENT, INSTRUCTOR = "student", "instructor"
PLATFORM_ROLE = "platform"  # of a link that registers a platform, and signs nobody in
NOTEBOOK_ROLE = "notebook"  # of a code with which a student's notebook submits, and no browser signs in
LINK_PATH = "/in/"
TICKET, SESSION, STATE = "ticket", "session", "state"  # the kinds of tokens
TICKET_SECONDS, SESSION_SECONDS = 600, 7 * 24 * 3600
LONGEST_TOKEN = 200  # characters of a link's
LONGEST_ID = 120  # bytes of a student's id: a folder's name has at most 255


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """The permission of a person to sign in, made by one of the ways to sign in."""

    person: str  # the student's id in the gradebook
    role: str
    name: str
    via: str  # "link", "lti", "hub" or "code"
    link: str = ""  # the personal link: if that is revoked, its sessions end
    leads_to: str = "/"  # the page to open then, a path of ours
    until: str = ""  # when the session ends at the latest
    session: str = ""  # digest of the session's cookie; "" before the session begins


def can_sign_in(person: str) -> bool:
    """Return True if a person's id can be the name of a folder in submitted/ that the grader reads."""
    fits = 0 < len(person.encode("utf-8", "replace")) <= LONGEST_ID
    return fits and not person.startswith(".") and name_problem(person) is None


def digest_of(token: str) -> str:
    """Return the SHA-256 digest that is stored instead of a token, so that a copy of the file signs nobody in."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


# ---------------------------------------------------------------- tokens: a person holds one, the store has its digest


def issue(store: Store, kind: str, value: Mapping[str, Any], seconds: float, until: str = "") -> str:
    """Store a value for a number of seconds, and return a new token for it.

    Args:
        until: the UTC time at which the value ends at the latest, or "" for no such limit.
    """
    token = secrets.token_urlsafe(32)
    end = text_of(now() + timedelta(seconds=seconds))
    with store.writing() as db:
        db.execute("DELETE FROM token WHERE expires < ?", (text_of(now()),))
        row = (digest_of(token), kind, json.dumps(value), min(end, until or end))
        db.execute("INSERT INTO token VALUES (?, ?, ?, ?)", row)
    return token


def value_of(store: Store, kind: str, token: str, *, use: bool = False) -> dict[str, Any] | None:
    """Return the value of a token, or None if the token is unknown or too old.

    Args:
        kind: the kind with which the token was issued.
        use: end the token, so that it cannot be used again.
    """
    key = (digest_of(token), kind, text_of(now()))
    found = store.rows("SELECT value FROM token WHERE digest = ? AND kind = ? AND expires > ?", *key)
    if not found or (use and not end_token(store, token)):  # of two who use it at once, one does
        return None
    return json.loads(found[0]["value"])


def end_token(store: Store, token: str) -> bool:
    """End a token, and return True if it existed."""
    return store.change("DELETE FROM token WHERE digest = ?", digest_of(token)) > 0


def make_ticket(store: Store, ticket: Ticket) -> str:
    """Store a ticket for TICKET_SECONDS, and return a token for it that works once."""
    return issue(store, TICKET, vars(ticket), TICKET_SECONDS)


def ticket_of(store: Store, key: bytes, token: str, *, use: bool = False) -> Ticket | None:
    """Return the ticket of a personal link or of a token from `make_ticket`, or None if it is not valid.

    Args:
        use: end the token, so that it works only once. Links keep working.
    """
    value = None if (linked := link_ticket(store, key, token)) else value_of(store, TICKET, token, use=use)
    ticket = Ticket(**value) if value else linked
    return ticket if ticket and ticket.role in (STUDENT, INSTRUCTOR) and can_sign_in(ticket.person) else None


def begin_session(store: Store, ticket: Ticket, before: str) -> str:
    """Begin a session, and return the token for its cookie.

    Args:
        before: the token of an earlier session, which ends now; "" without such a session.
    """
    end_token(store, before)
    return issue(store, SESSION, vars(ticket), SESSION_SECONDS, ticket.until)


def visitor_of(store: Store, token: str) -> Ticket | None:
    """Return the person of a session's token, or None if the session has ended or its link was revoked."""
    value = value_of(store, SESSION, token) if token else None
    if value is None or (value["link"] and living_link(store, value["link"]) is None):
        return None
    visitor = Ticket(**{**value, "session": digest_of(token)})
    return visitor if can_sign_in(visitor.person) else None  # the rules for ids may have changed since


# ---------------------------------------------------------------- personal links


def links_for(store: Store, key: bytes, people: Sequence[str], role: str, days: int) -> dict[str, str]:
    """Map each person to the token of a personal link, which is the person's valid link or a new link.

    The token contains only a random id, signed with the key in .grader/serve.key, and nothing about
    the person. The store contains the person of the link, its end, and whether it was revoked. So a
    copy of the store without the key signs nobody in, and neither does the key without the store.

    Args:
        days: the number of days for which a new link works.
    """
    found, moment = {}, now()
    with store.writing() as db:
        for person in people:
            works = "SELECT id FROM link WHERE person = ? AND role = ? AND revoked = '' AND expires > ?"
            row = db.execute(works, (person, role, text_of(moment))).fetchone()
            id = row["id"] if row else secrets.token_hex(16)
            if row is None:
                new = (id, person, role, text_of(moment + timedelta(days)))
                db.execute("INSERT INTO link (id, person, role, expires) VALUES (?, ?, ?, ?)", new)
            found[person] = _signer(key).sign(id).decode()
    return found


def new_code(store: Store, key: bytes, person: str, days: int) -> str:
    """Return a new personal code, with which a student's notebook submits, and revoke the student's last code.

    Args:
        days: the number of days for which the code works.
    """
    revoke(store, person, NOTEBOOK_ROLE)
    return links_for(store, key, [person], NOTEBOOK_ROLE, days)[person]


def student_with_code(store: Store, key: bytes, token: str) -> Ticket | None:
    """Return the student that a personal code belongs to, or None if the code is unknown or was revoked."""
    found = link_ticket(store, key, token)
    if found is None or found.role != NOTEBOOK_ROLE or not can_sign_in(found.person):
        return None
    return replace(found, role=STUDENT, via="code")


def revoke(store: Store, person: str, role: str = STUDENT) -> int:
    """Revoke a person's links, which ends the sessions that began with them. Return the number of links."""
    ended = "UPDATE link SET revoked = ? WHERE person = ? AND role = ? AND revoked = ''"
    return store.change(ended, text_of(now()), person, role)


def end_sessions(store: Store, person: str) -> int:
    """End a person's sessions, and the tickets that could begin more. Return the number of both together."""
    with store.writing() as db:
        held = db.execute("SELECT digest, value FROM token WHERE kind IN (?, ?)", (SESSION, TICKET)).fetchall()
        own = [(row["digest"],) for row in held if json.loads(row["value"]).get("person") == person]
        db.executemany("DELETE FROM token WHERE digest = ?", own)
    return len(own)


def living_link(store: Store, id: str) -> sqlite3.Row | None:
    """Return the row of the link with this id, or None if it is unknown, revoked or too old."""
    found = store.rows("SELECT * FROM link WHERE id = ? AND revoked = '' AND expires > ?", id, text_of(now()))
    return found[0] if found else None


def link_ticket(store: Store, key: bytes, token: str) -> Ticket | None:
    """Return the ticket of a link's token, or None if the link is forged, revoked or too old."""
    try:
        id = _signer(key).unsign(token[:LONGEST_TOKEN].encode("ascii", "replace")).decode("ascii")
    except (BadSignature, UnicodeDecodeError):
        return None
    row = living_link(store, id)
    if row is None:
        return None
    leads_to = "/class" if row["role"] == INSTRUCTOR else "/"
    about = dict(link=id, leads_to=leads_to, until=row["expires"])
    return Ticket(person=row["person"], role=row["role"], name="", via="link", **about)


def _signer(key: bytes) -> Signer:
    return Signer(key, salt="personal link", key_derivation="hmac", digest_method=sha256)


# ---------------------------------------------------------------- forms


def form_token(key: bytes, bound_to: str) -> str:
    """Return the token that a browser must send with each form. Other sites cannot know it.

    Args:
        bound_to: the digest of the session's token, or before a session the token of the visit.
    """
    return hmac.new(key, f"form {bound_to}".encode(), sha256).hexdigest()
