"""`grader report`: the class as a table on the terminal, as a page, or as JSON; what it says is the gradebook's."""

from __future__ import annotations

from pathlib import Path

from grader.commands.console import Terminal
from grader.commands.from_gradebook import entries_or_complain
from grader.commands.output_file import CannotWrite, is_standard_output, write_lines, write_result
from grader.report.class_page import class_page
from grader.report.jsonl import entry_to_json
from grader.report.terminal import table


def run(
    *, root: Path, gradebook: str | None, html: Path | None, json: Path | None, terminal: Terminal
) -> int:
    """Show the class on the terminal, or write it to the file `html` or `json`; return the exit status."""
    entries = entries_or_complain(root, gradebook, None, terminal)
    if entries is None:
        return 2
    if html is None and json is None:
        terminal.out.print(table(entries))
        return 0
    try:
        if html is not None:
            write_result(html, class_page(entries))
        if json is not None:
            write_lines(json, map(entry_to_json, entries), terminal.out.file)
    except CannotWrite as error:
        terminal.complain(error)
        return 2
    for path in (html, json):
        if path is not None and not is_standard_output(path):
            terminal.note(f"wrote {path}") if is_standard_output(json) else terminal.say(f"wrote {path}")
    return 0
