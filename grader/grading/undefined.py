"""Find out why names of a notebook are undefined: which cell should define a name, and what happened to this cell."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.raised import SYNTAX_ERRORS, NotebookCells, Undefined, excerpt, raised
from grader.records import CellResult, Outcome, Status, Verdict
from grader.sandbox.text import one_line
from grader.submission.cells import answer_cell, is_stubs_own
from grader.submission.code.source import parsed
from grader.submission.rebuild import Rebuilt

UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
IMPORTS = re.compile(r"^(?:from[ \t]+\S+[ \t]+)?import[ \t]+(.+)$", re.MULTILINE)
MAX_NAMES = 3  # that a message lists
MAX_NAME, MAX_COMPARED = 60, 500  # characters of a name, and names: comparing them takes time


def cells_that_ran(
    lesson: Lesson, rebuilt: Rebuilt, notebook: NotebookNode, results: Mapping[str, CellResult]
) -> NotebookCells:
    """Return the facts about the notebook that messages need: the sources of its cells, and why names are undefined.

    Args:
        notebook: the notebook that ran.
        results: cell id → the result of running the cell.
    """
    code = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    asked = {answer_cell(exercise.id): exercise.defines for exercise in lesson.exercises}
    answered = {answer_cell(id) for id in rebuilt.answers}
    undefined: dict[str, Undefined] = {}
    cells = NotebookCells(
        sources={id: cell.source for id, cell in code.items()},
        student=frozenset({*answered, *rebuilt.own}),
        undefined=undefined,  # what a cell stopped at may be a name that an earlier one did not define
    )
    for id, cell in code.items():
        result = results.get(id)
        if result is None or (id in asked and id not in answered):
            continue
        for name, cause in _undefined_by(cell, result, asked.get(id, ()), cells).items():
            undefined.setdefault(name, cause)
    return cells


def where_it_stopped(exercise: Exercise, verdict: Verdict, cells: NotebookCells) -> tuple[str, ...]:
    """Return a note if an exercise failed and its cell raised an exception after the answer. Otherwise return ().

    No note is returned if the verdict's message already describes the exception.
    """
    known = next((cells.undefined[name] for name in exercise.defines if name in cells.undefined), None)
    if known is None or verdict.outcome is not Outcome.FAILED or known.outcome is Outcome.MISSING:
        return ()
    # The message may be cut.
    return () if known.why[:100] in verdict.message else (f"Your cell {known.why}",)


def training_stopped(verdict: Verdict, exercise: Exercise, cells: NotebookCells) -> str:
    """Return a hint if an exercise failed because the lesson's cell that trains with the answer stopped.

    Returns:
        "" if the training cell did not stop.
    """
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    places = {check.at for check in exercise.checks if check.at and check.name in failed}
    known = next((one for one in cells.undefined.values() if one.cell in places), None)
    if known is None:
        return ""
    name = UNDEFINED.search(known.why)
    below = name and any(name[1] in (parsed(cells.sources[cell]).bound or ()) for cell in cells.student)
    return f"The lesson's cell that trains with it {known.why}." + (
        f" A cell of yours further down defines {name[1]}: move it above this exercise." if name and below else ""
    )


def _undefined_by(
    cell: NotebookNode, result: CellResult, asked: Collection[str], cells: NotebookCells
) -> dict[str, Undefined]:
    """Return the names that a cell leaves undefined, with the reason for each.

    If the cell stopped, these are all names that it binds, and the names in `asked`. Otherwise they are the names
    in `asked` that it does not bind.

    Args:
        asked: the names that the exercise asks for; empty if the cell is not an answer.
    """
    if result.status is not Status.OK:
        cause = _stopped(cell, result, cells, is_answer=bool(asked))
        return dict.fromkeys((*asked, *_meant(cell.source)), cause)
    if not asked:
        return {}
    bound = parsed(cell.source).bound or frozenset()
    code = [line for line in parsed(cell.source).python.splitlines() if line.strip()]
    if all(line.lstrip().startswith("#") for line in code):
        return {}
    return {name: _misnamed(cell, name, bound - set(asked)) for name in asked if name not in bound}


def _stopped(cell: NotebookNode, result: CellResult, cells: NotebookCells, *, is_answer: bool) -> Undefined:
    """Return the reason why a cell that did not run to its end leaves names undefined.

    Either the exercise is not solved, or an exception or a limit stopped the cell.
    """
    if is_answer and is_stubs_own(result.error, result.message):
        return Undefined(cell=cell.id, why="not solved yet", briefly="is not solved yet", outcome=Outcome.MISSING)
    if result.status is not Status.RAISED:
        why = f"did not run to its end: {one_line(result.message)}"
        late = result.status is Status.TIMEOUT
        outcome = Outcome.TIMEOUT if late else Outcome.FAILED
        return Undefined(cell=cell.id, why=why, briefly=why, outcome=outcome)
    # Only of a cell that Python cannot read, the column is known.
    unread = result.error in SYNTAX_ERRORS and result.place.column
    verb = "does not parse" if unread else "stopped"
    words = raised(result, cell.id, cells)
    return Undefined(
        cell=cell.id, why=words.in_a_cell(verb), briefly=words.in_a_cell(verb, briefly=True), excerpt=words.excerpt
    )


def _misnamed(cell: NotebookNode, name: str, bound: Collection[str]) -> Undefined:
    """Return the reason why `name` is undefined although the cell ran. It lists names that the cell defines instead."""
    others = sorted(other for other in bound if len(other) <= MAX_NAME)[:MAX_COMPARED]
    alike = get_close_matches(name, others, n=1) or others[:MAX_NAMES]
    defines = ", ".join(alike)
    why = f"runs, but defines no {name}" + (f"; it defines {defines}" if alike else "")
    first_lines = dict(reversed(parsed(cell.source).binding_lines))
    line = next((first_lines[other] for other in alike if other in first_lines), 0)
    shown = excerpt(cell.source, line) if line else ""
    return Undefined(cell=cell.id, why=why, briefly=why, excerpt=shown)


def _meant(source: str) -> Collection[str]:
    """Return the names that a cell binds. If it does not parse, return the names that it seems to bind."""
    bound = parsed(source).bound
    if bound is not None:
        return bound
    names = [name for name, _ in parsed(source).binding_lines]
    # Of `import numpy as np, math`, the last word of each part.
    names += [part.split()[-1] for parts in IMPORTS.findall(source) for part in parts.split(",") if part.split()]
    return names
