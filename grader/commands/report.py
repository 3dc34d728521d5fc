"""`grader report`: the class as a table on the terminal, or as a page; what it says is the gradebook's."""

from __future__ import annotations

from pathlib import Path

from grader.commands.console import Terminal
from grader.commands.from_gradebook import entries_or_complain
from grader.commands.output_file import CannotWrite, write_result
from grader.report.class_page import class_page
from grader.report.terminal import table


def run(*, root: Path, gradebook: str | None, html: Path | None, terminal: Terminal) -> int:
    """Show the class on the terminal, or write the class page to the file `html`; return the exit status."""
    entries = entries_or_complain(root, gradebook, None, terminal)
    if entries is None:
        return 2
    if html is None:
        terminal.out.print(table(entries))
        return 0
    try:
        write_result(html, class_page(entries))
    except CannotWrite as error:
        terminal.complain(error)
        return 2
    terminal.say(f"wrote {html}")
    return 0
