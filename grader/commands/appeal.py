"""`grader appeal`: record what a student asks for, list it for the instructor, and write what is decided."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from grader.classes.gradebook.config import CourseConfig, read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.hear_appeals import add_appeal, decide_appeal, submission_of
from grader.classes.gradebook.reader import read_entry
from grader.commands.console import Terminal
from grader.commands.from_gradebook import entries_or_complain, write_page
from grader.commands.output_file import CannotWrite, write_lines
from grader.records import Appeal, GradebookEntry
from grader.report.text import clean, number, who

OUTCOMES = {"": "waits", "points": "points set", "keep": "points kept"}


@dataclass(frozen=True, kw_only=True)
class AppealOptions:
    """The options that all subcommands share."""

    root: Path  # the course's folder
    gradebook: str | None = None  # URL; None for the course's own


def add(options: AppealOptions, submission: str, exercise: str, text: str, student: str, terminal: Terminal) -> int:
    """Record a student's request; return the exit status.

    Args:
        submission: the first digits of the submission's digest.
        student: whose submission it is, if the digits do not say.
    """
    entries = entries_or_complain(options.root, options.gradebook, None, terminal)
    if entries is None:
        return 2
    try:
        config, url = _gradebook(options)
        entry = submission_of(list(entries), submission, student)
        appeal = add_appeal(url, config.course_id, entry, exercise, text)
        page = write_page(config, url, entry)
    except RecordError as error:
        terminal.complain(error)
        return 2
    terminal.say(f"appeal {appeal.number}: {who(entry.student)}, {entry.assignment}, {exercise}")
    terminal.say(f"page  {page}")
    return 0


def show(options: AppealOptions, everything: bool, json: Path | None, terminal: Terminal) -> int:
    """List the appeals that wait, or all; return the exit status."""
    entries = entries_or_complain(options.root, options.gradebook, None, terminal)
    if entries is None:
        return 2
    found = [(entry, appeal) for entry in entries for appeal in entry.appeals if everything or not appeal.outcome]
    found.sort(key=lambda pair: pair[1].number)
    if json is not None:
        try:
            write_lines(json, [_line(*pair) for pair in found], terminal.out.file)
        except CannotWrite as error:
            terminal.complain(error)
            return 2
    elif found:
        terminal.out.print(_table(found))
    else:
        terminal.say("no appeals" if everything else "no appeal waits")
    return 0


def decide(options: AppealOptions, appeal_number: int, points: float | None, comment: str, terminal: Terminal) -> int:
    """Write a decision into the gradebook and onto the student's page; return the exit status.

    Args:
        points: those that the exercise has from now on; None keeps what it has.
    """
    entries = entries_or_complain(options.root, options.gradebook, None, terminal)
    if entries is None:
        return 2
    pairs = ((entry, appeal) for entry in entries for appeal in entry.appeals)
    found = next((pair for pair in pairs if pair[1].number == appeal_number), None)
    if found is None:
        terminal.complain(f"there is no appeal {appeal_number}; see grader appeal list --all")
        return 2
    entry, appeal = found
    try:
        config, url = _gradebook(options)
        decide_appeal(url, config.course_id, entry, appeal, points, comment)
        after = read_entry(url, config.course_id, entry.student.id, entry.assignment) or entry
        page = write_page(config, url, entry)
    except RecordError as error:
        terminal.complain(error)
        return 2
    change = f"{_points(entry, appeal)} → {_points(after, appeal)}" if points is not None else "the points stay"
    about = f"{who(entry.student)}, {entry.assignment}, {appeal.exercise}"
    terminal.say(f"{about}: {change}; score {_score(entry)} → {_score(after)}")
    terminal.say(f"page  {page}")
    return 0


def _gradebook(options: AppealOptions) -> tuple[CourseConfig, str]:
    config = read_config(options.root)
    return config, options.gradebook or config.gradebook


def _table(found: Sequence[tuple[GradebookEntry, Appeal]]) -> Table:
    """Lay out appeals as a table."""
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
    return f"{'–' if cell.points is None else number(cell.points)} of {number(cell.max_points)}"


def _score(entry: GradebookEntry) -> str:
    return "–" if entry.score is None else number(entry.score)
