"""`grader export`: write the class in a service's format, or the autograder's zip for Gradescope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.build.gradescope_zip import autograder
from grader.commands.console import Terminal, wrong_assignment
from grader.commands.from_gradebook import entries_or_complain
from grader.commands.output_file import CannotWrite, write_result
from grader.course import lessons
from grader.records import GradebookEntry
from grader.report.export import CannotExport, export
from grader.report.text import clean
from grader.secret import SecretError, course_secret


def run(
    service: str,
    *,
    root: Path,
    gradebook: str | None,
    to: Path | None,
    assignment: str | None,
    terminal: Terminal,
) -> int:
    """Write what the gradebook says to a file; return the exit status.

    Args:
        service: the service whose format is written.
        gradebook: the gradebook's URL; None for the course's own.
        to: the file; None for standard output.
        assignment: the assignment whose grades are written; None for all.
    """
    entries = entries_or_complain(root, gradebook, assignment, terminal)
    if entries is None:
        return 2
    try:
        exported = export(service, entries)
    except CannotExport as error:
        terminal.complain(error)
        return 2
    if to is None:
        terminal.out.file.write(exported.text)
    else:
        try:
            write_result(to, exported.text)
        except CannotWrite as error:
            terminal.complain(error)
            return 2
        terminal.note(f"wrote {to}")
    for remark in _remarks(entries, exported.left_out, service):
        terminal.complain(remark)
    return 0


def _remarks(entries: Sequence[GradebookEntry], left_out: Sequence[str], service: str) -> Iterator[str]:
    """Say what the file does not show: who is missing in it, and whose score may still change."""
    if left_out:
        yield f"{service} knows no participant of that number, so these are left out: {_some(left_out)}"
    faults = [entry for entry in entries if entry.status == "fault"]
    if stale := [entry.student.id for entry in faults if entry.has_earlier_score]:
        yield f"the newest version could not be graded, and the score is of the version before: {_some(stale)}"
    by_hand = [entry for entry in faults if entry.score is not None and not entry.has_earlier_score]
    if by_hand:
        ids = [entry.student.id for entry in by_hand]
        yield f"could not be graded, and have only the points that a person gave: {_some(ids)}"
    if empty := [entry.student.id for entry in faults if entry.score is None]:
        yield f"could not be graded, and have no score yet: {_some(empty)}"
    if waiting := [entry.student.id for entry in entries if entry.waits_for_person]:
        yield f"a person must still look at these (see formgrader): {_some(waiting)}"


def _some(names: Sequence[str]) -> str:
    """List names, at most twenty of them."""
    shown = ", ".join(clean(name) for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def write_autograder(
    to: Path, *, root: Path, assignment: str | None, isolation: str, terminal: Terminal
) -> int:
    """Write the zip that grades one assignment at Gradescope; return the exit status."""
    known = tuple(lessons())
    if assignment is None:
        terminal.complain(f"which assignment? Pass --assignment; known are {', '.join(known)}")
        return 2
    if complaint := wrong_assignment(assignment, known):
        terminal.complain(complaint)
        return 2
    try:
        content = autograder(root, assignment=assignment, isolation=isolation, secret=course_secret(root))
    except (SecretError, FileNotFoundError) as error:
        terminal.complain(error)
        return 2
    try:
        write_result(to, content, private=True)  # the zip contains the course secret
    except CannotWrite as error:
        terminal.complain(error)
        return 2
    terminal.say(f"wrote {to}: it holds the course secret and the reference; upload it to Gradescope alone")
    return 0
