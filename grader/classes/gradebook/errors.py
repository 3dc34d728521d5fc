"""Errors that occur when a grade is recorded, in the gradebook or in a file.

This module does not import nbgrader, which is slow to import.
"""

import re

from grader.complaint import Complaint


class RecordError(Complaint):
    """A grade could not be recorded. The message states the problem, the place and the next step."""


class BusyError(RecordError):
    """Another program locks the gradebook. The same call can succeed once that program has finished."""


class AppealError(RecordError):
    """An appeal, or a decision about an appeal, cannot be recorded. Its author reads the message."""


class StudentNameError(RecordError):
    """One student's name cannot be recorded. The other students' grades can be recorded."""


def has_password(url: str) -> bool:
    """Return True if a gradebook's address contains a password, in front of the host or as a parameter.

    The address does not have to be a valid database URL. SQLite has no passwords.
    """
    if url.startswith("sqlite"):
        return False
    address, _, parameters = url.partition("?")
    return shown(address) != address or re.search(r"pass(word|wd)?=", parameters, re.IGNORECASE) is not None


def shown(url: str) -> str:
    """Return a gradebook's address for messages, without its password and its parameters.

    A parameter may contain a password, too. The address does not have to be a valid database URL,
    because an address with a typing error must not show the password either.
    """
    return re.sub(r"//([^:/@]*):.*@", r"//\1:***@", url, flags=re.DOTALL).partition("?")[0]
