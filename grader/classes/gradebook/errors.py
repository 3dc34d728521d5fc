"""Errors of recording a grade, in the gradebook or in a file.

This module does not need nbgrader, which is slow to import.
"""

import re

from grader.complaint import Complaint


class RecordError(Complaint):
    """A grade could not be recorded; the message states the problem, the place and the next step."""


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
    """Return a gradebook's address without its password and its parameters, for messages.

    A parameter may contain a password, too. The address need not be a valid database URL: a typing
    error in it must not show the password either.
    """
    return re.sub(r"//([^:/@]*):.*@", r"//\1:***@", url, flags=re.DOTALL).partition("?")[0]
