"""Who is signed in: tickets, which each way to sign in makes, and sessions, which a person gets for a ticket.

A way to sign in (`links`, `lti`) finds out who somebody is, and makes a `Ticket`. The person sees on a page of ours
whose it is, and presses a button: only then a session begins. So nobody is signed in unseen, as somebody else.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from grader.secret import kept_secret
from grader.serve.store import Store, now, text_of
from grader.submission.file import name_problem

STUDENT, INSTRUCTOR = "student", "instructor"
TICKET_SECONDS = 600
SESSION_HOURS = 24 * 7
LONGEST_ID = 120  # characters of a student's id


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """That a person may sign in, as a way to sign in has found out."""

    person: str  # the student's id in the gradebook
    role: str
    name: str
    via: str  # "link" or "lti"
    link: str = ""  # the personal link: if that is revoked, its sessions end
    leads_to: str = "/"  # the page to open then, a path of ours


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """A person with a session."""

    person: str
    role: str
    name: str
    via: str
    session: str  # digest of the cookie

    @property
    def is_instructor(self) -> bool:
        """Tell whether the person may see the class."""
        return self.role == INSTRUCTOR


def serve_key(folder: Path) -> bytes:
    """Return the key that signs links and forms; make it on first use. It is not the course secret.

    Raises:
        SecretError: the file cannot be used.
    """
    return kept_secret(folder, "serve.key").encode()


def can_sign_in(person: str) -> bool:
    """Tell whether an id can be a folder in submitted/ that grading finds."""
    return bool(person) and len(person) <= LONGEST_ID and not person.startswith(".") and name_problem(person) is None


def digest_of(token: str) -> str:
    """Return what is stored of a token: who reads the file can sign in as nobody."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


# ---------------------------------------------------------------- tickets that work once


def make_ticket(store: Store, ticket: Ticket) -> str:
    """Keep a ticket for TICKET_SECONDS; return the token for it."""
    token = secrets.token_urlsafe(32)
    expires = text_of(now() + timedelta(seconds=TICKET_SECONDS))
    row = (digest_of(token), ticket.person, ticket.role, ticket.name, ticket.via, ticket.leads_to, expires)
    with store.writing() as db:
        db.execute("DELETE FROM ticket WHERE expires < ?", (text_of(now()),))
        db.execute("INSERT INTO ticket VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return token


def read_ticket(store: Store, token: str, *, use: bool = False) -> Ticket | None:
    """Return the ticket of a token; None if there is none, or it is too old. With `use` it works no more."""
    with store.writing() as db:
        found = db.execute(
            "SELECT * FROM ticket WHERE digest = ? AND expires > ?", (digest_of(token), text_of(now()))
        ).fetchone()
        if use and found is not None:
            db.execute("DELETE FROM ticket WHERE digest = ?", (found["digest"],))
    if found is None:
        return None
    return Ticket(**{name: found[name] for name in ("person", "role", "name", "via", "leads_to")})


# ---------------------------------------------------------------- sessions


def begin_session(store: Store, ticket: Ticket, before: str, until: datetime | None = None) -> str:
    """Begin a session, and end the one that this browser had; return the token for the cookie, which is always new.

    Args:
        before: the token of the browser's cookie; "" without one.
        until: when the session ends at the latest.
    """
    token = secrets.token_urlsafe(32)
    end = now() + timedelta(hours=SESSION_HOURS)
    expires = text_of(min(end, until) if until else end)
    row = (digest_of(token), ticket.person, ticket.role, ticket.name, ticket.via, ticket.link, expires)
    with store.writing() as db:
        db.execute("DELETE FROM session WHERE digest = ? OR expires < ?", (digest_of(before), text_of(now())))
        db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return token


def end_session(store: Store, token: str) -> None:
    """End a session: its cookie works no more, also in another browser."""
    with store.writing() as db:
        db.execute("DELETE FROM session WHERE digest = ?", (digest_of(token),))


def visitor_of(store: Store, token: str) -> Visitor | None:
    """Return who has a session; None if it has ended, or the link behind it was revoked."""
    if not token:
        return None
    moment = text_of(now())
    with store.reading() as db:
        found = db.execute(
            "SELECT * FROM session WHERE digest = ? AND expires > ?", (digest_of(token), moment)
        ).fetchone()
        if found is None:
            return None
        if found["link"]:
            alive = "SELECT 1 FROM link WHERE id = ? AND revoked = '' AND expires > ?"
            if db.execute(alive, (found["link"], moment)).fetchone() is None:
                return None
    names = ("person", "role", "name", "via")
    return Visitor(session=found["digest"], **{name: found[name] for name in names})


def form_token(key: bytes, bound_to: str) -> str:
    """Return the token that each form of a browser must send: other sites cannot know it.

    Args:
        bound_to: the digest of the session, or before one the token of the visit.
    """
    return hmac.new(key, f"form {bound_to}".encode(), sha256).hexdigest()
