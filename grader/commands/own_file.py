"""Read a file that a learning platform wrote of the class: its gradebook export, its grading worksheet."""

from __future__ import annotations

from pathlib import Path

from grader.report.export import WrongOwnFile


def read_own_file(path: Path) -> str:
    """Return the text of a platform's own file.

    Raises:
        WrongOwnFile: it cannot be read; the message does not name it.
    """
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise WrongOwnFile(f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongOwnFile("it is not UTF-8. Download it again, and do not save it from a spreadsheet.") from error
