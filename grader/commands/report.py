"""`grader report`: the class as a table, as a page, as JSON or as PDF, or its items as CSV; what it says is the gradebook's."""

from __future__ import annotations

from pathlib import Path

from grader.classes.gradebook.errors import RecordError
from grader.commands.archive import write_pdfs
from grader.commands.console import Terminal
from grader.commands.from_gradebook import entries_or_complain, whole_class_page, with_checks
from grader.commands.output_file import CannotWrite, is_standard_output, write_lines, write_result
from grader.report.items import items_csv
from grader.report.jsonl import entry_to_json
from grader.report.pdf import NoPdf
from grader.report.terminal import table


def run(
    *,
    root: Path,
    gradebook: str | None,
    html: Path | None,
    items: Path | None,
    json: Path | None,
    pdf: Path | None,
    terminal: Terminal,
) -> int:
    """Show the class on the terminal, or write files; return the exit status.

    Args:
        gradebook: the gradebook's URL; None for the course's own.
        html: the file for the class page.
        items: the file for the analysis of exercises and checks.
        json: the file for a line of each submission; "-" for standard output.
        pdf: the folder for the feedback pages as PDF.
    """
    entries = entries_or_complain(root, gradebook, None, terminal)
    if entries is None:
        return 2
    if html is None and items is None and json is None and pdf is None:
        terminal.out.print(table(entries))
        return 0
    try:
        if html is not None or items is not None or pdf is not None:
            with_all = with_checks(entries, root, gradebook)
        if html is not None:
            write_result(html, whole_class_page(with_all, root, gradebook))
        if items is not None:
            write_result(items, items_csv(entry.grade for entry in with_all))
        if json is not None:
            write_lines(json, map(entry_to_json, entries), terminal.out.file)
        if pdf is not None:
            count = write_pdfs(pdf, entries, with_all, root, gradebook)
            terminal.note(f"wrote {pdf}: {count} feedback pages, and class.pdf")
    except (CannotWrite, RecordError, NoPdf) as error:
        terminal.complain(error)
        return 2
    for path in (html, items, json):
        if path is not None and not is_standard_output(path):
            terminal.note(f"wrote {path}") if is_standard_output(json) else terminal.say(f"wrote {path}")
    return 0
