"""Plan one run of a notebook: what it executes, when the probes run, what is left out. Records in, a RunPlan out."""

import builtins
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from nbformat import NotebookNode

from grader.declare.builtin_names import operators
from grader.declare.lesson import SHORT, Lesson
from grader.grading.pruning import unneeded_cells
from grader.grading.stand_ins import stand_ins
from grader.judge.dependencies import foundations, mentioned_exercises
from grader.judge.planned_trial import PlannedTrial, source_of
from grader.records import GIVEN, GradingSettings, Origin, Request
from grader.sandbox.engine import RunPlan, TimeoutPolicy
from grader.submission.cells import Role, answer_cell, role
from grader.submission.code.source import parsed
from grader.submission.rebuild import Rebuilt

SEED = 0  # of the notebook's own draws, as in the notebook itself
PARAMETERS = "parameters"  # papermill's tag of the cell whose values it replaces


def schedule(
    lesson: Lesson, rebuilt: Rebuilt, notebook: NotebookNode, trials: Sequence[PlannedTrial], settings: GradingSettings
) -> RunPlan:
    """Plan one run.

    Args:
        notebook: the rebuilt one, or a copy of it with stand-ins.
        trials: the trials that are probed in this run.
    """
    skip = [] if settings.run_all else unneeded_cells(lesson, notebook, rebuilt.own, trials)
    steps = {} if settings.run_all else {"train_steps": SHORT}
    return RunPlan(
        notebook=notebook,
        parameters={**lesson.parameters, **steps, "device": settings.device, "seed": SEED},
        requests=_requests(lesson, rebuilt, trials),
        limits=lesson.limits,
        cell_seconds=_cell_seconds(lesson, notebook, rebuilt),
        skip=skip,
        timeout_policy=_timeout_policy(lesson, rebuilt),
        origins=_origins(lesson, notebook, rebuilt),
        settings=_settings(notebook, rebuilt),
    )


def _settings(notebook: NotebookNode, rebuilt: Rebuilt) -> frozenset[str]:
    """Return the parameters, and the names of Python and of libraries to which the student's cells give another meaning."""
    given = _given_cells(notebook, rebuilt)
    tagged = [cell.source for cell in given if PARAMETERS in cell.metadata.get("tags", ())]
    parameters = frozenset().union(*(parsed(source).bound or () for source in tagged))
    libraries = frozenset().union(*(parsed(cell.source).imports for cell in given))
    students = [cell.source for cell in notebook.cells if cell.id in rebuilt.own or role(cell.id) is Role.ANSWER]
    # `from torch import *` binds names that nobody writes.
    known = {*vars(builtins), *(name for name, _ in libraries)}
    bound = frozenset().union(*(parsed(source).bound or () for source in students))
    return parameters | (known if "*" in bound else known & bound)


def _requests(lesson: Lesson, rebuilt: Rebuilt, trials: Iterable[PlannedTrial]) -> Mapping[str, Sequence[Request]]:
    """Map each cell id to the requests for the probes that run after that cell: one for each check.

    Probes that take only functions and classes change nothing that others use: those of an exercise share a fork. A probe
    that takes a trained object may change it, and gets a fork of its own.
    """
    shared: dict[str, list[Request]] = defaultdict(list)
    alone: dict[str, list[Request]] = defaultdict(list)
    answered = (trial for trial in trials if trial.exercise.id in rebuilt.answers)
    for (exercise, check), group in groupby(answered, key=lambda trial: (trial.exercise.id, trial.check.name)):
        of_check = list(group)
        if all(trial.takes <= lesson.definitions for trial in of_check):
            shared[of_check[0].cell].append(_request(f"{exercise}/{check}", of_check, group=exercise))
        else:
            alone[of_check[0].cell].append(_request(f"{exercise}/{check}", of_check))
    return {cell: [*shared[cell], *alone[cell]] for cell in {**shared, **alone}}


def _request(key: str, trials: Sequence[PlannedTrial], group: str = "") -> Request:
    """Return the request for trials of one check, which share a fork with the request before if that has the same group."""
    exercise, check = trials[0].exercise, trials[0].check
    return Request(
        key=key,
        source=source_of(check.probe),
        function=check.probe.__name__,
        trials={trial.key: trial.inputs for trial in trials},
        names=check.names,
        seconds=check.seconds,
        watched=operators(exercise.bans),
        group=group,
    )


def _given_cells(notebook: NotebookNode, rebuilt: Rebuilt) -> list[NotebookNode]:
    """List the given code cells: those that are no answer, and that the student did not add."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and role(cell.id) is not Role.ANSWER and cell.id not in rebuilt.own
    ]


def _cell_seconds(lesson: Lesson, notebook: NotebookNode, rebuilt: Rebuilt) -> dict[str, float]:
    """Map each given cell to its time limit in seconds, and each cell for which the lesson sets a limit.

    Other cells get the limit `cell_seconds` of the lesson.
    """
    seconds = min(lesson.limits.given_seconds, lesson.limits.cell_seconds)
    return {**{cell.id: seconds for cell in _given_cells(notebook, rebuilt)}, **lesson.cell_seconds}


def _timeout_policy(lesson: Lesson, rebuilt: Rebuilt) -> TimeoutPolicy:
    """Say what is skipped or shortened once an exercise has timed out.

    Given cells that call the exercise are skipped; probes of exercises that build on it get a shorter time limit. A
    given cell that trains is skipped only if a stand-in can replace the exercise: follow-through then runs the cell.
    """
    given = _given_cells(rebuilt.notebook, rebuilt)
    provided = {name: names for cell in given for name, names in parsed(cell.source).definitions.items()}
    answered = {
        name: names for source in rebuilt.answers.values() for name, names in parsed(source).definitions.items()
    }
    trains = lesson.training_cells
    replaceable = stand_ins(lesson) if lesson.follow_through else frozenset()
    cells = {}
    for cell in given:
        if cell.id in trains:
            cells[cell.id] = replaceable & mentioned_exercises(lesson, cell.source, {**answered, **provided})
        elif role(cell.id) is not Role.CARRY_ON:
            cells[cell.id] = mentioned_exercises(lesson, cell.source, provided)
    return TimeoutPolicy(
        cells=cells, exercises={exercise.id: foundations(lesson, exercise.id) for exercise in lesson.exercises}
    )


def _origins(lesson: Lesson, notebook: NotebookNode, rebuilt: Rebuilt) -> dict[str, Origin]:
    """Map each cell to the origin of its code. Cells that the student added have no entry."""
    given = {cell.id: GIVEN for cell in notebook.cells if cell.id not in rebuilt.own}
    answers = {
        answer_cell(exercise.id): Origin(who=exercise.id, defines=exercise.defines) for exercise in lesson.exercises
    }
    return {**given, **answers}
