"""Errors of recording a grade, in the gradebook or in a file; nbgrader, which is slow to import, is not needed for them."""

import re

from grader.complaint import Complaint


class RecordError(Complaint):
    """A grade could not be recorded; the message says what, where, and what to do next."""


class BusyError(RecordError):
    """Another program locks the gradebook; the same work is possible once that program has finished."""


class AppealError(RecordError):
    """An appeal or a decision about one cannot be recorded; the message is for the person who wrote it."""


class StudentNameError(RecordError):
    """One student's name cannot be recorded; the other students' grades can."""


def has_password(url: str) -> bool:
    """Return True if a gradebook's address contains a password, in front of the host or as a parameter.

    It need not be a database URL, as for `shown`. SQLite knows no passwords.
    """
    if url.startswith("sqlite"):
        return False
    address, _, parameters = url.partition("?")
    return shown(address) != address or re.search(r"pass(word|wd)?=", parameters, re.IGNORECASE) is not None


def shown(url: str) -> str:
    """Return a gradebook's address as people may read it: without a password, and without parameters, which may hold one.

    It need not be a database URL: a slip in the address must not show the password either.
    """
    return re.sub(r"//([^:/@]*):.*@", r"//\1:***@", url, flags=re.DOTALL).partition("?")[0]
