"""`grader report`: the class as a table, as a page, as JSON or as PDF, or its items as CSV; what it says is the gradebook's."""

from grader.commands.archive import write_pdfs
from grader.commands.console import Terminal
from grader.commands.from_gradebook import recorded_entries, whole_class_page, with_checks
from grader.commands.options import ReportOptions
from grader.commands.output_file import is_standard_output, write_lines, write_result
from grader.report.items import items_csv
from grader.report.jsonl import entry_to_json
from grader.report.terminal import table


def run(options: ReportOptions, terminal: Terminal) -> None:
    """Show the class on the terminal, or write files."""
    root, gradebook, json = options.root, options.gradebook, options.json
    entries = recorded_entries(root, gradebook)
    if options.html is options.items is json is options.pdf is None:
        terminal.out.print(table(entries))
        return
    if options.html or options.items or options.pdf:
        with_all = with_checks(entries, root, gradebook)
    if options.html:
        write_result(options.html, whole_class_page(with_all, root, gradebook))
    if options.items:
        write_result(options.items, items_csv(entry.grade for entry in with_all))
    if json:
        write_lines(json, map(entry_to_json, entries), terminal.out.file)
    if options.pdf:
        count = write_pdfs(options.pdf, entries, with_all, root, gradebook)
        terminal.note(f"wrote {options.pdf}: {count} feedback pages, and class.pdf")
    for path in (options.html, options.items, json):
        if path is not None and not is_standard_output(path):
            terminal.note(f"wrote {path}") if is_standard_output(json) else terminal.say(f"wrote {path}")
