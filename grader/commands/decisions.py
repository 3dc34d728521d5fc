"""Records the decisions of an instructor: `grader late` and `grader appeal`.

`grader late` records how late a submission was, if no platform reports it. `grader appeal` records
requests of students, lists them, and writes the decisions about them.
"""

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from grader.classes.gradebook.appeals import add_appeal, appeals_of, decide_appeal, submission_of
from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.lateness import set_lateness
from grader.classes.gradebook.reader import read_class, read_entry
from grader.classes.results.folders import autograded_notebook
from grader.classes.results.writer import submitted_at
from grader.commands.console import Terminal
from grader.commands.from_gradebook import recorded_entries, write_page, write_pages_again
from grader.commands.given_file import write_lines
from grader.commands.options import AppealOptions, AppealsOptions, DecisionOptions, LateOptions
from grader.complaint import Complaint
from grader.records import Appeal, GradebookEntry
from grader.report.text import clean, number, or_dash, who


def set_late(options: LateOptions, terminal: Terminal) -> None:
    """Write the delay of a submission into the gradebook and onto the student's page."""
    config = read_config(options.root, options.gradebook)
    url, course = config.gradebook, config.course_id
    before = _only_submission(options, read_class(url, course, options.assignment))
    notebook = autograded_notebook(config.results / "autograded", options.student, before.assignment)
    timed = submitted_at(notebook) is not None
    after = set_lateness(
        url, course, options.student, before.assignment, options.hours, config.late_penalty, timed=timed
    )
    page = write_pages_again(config, after)
    late = f"{number(options.hours)} hours late" if options.hours else "on time"
    cost = f"{number(after.penalty)} points subtracted; " if after.penalty else ""
    scores = f"score {or_dash(before.score)} → {or_dash(after.score)}"
    terminal.say(f"{who(after.student)}, {after.assignment}: {late}; {cost}{scores}")
    if options.hours and not after.penalty and not after.raw_score:
        terminal.note("no points were subtracted, because the score was already 0")
    elif options.hours and not after.penalty:
        terminal.complain(
            "no points were subtracted, because nbgrader_config.py sets no late penalty. To subtract 10 points per "
            "day, set these two options there, remove other lines that set them, and run this command again:\n"
            "  c.AssignLatePenalties.plugin_class = 'grader.classes.nbgrader_plugins.late.PointsPerDay'\n"
            "  c.PointsPerDay.points = 10"
        )
    terminal.say(f"page  {page}")


def _only_submission(options: LateOptions, entries: list[GradebookEntry]) -> GradebookEntry:
    """Return the student's only submission of the chosen assignment, or of all assignments.

    Raises:
        RecordError: there is no submission, or there are several.
    """
    own = [entry for entry in entries if entry.student.id == options.student and entry.status != "missing"]
    if not own:
        raise RecordError(
            f"the gradebook contains no submission of {clean(options.student)!r}. `grader report` lists all students."
        )
    if len(own) > 1:
        names = ", ".join(entry.assignment for entry in own)
        raise RecordError(f"the student submitted several assignments. Pass --assignment with one of {names}.")
    return own[0]


OUTCOMES = {"": "open", "points": "points changed", "keep": "points kept"}


def record_appeal(options: AppealOptions, terminal: Terminal) -> None:
    """Record a student's appeal, and print its number."""
    config = read_config(options.root, options.gradebook)
    entry = submission_of(recorded_entries(config), options.submission, options.student)
    appeal = add_appeal(config.gradebook, config.course_id, entry, options.exercise, options.text)
    page = write_page(config, entry)
    terminal.say(f"appeal {appeal.number}: {who(entry.student)}, {entry.assignment}, {options.exercise}")
    terminal.say(f"page  {page}")


def list_appeals(options: AppealsOptions, terminal: Terminal) -> None:
    """List the appeals without a decision, or all appeals."""
    found = appeals_of(recorded_entries(read_config(options.root, options.gradebook)))
    found = [pair for pair in found if options.everything or not pair[1].outcome]
    if options.json is not None:
        write_lines(options.json, [_line(*pair) for pair in found], terminal.out.file)
    elif found:
        terminal.out.print(_table(found))
    else:
        terminal.say("no appeals" if options.everything else "no open appeals")


def decide_on_appeal(options: DecisionOptions, terminal: Terminal) -> None:
    """Write a decision on an appeal into the gradebook and onto the student's page: new points, or the old points."""
    points = options.points
    config = read_config(options.root, options.gradebook)
    found = appeals_of(recorded_entries(config))
    entry, appeal = next((pair for pair in found if pair[1].number == options.number), (None, None))
    if entry is None or appeal is None:
        raise Complaint(f"there is no appeal {options.number}. Run grader appeal list --all to see all appeals.")
    if (points is None) != options.keep:
        raise Complaint("pass either --points or --keep, and not both")
    decide_appeal(config.gradebook, config.course_id, entry, appeal, points, options.comment)
    after = read_entry(config.gradebook, config.course_id, entry.student.id, entry.assignment) or entry
    page = write_pages_again(config, entry)
    change = f"{_points(entry, appeal)} → {_points(after, appeal)}" if points is not None else "points kept"
    about = f"{who(entry.student)}, {entry.assignment}, {appeal.exercise}"
    terminal.say(f"{about}: {change}; score {or_dash(entry.score)} → {or_dash(after.score)}")
    terminal.say(f"page  {page}")


def _table(found: Sequence[tuple[GradebookEntry, Appeal]]) -> Table:
    """Return a table of appeals."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("no.", "made", "student", "exercise", "points", "asks", ""):
        shown.add_column(head, overflow="fold", no_wrap=head in ("made", "exercise", "points"))
    for entry, appeal in found:
        row = (
            str(appeal.number),
            appeal.made,
            who(entry.student),
            f"{entry.assignment} {appeal.exercise}",
            _points(entry, appeal),
            clean(appeal.text),
            f"{OUTCOMES[appeal.outcome]} {appeal.decided}".strip(),
        )
        shown.add_row(*map(Text, row))
    return shown


def _line(entry: GradebookEntry, appeal: Appeal) -> str:
    """Return an appeal as a line of JSON."""
    cell = entry.cells.get(appeal.exercise)
    said = {"points": cell.points, "max_points": cell.max_points} if cell else {}
    of = {"student": entry.student.id, "assignment": entry.assignment}
    return json_format.dumps({**asdict(appeal), **of, **said})


def _points(entry: GradebookEntry, appeal: Appeal) -> str:
    cell = entry.cells.get(appeal.exercise)
    if cell is None:
        return "–"
    return f"{or_dash(cell.points)} of {number(cell.max_points)}"
