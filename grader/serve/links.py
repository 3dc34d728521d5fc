"""Personal links: a signed address for each person, the whole sign-in of a teacher without a platform.

A link holds the link's id, signed with the key in .grader/serve.key, and nothing of the person. Whose it is, how long it
works and whether it was revoked is in the store: so a copy of the store opens nothing, and neither does the key alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from itsdangerous import BadSignature, Signer

from grader.serve.sign_in import INSTRUCTOR, STUDENT, Ticket
from grader.serve.store import Store, now, text_of

PATH = "/in/"
LONGEST = 200  # characters of a token


@dataclass(frozen=True, kw_only=True)
class Link:
    """A person's link."""

    person: str
    role: str
    token: str


def links_for(store: Store, key: bytes, people: Sequence[str], role: str, days: int) -> list[Link]:
    """Return the link of each person: the one that works already, or a new one."""
    found, moment = [], now()
    with store.writing() as db:
        for person in people:
            works = "SELECT * FROM link WHERE person = ? AND role = ? AND revoked = '' AND expires > ?"
            row = db.execute(works, (person, role, text_of(moment))).fetchone()
            id = row["id"] if row else secrets.token_hex(16)
            if row is None:
                new = (id, person, role, text_of(moment + timedelta(days)))
                db.execute("INSERT INTO link (id, person, role, expires) VALUES (?, ?, ?, ?)", new)
            token = _signer(key).sign(id).decode()
            found.append(Link(person=person, role=role, token=token))
    return found


def revoke(store: Store, person: str, role: str = STUDENT) -> int:
    """Revoke a person's links, and end the sessions that began with them; return how many links."""
    with store.writing() as db:
        ended = "UPDATE link SET revoked = ? WHERE person = ? AND role = ? AND revoked = ''"
        return db.execute(ended, (text_of(now()), person, role)).rowcount


def ticket_of(store: Store, key: bytes, token: str) -> tuple[Ticket, datetime] | None:
    """Return whose link it is, and until when it works; None if it was forged or revoked, or is too old."""
    if len(token) > LONGEST:
        return None
    try:
        id = _signer(key).unsign(token.encode("ascii", "replace")).decode("ascii")
    except (BadSignature, UnicodeDecodeError):
        return None
    with store.reading() as db:
        alive = "SELECT * FROM link WHERE id = ? AND revoked = '' AND expires > ?"
        row = db.execute(alive, (id, text_of(now()))).fetchone()
    if row is None:
        return None
    leads_to = "/class" if row["role"] == INSTRUCTOR else "/"
    ticket = Ticket(person=row["person"], role=row["role"], name="", via="link", link=id, leads_to=leads_to)
    return ticket, datetime.fromisoformat(row["expires"])


def _signer(key: bytes) -> Signer:
    return Signer(key, salt="personal link", key_derivation="hmac", digest_method=_sha256)


def _sha256(data: bytes = b"") -> object:
    from hashlib import sha256

    return sha256(data)
