"""`grader report`: show the class, from the cached grades."""

from __future__ import annotations

from pathlib import Path

from grader.commands.console import Terminal
from grader.paths import cache_path
from grader.report.class_page import class_page
from grader.report.terminal import table
from grader.results.cache import GradeCache


def run(*, root: Path, html: Path | None, terminal: Terminal) -> int:
    """Show the class on the terminal, or write the class page to the file `html`; return the exit status."""
    grades = list(GradeCache(cache_path(root)).all())
    if not grades:
        terminal.complain("no grade is kept here yet; run: grader grade PATH")
        return 2
    if html is None:
        terminal.out.print(table(grades))
        return 0
    html.parent.mkdir(parents=True, exist_ok=True)
    html.write_text(class_page(grades), "utf-8")
    terminal.say(f"wrote {html}")
    return 0
