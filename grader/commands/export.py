"""`grader export`: write the cached grades in a service's format, or the autograder's zip for Gradescope."""

from __future__ import annotations

from pathlib import Path

from grader.build.gradescope_zip import autograder
from grader.commands.console import Terminal
from grader.course import lessons
from grader.paths import cache_path
from grader.report.export import export
from grader.results.cache import GradeCache
from grader.secret import SecretError, course_secret


def run(service: str, *, root: Path, to: Path | None, assignment: str | None, terminal: Terminal) -> int:
    """Write the cached grades to a file; return the exit status.

    Args:
        service: the service whose format is written.
        to: the file; None for standard output.
        assignment: the assignment whose grades are written; None for all.
    """
    grades = [grade for grade in GradeCache(cache_path(root)).all() if assignment in (None, grade.assignment)]
    if not grades:
        terminal.complain("no grade is kept here yet; run: grader grade PATH")
        return 2
    text = export(service, grades)
    if to is None:
        terminal.out.file.write(text)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, "utf-8", newline="")
        terminal.note(f"wrote {to}")
    return 0


def write_autograder(
    to: Path, *, root: Path, assignment: str | None, isolation: str, terminal: Terminal
) -> int:
    """Write the zip that grades one assignment at Gradescope; return the exit status."""
    known = tuple(lessons())
    if assignment not in known:
        problem = f"no assignment {assignment!r}" if assignment else "which assignment? Pass --assignment"
        terminal.complain(f"{problem}; there are {', '.join(known)}")
        return 2
    try:
        content = autograder(root, assignment=assignment, isolation=isolation, secret=course_secret(root))
    except (SecretError, FileNotFoundError) as error:
        terminal.complain(error)
        return 2
    to.parent.mkdir(parents=True, exist_ok=True)
    to.touch(mode=0o600)
    to.chmod(0o600)  # the zip contains the course secret
    to.write_bytes(content)
    terminal.say(f"wrote {to}: it holds the course secret and the reference; upload it to Gradescope alone")
    return 0
