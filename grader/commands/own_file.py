"""Read a file that a learning platform wrote of the class: its gradebook export, its grading worksheet."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from grader.report.export import WrongOwnFile

Read = TypeVar("Read")


def read_own_file(path: Path, read: Callable[[str], Read]) -> Read:
    """Return what a function reads from the text of a platform's own file.

    Raises:
        WrongOwnFile: it cannot be read, or is no such file; the message names it.
    """
    try:
        return read(path.read_text("utf-8-sig"))
    except OSError as error:
        raise WrongOwnFile(f"{path}: it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = "it is not UTF-8. Download it again, and do not save it from a spreadsheet."
        raise WrongOwnFile(f"{path}: {message}") from error
    except WrongOwnFile as error:
        raise WrongOwnFile(f"{path}: {error}") from error
