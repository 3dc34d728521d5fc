"""Makes the feedback page of a gradebook entry, and tells whether a page on the disk is still right.

The last line of a page is a comment with a digest of what the page was made from. A rerun compares it, and
makes a page again only if the entry has changed (a person may have given points or a comment), or a worked
solution, or the code that makes pages, or if the file is cut off or another.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

import grader
from grader.classes.gradebook.stored import without_checks
from grader.classes.results.solutions_and_answers import read_answers, worked
from grader.records import GradebookEntry
from grader.report.page import feedback_page


def page_of(entry: GradebookEntry, notebook: Path) -> str:
    """Return the feedback page of an entry with its whole grade: also solutions of what was passed, and answers.

    The student's answers are those of the executed notebook; if that cannot be read, the page shows none.
    """
    read = read_answers(entry.student.id, notebook)
    solutions, answers = worked(entry.assignment).answers, read.answers if read else {}
    return feedback_page(entry, solutions, answers, _thoughts(entry)) + _last_line(entry)


def _thoughts(entry: GradebookEntry) -> Sequence[tuple[str, str]]:
    """Return the questions for thought with our answers once the due date has passed; before it, and without one, nothing."""
    return worked(entry.assignment).thoughts if entry.due is not None and entry.due <= datetime.now(UTC) else ()


def is_current(page: Path, entry: GradebookEntry) -> bool:
    """Tell whether a file is the page of this entry; its grade may be without checks."""
    wanted = _last_line(entry).encode()
    try:
        with page.open("rb") as file:
            file.seek(-len(wanted), os.SEEK_END)
            return file.read() == wanted
    except OSError:  # there is none, or it is shorter
        return False


def _last_line(entry: GradebookEntry) -> str:
    """Return the comment that ends the page of an entry."""
    reduced = replace(entry, grade=without_checks(entry.grade))
    solutions = worked(entry.assignment).answers
    digest = sha256(
        f"{_page_code_digest()}{reduced!r}{solutions!r}{_thoughts(entry)!r}".encode("utf-8", "surrogatepass")
    ).hexdigest()
    return f"<!-- made from {digest} -->\n"


@cache
def _page_code_digest() -> str:
    """Return a digest of the code, templates and styles that make the feedback page."""
    digest = sha256()
    for file in sorted((Path(grader.__file__).parent / "report").rglob("*")):
        if file.suffix in (".py", ".j2", ".css"):
            digest.update(file.read_bytes())
    return digest.hexdigest()
