"""Runs `grader report`, which shows the class from the gradebook.

The formats are a table, a page, JSON and PDF, and CSV for the items.
"""

from collections.abc import Sequence
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

from grader.classes.gradebook.config import CourseConfig, read_config
from grader.classes.gradebook.reader import read_whole
from grader.classes.results.folders import PAGES, autograded_notebook, write_feedback
from grader.classes.results.pages import page_of
from grader.commands.console import Terminal
from grader.commands.from_gradebook import recorded_entries, whole_class_page, with_checks
from grader.commands.given_file import is_standard_output, write_lines, write_result
from grader.commands.options import ReportOptions
from grader.records import GradebookEntry
from grader.report.items import items_csv
from grader.report.jsonl import entry_to_json
from grader.report.pdf import pdf_printer
from grader.report.terminal import table


def run(options: ReportOptions, terminal: Terminal) -> None:
    """Show the class in the terminal, or write the files that the options name."""
    json, config = options.json, read_config(options.root, options.gradebook)
    entries = recorded_entries(config)
    if options.html is options.items is json is options.pdf is None:
        terminal.out.print(table(entries))
        return
    if options.html or options.items or options.pdf:
        with_all = with_checks(config, entries)
    if options.html:
        write_result(options.html, whole_class_page(config, with_all, _pages_from(options.html, config)))
    if options.items:
        write_result(options.items, items_csv(entry.grade for entry in with_all))
    if json:
        write_lines(json, map(entry_to_json, entries), terminal.out.file)
    if options.pdf:
        count = _write_pdfs(options.pdf, config, entries, with_all)
        terminal.note(f"wrote {options.pdf}: {count} feedback pages and class.pdf")
    for path in (options.html, options.items, json):
        if path is not None and not is_standard_output(path):
            terminal.note(f"wrote {path}") if is_standard_output(json) else terminal.say(f"wrote {path}")


def _pages_from(report: Path, config: CourseConfig) -> str:
    """Return the relative address of the students' pages from the class report, or "" if there are no pages."""
    folder = config.results / "feedback"
    return f"{quote(relpath(folder, report.parent))}/{PAGES}" if folder.is_dir() else ""


def _write_pdfs(
    folder: Path, config: CourseConfig, entries: Sequence[GradebookEntry], with_all: Sequence[GradebookEntry]
) -> int:
    """Print each entry's feedback page and the class report as PDF. Return the number of feedback pages.

    Args:
        folder: gets <student>/<assignment>/<assignment>.pdf and class.pdf.
        with_all: the entries with their checks, for the class report.
    """
    wanted = [(entry.student.id, entry.assignment) for entry in entries if entry.status != "missing"]
    count = 0
    with pdf_printer() as printed:
        for entry in filter(None, read_whole(config.gradebook, config.course_id, wanted)):
            student, assignment = entry.student.id, entry.assignment
            page = page_of(entry, autograded_notebook(config.results / "autograded", student, assignment))
            write_feedback(folder, student, assignment, printed(page), "pdf")
            count += 1
        write_result(folder / "class.pdf", printed(whole_class_page(config, with_all)))
    return count
