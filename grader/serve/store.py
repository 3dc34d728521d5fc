"""Stores the data that the web server and the grading process share: attempts, sessions, and sent scores.

The store is an SQLite file next to the gradebook, not a table in it, for two reasons. An upload
must be acknowledged even while formgrader or `grader grade` writes to the gradebook, which can take
seconds. And the gradebook may be on a database server. Each change is one transaction, which is on
the disk when the call returns. So nothing that was acknowledged is lost if the server is killed at
any moment.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from grader.complaint import Complaint

BUSY_SECONDS = 10.0
SCHEMA = Path(__file__).parent / "schema.sql"


class StoreError(Complaint):
    """The store cannot be used now: another program locks it, or its disk is full. The message names the next step."""


class Store:
    """The SQLite file. Each call opens a new connection, so that threads do not share one.

    Each method raises StoreError if another program locks the file for longer than BUSY_SECONDS, or
    if the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)  # sessions are in it
        with self._usable(), closing(self._open()) as db:
            db.execute("PRAGMA journal_mode = WAL")
            _add_missing_columns(db)
            db.executescript(SCHEMA.read_text("utf-8"))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction during which nobody else can write.

        At the end of the context, the changes are on the disk. After an exception, nothing is
        changed.
        """
        with self._usable(), closing(self._open()) as db, db:  # commits, or rolls back
            db.execute("BEGIN IMMEDIATE")
            yield db

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows that a query finds."""
        with self._usable(), closing(self._open()) as db:
            return db.execute(query, values).fetchall()

    def change(self, statement: str, *values: object) -> int:
        """Run one statement that changes the file, and return the number of changed rows."""
        with self.writing() as db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Convert SQLite's error to a StoreError if the file cannot be used now."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # a mistake in a statement
                raise
            advice = "Close the program that locks it, or make room on its disk. Nothing was changed."
            raise StoreError(f"{self.path} cannot be used now ({error}). {advice}") from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = FULL")
        return db


def _add_missing_columns(db: sqlite3.Connection) -> None:
    """Add the columns that tables from an older version lack. Their rows get the columns' default values."""
    with closing(sqlite3.connect(":memory:")) as newest:
        newest.executescript(SCHEMA.read_text("utf-8"))
        tables = {
            name: _columns(newest, name)
            for (name,) in newest.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
    with db:
        db.execute("BEGIN IMMEDIATE")  # the web server and the grading process may start together
        for table, columns in tables.items():
            present = _columns(db, table)
            for name in columns.keys() - present.keys() if present else ():
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")


def _columns(db: sqlite3.Connection, table: str) -> dict[str, str]:
    """Map each column of a table to its declaration for ALTER TABLE. A missing table has no columns."""
    rows = db.execute('SELECT name, type, "notnull", dflt_value FROM pragma_table_info(?)', (table,)).fetchall()
    return {
        name: " ".join(filter(None, (kind, "NOT NULL" if notnull else "", f"DEFAULT {default}" if default else "")))
        for name, kind, notnull, default in rows
    }


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def text_of(moment: datetime) -> str:
    """Return a time as text in UTC, to the microsecond. The texts sort in the order of their times."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
