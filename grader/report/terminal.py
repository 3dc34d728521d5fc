"""Shows grades in the terminal: a class as a table, one submission in detail, and progress during a run."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.records import Grade, GradebookEntry, Outcome, Verdict
from grader.report.text import (
    SYMBOLS,
    assignments,
    check_messages,
    clean,
    clean_lines,
    exercise_ids,
    kind,
    kind_of_points,
    lateness,
    number,
    said_once,
    some,
    summary,
    who,
)

COLOURS = dict(full="green", part="yellow", wrong="red", missing="dim", timeout="magenta", fault="bold red")
QUOTED = re.compile(r": `[^`]*`(?=: )")  # the line of code in a message: the note has no room for it
CARET = re.compile(r"│ *\^$", re.MULTILINE)
REPORT_EVERY = 10.0  # at least so many seconds between two lines of progress if the output is no terminal


def table(entries: Sequence[GradebookEntry]) -> RenderableType:
    """Return a table of a class for each assignment, with a symbol for each exercise, and a summary.

    Scores are the gradebook's. The symbols show the points that count, as on the students' pages.
    """
    parts: list[RenderableType] = []
    for assignment, group in assignments(entries).items():
        parts += [_assignment(assignment, group), Text(summary(group))]
        if missing := [who(entry.student) for entry in group if entry.status == "missing"]:
            parts.append(Text(f"submitted nothing: {some(missing)}"))
        parts.append(Text())
    used = {kind_of_points(verdict, entry) for entry in entries for verdict in entry.grade.verdicts}
    legend = Text(style="dim")
    for name in (name for name in SYMBOLS if name in used):
        symbol, meaning = SYMBOLS[name]
        # No-break spaces keep a symbol and its meaning on one line.
        legend.append(f"{'   ' if legend else ''}{symbol}\N{NO-BREAK SPACE}{meaning.replace(' ', chr(160))}")
    return Group(*parts, *([legend] if legend else []))


def _assignment(assignment: str, entries: Sequence[GradebookEntry]) -> Table:
    ids = exercise_ids(entries)
    shown = Table(title=Text(clean(assignment)), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown.add_column("student", overflow="fold", min_width=8)
    shown.add_column("score", justify="right", no_wrap=True)
    shown.add_column(_head(ids), no_wrap=True)
    shown.add_column("notes", overflow="fold", ratio=1)
    for entry in entries:
        if entry.status != "missing":
            symbols = _symbols(entry, ids)
            longest = 24 if entry.student.name else 32  # a name leaves room for the notes
            name = Text(_short(who(entry.student), longest))
            shown.add_row(name, _score(entry), symbols, Text(_notes(entry)))
    return shown


def _score(entry: GradebookEntry) -> Text:
    if entry.score is None:
        return Text("–", style="bold red")
    return Text(f"{number(entry.score)} / {number(entry.max_score)}" if entry.max_score else number(entry.score))


def _head(ids: Sequence[str]) -> Text:
    """Return the numbers of the exercises, written from top to bottom, so that notes have enough room."""
    numbers = [id.partition(".")[2] or id for id in ids]
    height = max(map(len, numbers), default=1)
    return Text("\n".join(map(" ".join, zip(*(one.rjust(height) for one in numbers), strict=True))))


def _symbols(entry: GradebookEntry, ids: Sequence[str]) -> Text:
    """Return the symbols of one student, each of them below its exercise's number."""
    kinds = {verdict.id: kind_of_points(verdict, entry) for verdict in entry.grade.verdicts}
    marks = Text()
    for id in ids:
        name = kinds.get(id)
        marks.append(f"{SYMBOLS[name][0] if name else ' '} ", style=COLOURS.get(name, "") if name else "")
    return marks


def _notes(entry: GradebookEntry) -> str:
    """Return the notes next to the symbols: the reason for a missing grade, mistakes, flags, manual changes."""
    grade = entry.grade
    notes = [] if entry.status == "graded" else [f"{entry.status}: {_short(entry.message, 240)}"]
    for verdict in grade.verdicts:
        unexplained = verdict.outcome is Outcome.FAILED and not verdict.hint
        if what := verdict.mistake or (unexplained and _short(QUOTED.sub("", verdict.message), 100)):
            notes.append(f"{verdict.id} {what}")
    notes += [f"{_short(flag.exercise or '', 8)} [{_short(flag.kind, 24)}]".strip() for flag in grade.flags]
    if by_hand := [name for name, cell in entry.cells.items() if cell.by_hand]:
        notes.append(f"manual points: {', '.join(_short(name, 24) for name in by_hand)}")
    if lateness(entry.penalty, entry.seconds_late):
        notes.append(f"late: −{number(entry.penalty)}" if entry.penalty else "late")
    if entry.waits_for_person:
        waiting = [_short(name, 24) for name, cell in entry.cells.items() if cell.needs_manual_grade]
        notes.append(f"needs manual grading: {', '.join(waiting)}")
    return "; ".join(notes)


def _short(text: str, longest: int) -> str:
    text = clean(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def details(grade: Grade) -> RenderableType:
    """Return the details of one submission.

    For each exercise there are its failed checks, its hint and its notes. Notes on several
    exercises and the flags follow at the end.
    """
    score = "not graded" if grade.score is None else f"{number(grade.score)} of {number(grade.max_score)}"
    lines: list[RenderableType] = [Text(f"{clean(grade.student)}  {clean(grade.assignment)}  {score}", style="bold")]
    if grade.message:
        lines.append(Text(f"{grade.status}: {clean(grade.message)}"))
    of_note: dict[str, dict[str, None]] = {}
    for verdict in grade.verdicts:
        for note in verdict.notes:
            of_note.setdefault(note, {})[verdict.id] = None
    for verdict in grade.verdicts:
        lines += _exercise(verdict)
        lines += [_below(f"note: {note}", "dim") for note in verdict.notes if len(of_note[note]) == 1]
    shared = {note: ids for note, ids in of_note.items() if len(ids) > 1}
    lines += [Text(clean(f"note on {', '.join(ids)}: {note}"), style="dim") for note, ids in shared.items()]
    lines.append(Text())
    for flag in grade.flags:
        where = f" in {clean(flag.exercise)}" if flag.exercise else ""
        lines.append(Text(f"flag: {clean(flag.kind)}{where}: {clean(flag.detail)}"))
    ran = f"isolation {grade.isolation or '?'}, {grade.device or '?'}, {grade.seconds:.1f} s"
    return Group(*lines, Text(ran, style="dim"))


def _below(text: str, style: str = "") -> RenderableType:
    """Return a text for the lines below an exercise, with every line indented."""
    return Padding(Text(clean(text), style=style), (0, 0, 0, 4), expand=False)


def _exercise(verdict: Verdict) -> Iterator[RenderableType]:
    """Yield the lines about one exercise, without its notes."""
    name = kind(verdict)
    worth = f"{number(verdict.points)} of {number(verdict.max_points)}" if verdict.max_points else "practice"
    yield Text.assemble(
        (f"{SYMBOLS[name][0]} ", COLOURS[name]), (f"{verdict.id} {clean(verdict.title)}", "bold"), f"  {worth}"
    )
    if verdict.hint:
        yield _below(verdict.hint)
    has_caret = CARET.search(verdict.excerpt) is not None
    for line in clean_lines(verdict.excerpt).splitlines():
        # A caret must stand below its character, so lines with one are cut and not wrapped.
        yield Text(f"    {line}", no_wrap=has_caret, overflow="ellipsis" if has_caret else "fold")
    # The numbers of one check: those of the others differ, and say the same.
    failed = [(check, said) for check, said in zip(verdict.checks, check_messages(verdict), strict=True)
              if check.outcome is not Outcome.PASSED]  # fmt: skip
    if not failed or verdict.outcome is Outcome.MISSING or said_once(verdict):
        yield from [_below(verdict.message)] if verdict.message else []
    else:
        (first, said), *others = failed
        yield _below(f"{first.title}: {said}", "dim" if verdict.hint else "")
        if others:
            yield _below(f"also: {'; '.join(check.title for check, _ in others)}", "dim")


# ---------------------------------------------------------------- progress


class _Rate(ProgressColumn):
    """The column of the progress bar with the speed, in submissions per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.2f}/s" if task.speed else "", style="dim")


@contextmanager
def progress(total: int, console: Console) -> Iterator[Callable[[Grade], None]]:
    """Show progress while a class is graded: a bar on a terminal, otherwise a plain line every few seconds.

    Yield a function that must be called with each grade.
    """
    if total == 0:
        yield lambda grade: None
    elif console.is_terminal:
        yield from _bar(total, console)
    else:
        yield from _lines(total, console)


def _bar(total: int, console: Console) -> Iterator[Callable[[Grade], None]]:
    """Yield a function that moves a progress bar on by one submission."""
    name = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn(), name)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(grade: Grade) -> None:
            bar.update(task, advance=1, description=clean(grade.student)[:24])

        yield advance


def _lines(total: int, console: Console) -> Iterator[Callable[[Grade], None]]:
    """Yield a function that counts a submission.

    It prints a line of progress every REPORT_EVERY seconds, and after the last submission.
    """
    started = reported = time.monotonic()
    done = 0

    def advance(grade: Grade) -> None:
        nonlocal done, reported
        done += 1
        now = time.monotonic()
        if done < total and now - reported < REPORT_EVERY:
            return
        reported = now
        rate = done / max(now - started, 1e-9)
        time_text = f"{_duration((total - done) / rate)} left" if done < total else f"in {_duration(now - started)}"
        console.print(f"graded {done} of {total}, {rate:.2f}/s, {time_text}", markup=False, highlight=False)

    yield advance


def _duration(seconds: float) -> str:
    """Return a duration in seconds as text: "1:05" for 65 seconds, "1:01:05" for 3665 seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
