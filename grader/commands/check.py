"""`grader check`: one notebook, verdicts on the terminal, nothing recorded."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from grader.commands.device import NoDevice, resolve_device
from grader.course import lessons
from grader.execution.interpreter import Server
from grader.execution.isolation import IsolationError
from grader.grading import grade
from grader.report.terminal import details
from grader.secret import SecretError, course_secret
from grader.submission.found import Unreadable
from grader.submission.intake import find


def run(
    notebook: Path,
    *,
    root: Path,
    assignment: str | None,
    device: str,
    isolation: str,
    out: Console,
    err: Console,
) -> int:
    """Grade one notebook; returns the exit status."""
    known = tuple(lessons())
    if assignment is not None and assignment not in known:
        err.print(
            f"grader: no assignment {assignment!r}; there are {', '.join(known)}",
            markup=False,
            soft_wrap=True,
        )
        return 2
    try:
        found = list(find(notebook, known, assignment))
        if len(found) != 1:
            raise Unreadable(f"{notebook} holds {len(found)} submissions; `grader grade` grades a class")
        where = resolve_device(device)
        with Server(isolation=isolation, device=where) as server:
            if where == "cuda":
                server.require_gpu()
            graded = grade(found[0], server=server, secret=course_secret(root), root=root, device=where).grade
    except Unreadable as error:
        err.print(f"grader: {error}", markup=False, soft_wrap=True)
        return 1
    except (SecretError, NoDevice, IsolationError) as error:
        err.print(f"grader: {error}", markup=False, soft_wrap=True)
        return 2
    out.print(details(graded))
    return 0 if graded.status == "graded" else 1
