"""Opens the gradebook, retries while it is locked, and explains its errors."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from nbgrader import api
from nbgrader.dbutil import _temp_alembic_ini
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session
from tornado.log import app_log

from grader.classes.gradebook.errors import BusyError, RecordError, StudentNameError, shown

ATTEMPTS = 3
PAUSE = 0.5  # seconds between attempts
# What a database says where another program holds it, or has just made the same table or row.
BUSY = ("locked", "already exists", "UNIQUE constraint", "duplicate key")
LOCK_SECONDS = 3  # how long SQLite itself waits for a lock, in each attempt

Result = TypeVar("Result")


@contextmanager
def opened(url: str, course: str) -> Iterator[api.Gradebook]:
    """Open nbgrader's gradebook and close it on exit. Create it if it does not exist.

    Raises:
        RecordError: the gradebook cannot be opened.
    """
    parsed = _parse(url)
    gradebook = attempt(url, lambda: _open(parsed, course))
    try:
        yield gradebook
    finally:
        gradebook.close()


@contextmanager
def existing(url: str, course: str) -> Iterator[Session]:
    """Open a session on a gradebook that exists, and close it on exit.

    Raises:
        RecordError: the gradebook does not exist, or cannot be opened.
    """
    file = sqlite_file(url)
    if file is not None and not file.is_file():
        raise RecordError(f"{file}: there is no gradebook yet. Run: grader grade PATH")
    with opened(url, course) as gradebook:
        yield gradebook.db


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite gradebook, or None if the gradebook is on a database server or in memory.

    Raises:
        RecordError: the text is not a database URL.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database.startswith("file:"):
        return None
    return Path(parsed.database)


def _parse(url: str) -> URL:
    """Return a parsed database URL. In an SQLite URL, set the seconds for which SQLite waits for a lock.

    Raises:
        RecordError: the text is not a database URL.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # a port that is no number is a ValueError
        raise RecordError(
            f"--gradebook {shown(url)}: this is no database URL. Write sqlite:///gradebook.db, "
            "or sqlite:////absolute/path/gradebook.db with four slashes."
        ) from error
    if parsed.get_backend_name() == "sqlite" and "timeout" not in parsed.query:
        parsed = parsed.update_query_dict({"timeout": str(LOCK_SECONDS)})
    return parsed


def _open(url: URL, course: str) -> api.Gradebook:
    """Open the gradebook with `newest_revision` in place of nbgrader's function for the schema's version."""
    _refuse_older(url)
    original, api.get_alembic_version = api.get_alembic_version, newest_revision
    try:
        return api.Gradebook(url.render_as_string(hide_password=False), course_id=course)
    finally:
        api.get_alembic_version = original


def _refuse_older(url: URL) -> None:
    """Refuse a gradebook that an older nbgrader made. Otherwise nbgrader would add tables to it, and fail later.

    Raises:
        RecordError: a table lacks a column.
    """
    engine = create_engine(url)
    try:
        found = inspect(engine)
        there = {name: {column["name"] for column in found.get_columns(name)} for name in found.get_table_names()}
    finally:
        engine.dispose()
    for table in api.Base.metadata.sorted_tables:
        for column in table.columns:
            if table.name in there and column.name not in there[table.name]:
                raise RecordError(
                    f"{shown(str(url))}: an older nbgrader made this gradebook: its table {table.name} has no column "
                    f"{column.name}. Nothing in it was changed. Run `nbgrader db upgrade`, which keeps a copy, "
                    "then try again."
                )


@cache
def newest_revision() -> str | None:
    """Return the newest version of nbgrader's database schema, which nbgrader writes into a new gradebook.

    nbgrader's own function starts the program `alembic`, which takes seconds, and which is not on
    PATH unless the environment is activated. This function calls alembic as a library.
    """
    from alembic.config import Config  # slow to import, and only a new gradebook needs it
    from alembic.script import ScriptDirectory

    with _temp_alembic_ini("sqlite://") as file:
        return ScriptDirectory.from_config(Config(file)).get_current_head()


def attempt(url: str, work: Callable[[], Result], undo: Callable[[], None] = lambda: None) -> Result:
    """Call `work` and return its result. Try again while another program locks or creates the database.

    Args:
        undo: called after each failure, for instance a rollback.

    Raises:
        StudentNameError: a student's name cannot be encoded.
        BusyError: another program locks the database for too long.
        RecordError: the work failed for any other reason. The message names the reason and the
            next step.
    """
    tries = 0
    while True:
        tries += 1
        try:
            with _quiet(app_log):
                return work()
        # InvalidEntry is nbgrader's wrapper of a database error; ImportError is a missing driver;
        # UnicodeEncodeError is a student id that cannot be encoded.
        except (SQLAlchemyError, api.InvalidEntry, OSError, ImportError, UnicodeEncodeError) as error:
            undo()
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            busy = any(word in reason for word in BUSY)
            if busy and tries < ATTEMPTS:
                time.sleep(PAUSE)
                continue
            kind = BusyError if "locked" in reason else RecordError
            kind = StudentNameError if isinstance(error, UnicodeEncodeError) else kind
            raise kind(f"{shown(url)}: {_explain(_without_address(reason, url), error)}") from error


def _without_address(reason: str, url: str) -> str:
    """Return a database driver's message without the parts of the address that may contain the password.

    If the address is wrong, the driver may treat a part of the password as the host, and quote it.
    """
    secret = re.search(r"//[^:/@]*:(.*)@", url.partition("?")[0], flags=re.DOTALL)
    for part in re.split(r"[@:/]", secret[1]) if secret else ():
        reason = reason.replace(part, "***") if part else reason
    return reason


def _explain(reason: str, error: Exception) -> str:
    """Return a message for the instructor: the reason why the gradebook cannot be used, and the next step."""
    if isinstance(error, UnicodeEncodeError):
        return "a student id holds bytes that are no text. Its grade was not recorded. Rename the folder."
    advice = {
        "locked": "Another program is writing to it. Close formgrader or the other run, then grade again: "
        "what was graded is kept.",
        "readonly": "Make the file and its folder writable, or give --gradebook another path.",
        "unable to open": "Create its folder, or pass another path to --gradebook.",
        "is full": "Make room on its disk, then grade again: what was graded is kept.",
        "not a database": "It is another kind of file. Pass another path to --gradebook.",
    }
    otherwise = "Give --gradebook another path to go on."
    hint = next((text for word, text in advice.items() if word in reason), otherwise)
    return f"the gradebook cannot be used ({reason}). {hint}"


@contextmanager
def _quiet(log: logging.Logger) -> Iterator[None]:
    """Disable a log in a `with` block.

    `attempt` reports each error itself, so nbgrader does not have to log a traceback.
    """
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before
