"""A serve.db of an older version gets the columns that it lacks."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from grader.serve import attempts
from grader.serve.store import SCHEMA, Store
from tests.classes.gradebook.small_course import NAME

# Before students shared the queue, with one attempt that was being graded and one that waited.
OLDER = f"""
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT, student TEXT NOT NULL, assignment TEXT NOT NULL, nth INTEGER NOT NULL,
    received TEXT NOT NULL, sha256 TEXT NOT NULL, place TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0,
    score REAL, max_score REAL, worth REAL, message TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
    UNIQUE (student, assignment, nth));
INSERT INTO attempt (student, assignment, nth, received, sha256, place, state, tries) VALUES
    ('ada', '{NAME}', 1, '2026-11-29T12:00:00.000000+00:00', 'a', 'a', 'grading', 1),
    ('bob', '{NAME}', 1, '2026-11-29T12:00:01.000000+00:00', 'b', 'b', 'waiting', 0);
"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    path = tmp_path / "serve.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLDER)
    return path


def schema_of(path: Path) -> dict[str, set[tuple[object, ...]]]:
    """Map each table to its columns, and each index to its table."""
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        columns = {name: {row[1:] for row in db.execute(f"PRAGMA table_info({name})")} for name in tables}
        indexes = set(db.execute("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'"))
        return {**columns, "": indexes}


def test_an_older_store_becomes_like_a_new_one_and_keeps_its_rows(older: Path, tmp_path: Path) -> None:
    store = Store(older)
    Store(tmp_path / "new.db")
    assert schema_of(older) == schema_of(tmp_path / "new.db")
    ada, bob = attempts.everybodys(store)
    assert [
        (one.student, one.nth, one.state, one.taken, one.seconds, one.deaths, one.removed) for one in (ada, bob)
    ] == [("ada", 1, "grading", "", 0.0, 0, False), ("bob", 1, "waiting", "", 0.0, 0, False)]


def test_the_queue_of_an_older_store_goes_on(older: Path) -> None:
    store = Store(older)
    attempts.begin(store)
    taken = [attempts.take(store, 1800), attempts.take(store, 1800)]
    assert [one and (one.student, one.deaths) for one in taken] == [("ada", 1), None]  # ada's is graded alone


def test_opened_twice_a_store_stays_as_it_is(older: Path) -> None:
    Store(older)
    before = older.read_bytes()
    Store(older)
    assert older.read_bytes() == before


def test_programs_that_open_an_older_store_together(older: Path) -> None:
    with ThreadPoolExecutor(8) as programs:
        stores = list(programs.map(lambda _: Store(older), range(8)))
    assert [len(attempts.everybodys(store)) for store in stores] == [2] * 8


def test_each_column_of_the_schema_can_be_added_to_an_older_table(tmp_path: Path) -> None:
    """A NOT NULL column without a default cannot be added, and neither can a key: so only those of the first version are."""
    path = tmp_path / "serve.db"
    with closing(sqlite3.connect(":memory:")) as newest:
        newest.executescript(SCHEMA.read_text("utf-8"))
        with_default = {name for _, name, _, _, default, _ in newest.execute("PRAGMA table_info(attempt)") if default}
    assert with_default == {"tries", "counts", "message", "finished", "taken", "seconds", "deaths", "removed", "flags"}
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLDER)
        for name in with_default & {row[1] for row in db.execute("PRAGMA table_info(attempt)")}:
            db.execute(f"ALTER TABLE attempt DROP COLUMN {name}")
    assert [one.tries for one in attempts.everybodys(Store(path))] == [0, 0]
