"""The file that web server and grading share: attempts, who may sign in, and what was sent to a platform.

It is an SQLite file beside the gradebook, and not a table in it: an upload is acknowledged while another program writes
the gradebook, which formgrader or `grader grade` may do for seconds; and the gradebook may be on a database server. Each
change is one transaction that is on the disk when it returns: killed at any moment, nothing that was acknowledged is lost.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

BUSY_SECONDS = 10.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the place in the queue
    student TEXT NOT NULL, assignment TEXT NOT NULL, nth INTEGER NOT NULL,
    received TEXT NOT NULL, sha256 TEXT NOT NULL, place TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0,
    score REAL, max_score REAL, worth REAL, message TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
    UNIQUE (student, assignment, nth));
CREATE INDEX IF NOT EXISTS attempt_state ON attempt (state, id);
CREATE TABLE IF NOT EXISTS link (
    id TEXT PRIMARY KEY, person TEXT NOT NULL, role TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS ticket (
    digest TEXT PRIMARY KEY, person TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, via TEXT NOT NULL,
    leads_to TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS session (
    digest TEXT PRIMARY KEY, person TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, via TEXT NOT NULL,
    link TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS released (assignment TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_state (digest TEXT PRIMARY KEY, nonce TEXT NOT NULL, platform TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_place (
    person TEXT NOT NULL, assignment TEXT NOT NULL, platform TEXT NOT NULL, subject TEXT NOT NULL, lineitem TEXT NOT NULL,
    sending TEXT NOT NULL DEFAULT '', sent TEXT NOT NULL DEFAULT '', failed TEXT NOT NULL DEFAULT '', PRIMARY KEY (person, assignment));
"""


class Store:
    """The file. Each call opens it anew: threads share no connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))  # sessions are in it
        with closing(self._open()) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file for queries."""
        with closing(self._open()) as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that nobody else writes in; it ends on the disk, or leaves no trace."""
        with closing(self._open()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = FULL")
        return db


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def text_of(moment: datetime) -> str:
    """Write a time so that texts sort as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
