"""Rebuilds a submission: puts its answers and the student's own cells into a copy of the released notebook.

Its predictions and its texts for questions are put there, too. Nothing else of the submitted file is used: no tags,
metadata, outputs or kernelspec.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import nbformat
from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.records import Written
from grader.submission.cells import (
    Role,
    answer_cell,
    marked_exercises,
    marked_predictions,
    own_cell,
    prediction_cell,
    role,
    written_cell,
)
from grader.submission.code.source_names import bound_names
from grader.submission.file import Cell, Submission, Unreadable
from grader.submission.parts import defined, is_rest, join
from grader.submission.written import shown, written_texts

MAX_OWN_CELLS = 300  # cells that the student added; further ones are left out
# What a student may write, over all cells: a whole lesson has 0.1 MiB and 25,000 words and signs. The grader parses it
# some twenty times, and a syntax tree takes up to 2 KB of memory for each word.
MOST_CODE = 512 << 10  # characters
MOST_WORDS = 150_000  # words and signs
WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """A copy of the released notebook with a student's answers in it."""

    notebook: NotebookNode
    # By exercise id, the source that counts as the answer; exercises without a cell are missing.
    answers: Mapping[str, str]
    own: tuple[str, ...]  # ids of the cells that the student added, and of the predictions that were edited
    written: tuple[Written, ...] = ()
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # for the student, by exercise id

    @property
    def own_sources(self) -> list[str]:
        """The sources of the cells that `own` names, in their order."""
        return [cell.source for cell in self.notebook.cells if cell.id in self.own]


@dataclass(frozen=True)
class _ReadCell:
    """A submitted code cell, and what is read from it: once, whoever asks."""

    source: str
    exercises: frozenset[str]  # the ids of those to which it belongs
    defines: frozenset[str]  # as `defined` returns it
    parses: bool
    released: str | None  # the id of the released cell that it is a copy of; None if the student added it


def rebuild(lesson: Lesson, master: NotebookNode, submission: Submission) -> Rebuilt:
    """Put a submission into a copy of `master`, the student notebook as it was released.

    Raises:
        Unreadable: no cell answers any exercise, or the student's code is too long.
    """
    given = [cell for cell in master.cells if cell.cell_type == "code" and role(cell.id) is not Role.ANSWER]
    released = {cell.source.strip() for cell in given}
    _refuse_much_code([cell.source for cell in submission.cells if cell.source.strip() not in released])
    predictions, others = _predictions(submission.cells, master)
    cells = _read_cells(others, lesson.exercises, given)
    answers: dict[str, str] = {}
    notes: dict[str, tuple[str, ...]] = {}
    used: set[int] = set()  # indices of the cells that belong to an exercise
    for exercise in lesson.exercises:
        source, remarks, belonging = _choose(exercise, cells)
        used |= belonging
        if source is not None:
            answers[exercise.id] = source
        if remarks:
            notes[exercise.id] = remarks
    # A notebook of another course may have the same '# @exercise' lines.
    if not any(defined(answers.get(exercise.id, "")) & {*exercise.defines} for exercise in lesson.exercises):
        raise Unreadable(
            f"no exercise cell of {lesson.assignment} is in it: no cell defines {lesson.exercises[0].defines[0]}, or "
            "another name that the lesson asks for. It is of another lesson or course: submit "
            f"{lesson.assignment}.ipynb. (Instructor: --assignment says which lesson a file is of.)"
        )
    written = written_texts(master, submission.texts)
    sources = {answer_cell(id): source for id, source in answers.items()}
    sources |= predictions | {written_cell(one.id): shown(one) for one in written}
    notebook, added = _assemble(lesson, master, sources, _own_cells(cells, used, lesson.exercises))
    # An edited prediction counts as a cell that the student added: it may raise or hang, and costs nothing.
    return Rebuilt(notebook=notebook, answers=answers, own=(*added, *predictions), written=written, notes=notes)


def _refuse_much_code(own: Sequence[str]) -> None:
    """Raise Unreadable if the student's cells are longer than MOST_CODE or MOST_WORDS: analysing them would take minutes."""
    too_long = sum(map(len, own)) > MOST_CODE
    if too_long or sum(1 for source in own for _ in WORD_OR_SIGN.finditer(source)) > MOST_WORDS:
        raise Unreadable(
            f"your cells hold more code than a lesson needs ({MOST_CODE >> 10} KiB, or {MOST_WORDS:,} words and "
            "signs). Remove numbers that were pasted into the code, and submit again."
        )


def _predictions(cells: Sequence[Cell], master: NotebookNode) -> tuple[dict[str, str], tuple[Cell, ...]]:
    """Return the sources of the edited predictions by the id of the released cell, and all other cells.

    A prediction is known by its marker line '# @predict …'; of several copies the last counts.
    """
    released = {cell.id: cell.source for cell in master.cells if role(cell.id) is Role.PREDICTION}
    edited: dict[str, str] = {}
    others: list[Cell] = []
    for cell in cells:
        places = {prediction_cell(name) for name in marked_predictions(cell.source)} & released.keys()
        if len(places) == 1 and not marked_exercises(cell.source):
            edited[places.pop()] = cell.source
        else:
            others.append(cell)
    changed = {id: source for id, source in edited.items() if source.strip() != released[id].strip()}
    return changed, tuple(others)


def _read_cells(cells: Sequence[Cell], exercises: Sequence[Exercise], given: Sequence[NotebookNode]) -> list[_ReadCell]:
    """Read the submitted code cells; `given` are the released ones that are no answers.

    A cell belongs to the exercises in its '# @exercise' lines; without such a line, to that of its grade id. One that
    is only the rest of the cell above belongs where that belongs: some editors split off a cell without its metadata.
    """
    read: list[_ReadCell] = []
    ids = {exercise.id for exercise in exercises}
    for cell in cells:
        marked = marked_exercises(cell.source) & ids
        owners = frozenset(marked or (id for id in ids if cell.grade_id == answer_cell(id)))
        if not owners and read and read[-1].exercises and is_rest(read[-1].source, cell.source):
            owners = read[-1].exercises
        parses = bound_names(cell.source) is not None
        read.append(_ReadCell(cell.source, owners, defined(cell.source), parses, _released_as(cell, given)))
    return read


def _choose(exercise: Exercise, cells: Sequence[_ReadCell]) -> tuple[str | None, tuple[str, ...], set[int]]:
    """Return an exercise's answer or None, notes for the student, and the indices of all cells that belong to it."""
    names = set(exercise.defines)
    marked = [index for index, cell in enumerate(cells) if exercise.id in cell.exercises]
    elsewhere = [
        index
        for index, cell in enumerate(cells)
        # The released "Stuck on …? Carry on" cells define the names too, and are no answers.
        if not cell.exercises and cell.parses and names & cell.defines and cell.released is None
    ]
    remarks: tuple[str, ...] = ()
    if any(names & cells[index].defines for index in marked):
        chosen = marked
        if elsewhere:
            remarks = (f"You also define {exercise.name} in a cell of your own; the exercise's cell counted.",)
    elif elsewhere:
        chosen = sorted([*marked, elsewhere[-1]])
        remarks = (f"Found by its name, in a cell without '# @exercise {exercise.id}'.",)
    elif marked:
        return cells[marked[-1]].source, (), set(marked)
    else:
        return None, (), set()
    joined = join({index: cells[index].source for index in chosen}, names)
    if joined.alternatives > 1:
        remarks = (
            f"{joined.alternatives} cells of this exercise define {exercise.name}; the last one counted.",
            *remarks,
        )
    if joined.parts > 1:
        remarks = (*remarks, f"The answer stands in {joined.parts} cells; they were put together.")
    return joined.source, remarks, set(chosen) - joined.scratch


def _own_cells(cells: Sequence[_ReadCell], used: set[int], exercises: Sequence[Exercise]) -> dict[str, list[str]]:
    """Map the id of each released cell to the sources of the student's own cells that follow it.

    The key "" has the cells before the first released cell. `used` has the indices of the answers.
    """
    own: dict[str, list[str]] = defaultdict(list)
    previous, count = "", 0
    for index, cell in enumerate(cells):
        if index in used:
            ids = cell.exercises or {exercise.id for exercise in exercises if cell.defines & {*exercise.defines}}
            previous = max((answer_cell(id) for id in ids), default=previous)
        elif cell.released is not None:
            previous = cell.released
        elif cell.source.strip() and count < MAX_OWN_CELLS:
            own[previous].append(cell.source)
            count += 1
    return own


def _released_as(cell: Cell, given: Sequence[NotebookNode]) -> str | None:
    """Return the id of the released cell of which this is a copy, unchanged or edited a little; else None."""
    source = cell.source.strip()
    for candidate in given:
        nbgrader = candidate.metadata.get("nbgrader", {})
        if source == candidate.source.strip() or (cell.grade_id and cell.grade_id == nbgrader.get("grade_id")):
            return candidate.id
    lines = source.splitlines()
    for candidate in given:
        released = candidate.source.strip().splitlines()
        fewer, more = sorted((len(lines), len(released)))
        if fewer < 3 or more > 4 * fewer:
            continue
        if cell.id == candidate.id or lines[0] == released[0]:
            matcher = SequenceMatcher(None, lines, released, autojunk=False)
            if matcher.real_quick_ratio() >= 0.6 and matcher.quick_ratio() >= 0.6:
                return candidate.id
    return None


def _assemble(
    lesson: Lesson, master: NotebookNode, sources: Mapping[str, str], own: Mapping[str, Sequence[str]]
) -> tuple[NotebookNode, list[str]]:
    """Copy the released notebook with other sources of some cells, and insert the student's own; return their ids, too.

    The cell of an exercise without an answer keeps only its '# @exercise' line and a comment. `own` has the sources of the
    student's own cells by the id of the released cell before them.
    """
    answered = {answer_cell(exercise.id) for exercise in lesson.exercises}
    rebuilt = deepcopy(master)
    cells: list[NotebookNode] = []
    added: list[str] = []

    def add_own_cells(previous: str) -> None:
        for source in own.get(previous, ()):
            name = own_cell(len(added) + 1)
            added.append(name)
            cells.append(nbformat.v4.new_code_cell(source, id=name))

    add_own_cells("")
    for cell in rebuilt.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if cell.id in sources:
            cell.source = sources[cell.id]
        elif cell.id in answered:
            cell.source = f"{cell.source.splitlines()[0]}\n# (there was no cell for this exercise)"
        cells.append(cell)
        add_own_cells(cell.id)
    rebuilt.cells = cells
    return rebuilt, added
