"""`grader students`: write the zip that students get."""

from __future__ import annotations

import re
from pathlib import Path

from grader.build.errors import BuildError
from grader.build.student_zip import handed_out
from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.commands.console import Terminal
from grader.commands.output_file import CannotWrite, write_result
from grader.paths import own_lessons


def run(root: Path, to: Path | None, terminal: Terminal) -> int:
    """Write the zip; return the exit status.

    Args:
        to: the zip; None for dist/ in the course, under the course's name.
    """
    try:
        # A course of one's own has a name of its own; the repository's zip has the project's.
        own = read_config(root).course_id if own_lessons() is not None else ""
        name, content = handed_out(root, re.sub(r"[^\w.-]+", "-", own))
        path = to or root / "dist" / f"{name}.zip"
        write_result(path, content)
    except (BuildError, RecordError, CannotWrite) as error:
        terminal.complain(error)
        return 2
    terminal.say(f"wrote {path}")
    return 0
