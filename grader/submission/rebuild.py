"""Rebuilds a submission: puts the student's answers and added cells into a copy of the released notebook.

The student's predictions and texts for questions are put there, too. Nothing else of the submitted file is used: no
tags, metadata, outputs or kernelspec.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import nbformat
from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.records import Written
from grader.submission.cells import (
    TOOLS_CELL,
    TOOLS_IN_GRADING,
    Role,
    answer_cell,
    marked_exercises,
    marked_predictions,
    own_cell,
    prediction_cell,
    role,
    written_cell,
)
from grader.submission.code.source import names_bound_by, parsed
from grader.submission.file import Cell, Submission, Unreadable
from grader.submission.notebook import shown, written_texts
from grader.submission.parts import changed, completes, defined, is_rest, join, stubs

MAX_OWN_CELLS = 300  # cells that the student added; further ones are left out
# What a student may write, over all cells: a whole lesson has 0.1 MiB and 25,000 words and signs. The grader parses it
# some twenty times, and a syntax tree takes up to 2 KB of memory for each word.
MOST_CODE = 512 << 10  # characters
MOST_WORDS = 150_000  # words and signs
MOST_OF_LINE = 60  # characters of a cell's first line that a note quotes
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
    others: frozenset[str] = frozenset()  # exercises that a later cell without their marker answers, too: see `rebuild`

    @property
    def own_sources(self) -> list[str]:
        """The sources of the cells that `own` names, in their order."""
        return [cell.source for cell in self.notebook.cells if cell.id in self.own]


@dataclass(frozen=True)
class _ReadCell:
    """A submitted code cell with the results of analysing it, so that no analysis is done twice."""

    source: str
    exercises: frozenset[str]  # the ids of those to which it belongs
    defines: frozenset[str]  # as `defined` returns it
    parses: bool
    released: str | None  # the id of the released cell that it is a copy of; None if the student added it
    edited: bool = False  # it is a copy that the student has changed
    added: str = ""  # imports and definitions that the student added to a copy


@dataclass(frozen=True)
class _Chosen:
    """The cells and the source that were chosen as the answer to an exercise."""

    source: str
    remarks: tuple[str, ...]  # for the student
    cells: frozenset[int]  # indices of the cells that it is made of
    has_other: bool  # a later cell without the marker defines the name, too


def rebuild(lesson: Lesson, master: NotebookNode, submission: Submission, by_name: Collection[str] = ()) -> Rebuilt:
    """Return a copy of `master`, the student notebook as it was released, with the student's cells in it.

    Args:
        by_name: ids of exercises for which a cell without the marker that defines the name takes precedence.

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
    with_other: set[str] = set()
    for exercise in lesson.exercises:
        if chosen := _choose(exercise, cells, exercise.id in by_name):
            answers[exercise.id] = chosen.source
            used |= chosen.cells
            if chosen.remarks:
                notes[exercise.id] = chosen.remarks
            if chosen.has_other:
                with_other.add(exercise.id)
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
    return Rebuilt(
        notebook=notebook,
        answers=answers,
        own=(*added, *predictions),
        written=written,
        notes=_with_edits(lesson.exercises, notes, cells),
        others=frozenset(with_other),
    )


def _refuse_much_code(own: Sequence[str]) -> None:
    """Raise Unreadable if the student's cells have more than MOST_CODE characters or MOST_WORDS words and signs.

    Analysing such cells would take minutes.
    """
    too_long = sum(map(len, own)) > MOST_CODE
    if too_long or sum(1 for source in own for _ in WORD_OR_SIGN.finditer(source)) > MOST_WORDS:
        raise Unreadable(
            f"your cells hold more code than a lesson needs ({MOST_CODE >> 10} KiB, or {MOST_WORDS:,} words and "
            "signs). Remove numbers that were pasted into the code, and submit again."
        )


def _predictions(cells: Sequence[Cell], master: NotebookNode) -> tuple[dict[str, str], tuple[Cell, ...]]:
    """Separate the predictions from all other cells.

    A marker line '# @predict …' identifies a prediction. If there are several copies, the last one is used.

    Returns:
        The source of each edited prediction by the id of its released cell, and all other cells.
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
    """Analyse the submitted code cells and find the exercise or the released cell that each one belongs to.

    A cell belongs to the exercises in its '# @exercise' lines. Without such a line, its
    grade id names the exercise. Some editors split a cell in two and leave the second
    half without metadata. Such a half belongs to the exercises of the cell above.

    Args:
        given: the released code cells that are not answers.
    """
    read: list[_ReadCell] = []
    ids = {exercise.id for exercise in exercises}
    for cell in cells:
        marked = marked_exercises(cell.source) & ids
        owners = frozenset(marked or (id for id in ids if cell.grade_id == answer_cell(id)))
        if not owners and read and read[-1].exercises and is_rest(read[-1].source, cell.source):
            owners = read[-1].exercises
        parses = parsed(cell.source).bound is not None
        released = None if owners else _released_as(cell, given)
        text = next((one.source for one in given if one.id == released), "")
        edited = (
            released is not None and role(released) in (Role.OTHER, Role.PROVIDED) and _is_edited(cell.source, text)
        )
        added = additions(cell.source, text) if edited else ""
        read.append(_ReadCell(cell.source, owners, defined(cell.source), parses, released, edited, added))
    return read


def _is_edited(source: str, released: str) -> bool:
    """Return True if a copy of a released cell differs from it by more than trivial changes.

    Trivial changes are those of comments, layout, and settings such as `steps = 300`.
    """
    if source.strip() == released.strip():
        return False
    copy, original = (
        [
            ast.dump(node)
            for node in parsed(text).statements or ()
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))
        ]
        for text in (source, released)
    )
    return copy != original


def additions(source: str, released: str) -> str:
    """Return the source of the imports and definitions that a student added to a copy of a released cell.

    An added definition binds only names that the released cell does not bind. An added import binds at least one.
    """
    known = parsed(released).bound or frozenset()
    lines = parsed(source).python.splitlines()
    added: list[str] = []
    for node in parsed(source).statements or ():
        new = [name for name in names_bound_by(node) if name not in known]
        is_import = isinstance(node, (ast.Import, ast.ImportFrom))
        defines = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign))
        if new and (is_import or (defines and len(new) == len(names_bound_by(node)))):
            first = min([node.lineno, *(inner.lineno for inner in getattr(node, "decorator_list", ()))])
            added += lines[first - 1 : node.end_lineno]
    return "\n".join(added)


def _with_edits(
    exercises: Sequence[Exercise], notes: Mapping[str, tuple[str, ...]], cells: Sequence[_ReadCell]
) -> dict[str, tuple[str, ...]]:
    """Return the notes, with one more for each provided cell that the student has changed.

    The note belongs to the next exercise below the cell, or to the last exercise if none is below.
    """
    noted = dict(notes)
    for index, cell in enumerate(cells):
        if cell.edited:
            below = (id for later in cells[index:] for id in sorted(later.exercises))
            id = next(below, exercises[-1].id)
            kept = (
                f" What you added to it is kept: {', '.join(sorted(parsed(cell.added).bound or ()))}."
                if cell.added
                else ""
            )
            first = next(filter(str.strip, cell.source.splitlines()), "").strip()[:MOST_OF_LINE]
            note = f"You changed the provided cell that begins with `{first}`. It ran as it was released.{kept}"
            noted[id] = (*noted.get(id, ()), note)
    return noted


def _choose(exercise: Exercise, cells: Sequence[_ReadCell], by_name: bool) -> _Chosen | None:
    """Choose the cells that are the answer to an exercise, or return None if there is no such cell.

    The answer consists of the cells that belong to the exercise, without cells that are still the stub. A cell without
    the marker is also used if it defines a name that the other cells leave unsolved. With `by_name`, a cell without the
    marker that defines a name is always used.
    """
    names = set(exercise.defines)
    marked = [index for index, cell in enumerate(cells) if exercise.id in cell.exercises]
    # The released "Stuck on …" cells define the names, too, and are no answers.
    free = [index for index, cell in enumerate(cells) if not cell.exercises and cell.parses and cell.released is None]
    solved = names & frozenset().union(*(cells[index].defines - stubs(cells[index].source) for index in marked))
    # Of each name the last definition, and all that complete a class of another cell.
    defining = {name: index for index in free for name in names & (cells[index].defines - stubs(cells[index].source))}
    completing = [index for index in free if names & changed(cells[index].source)]
    for_names = names if by_name else names - solved
    found = {index for name, index in defining.items() if name in for_names}
    found |= {index for index in completing if changed(cells[index].source) & for_names}
    if not marked and not found:
        return None
    if not found and not any(names & cells[index].defines for index in marked):
        return _Chosen(cells[marked[-1]].source, (), frozenset(marked), False)
    # A stub is left out if another cell has the name, unless that one completes it.
    available = solved | frozenset().union(*(names & cells[index].defines for index in found))
    needed = frozenset().union(*(completes(cells[index].source) for index in found))

    def is_left_out(index: int) -> bool:
        here = names & cells[index].defines
        return bool(here) and here <= stubs(cells[index].source) & available - needed

    chosen = sorted([*(index for index in marked if not is_left_out(index)), *found])
    joined = join({index: cells[index].source for index in chosen}, names)
    remarks: tuple[str, ...] = ()
    if found:
        remarks = (f"Found by its name, in a cell without '# @exercise {exercise.id}'.",)
    elif defining:
        remarks = (f"You also define {exercise.name} in a cell of your own; the exercise's cell counted.",)
    if joined.alternatives > 1:
        first = f"{joined.alternatives} cells of this exercise define {exercise.name}; the last one counted."
        remarks = (first, *remarks)
    if joined.parts > 1:
        remarks = (*remarks, f"The answer stands in {joined.parts} cells; they were put together.")
    has_other = not found and any(index > max(chosen) for index in (*defining.values(), *completing))
    return _Chosen(joined.source, remarks, frozenset(chosen) - joined.scratch, has_other)


def _own_cells(cells: Sequence[_ReadCell], used: set[int], exercises: Sequence[Exercise]) -> dict[str, list[str]]:
    """Map the id of each released cell to the sources of the student-added cells that follow it.

    Cells before the first released cell are under the key "".

    Args:
        used: the indices of the cells that are answers.
    """
    own: dict[str, list[str]] = defaultdict(list)
    previous, count = "", 0
    for index, cell in enumerate(cells):
        if index in used:
            ids = cell.exercises or {exercise.id for exercise in exercises if cell.defines & {*exercise.defines}}
            previous = max((answer_cell(id) for id in ids), default=previous)
        elif cell.released is not None:
            previous = cell.released
            if cell.added:
                own[previous].append(cell.added)
        elif cell.source.strip() and count < MAX_OWN_CELLS:
            own[previous].append(cell.source)
            count += 1
    return own


def _released_as(cell: Cell, given: Sequence[NotebookNode]) -> str | None:
    """Return the id of the released cell that a cell is a copy of, unchanged or edited a little.

    Return None if the cell is not such a copy.
    """
    source = cell.source.strip()
    for candidate in given:
        nbgrader = candidate.metadata.get("nbgrader", {})
        if source == candidate.source.strip() or (cell.grade_id and cell.grade_id == nbgrader.get("grade_id")):
            return candidate.id
    lines = source.splitlines()
    for candidate in given:
        released = candidate.source.strip().splitlines()
        if role(candidate.id) in (Role.CARRY_ON, Role.TOOLS) and lines[:1] == released[:1]:  # the title is its own
            return candidate.id
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
    """Copy the released notebook, replace the sources of some cells, and insert the student-added cells.

    An exercise's cell without an answer keeps only its '# @exercise' line and a comment.

    Args:
        sources: the new sources, by cell id.
        own: the sources of the student-added cells, by the id of the released cell before them.

    Returns:
        The notebook, and the ids of the student-added cells.
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
        elif cell.id == TOOLS_CELL:
            cell.source = TOOLS_IN_GRADING
        elif cell.id in answered:
            cell.source = f"{cell.source.splitlines()[0]}\n# (there was no cell for this exercise)"
        cells.append(cell)
        add_own_cells(cell.id)
    rebuilt.cells = cells
    return rebuilt, added
