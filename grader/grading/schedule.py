"""Plan one run of a notebook: which cells run, and when the probes run. In: records. Out: a RunPlan.

Cells that no verdict depends on are left out.
"""

import builtins
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from nbformat import NotebookNode

from grader.declare.builtin_names import operators
from grader.declare.lesson import SHORT, Lesson
from grader.grading.follow_through import stand_ins
from grader.judge.dependencies import foundations, mentioned_exercises
from grader.judge.planned_trial import PlannedTrial, source_of
from grader.records import GIVEN, GradingSettings, Origin, Request
from grader.sandbox.engine import RunPlan, TimeoutPolicy
from grader.submission.cells import Role, answer_cell, exercise_of, is_off, only_draws, role
from grader.submission.code.source import parsed
from grader.submission.rebuild import Rebuilt

SEED = 0  # of the notebook's own draws, as in the notebook itself
PARAMETERS = "parameters"  # papermill's tag of the cell whose values it replaces


def schedule(
    lesson: Lesson, rebuilt: Rebuilt, notebook: NotebookNode, trials: Sequence[PlannedTrial], settings: GradingSettings
) -> RunPlan:
    """Return the plan for one run of a notebook.

    Args:
        notebook: the rebuilt notebook, or a copy of it with stand-ins.
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
    """Return the names of a notebook's settings.

    They are its parameters, and those names of Python and of libraries that the student's cells bind again.
    """
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
    """Return the requests that run after each cell, by cell id. There is one request for each check.

    Probes that take only functions and classes change nothing that others use, so
    all such probes of an exercise share a fork (a copy of the sandbox's process).
    A probe that takes a trained object may change it, and gets a separate fork.
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
    """Return the request for the trials of one check.

    Args:
        group: if the request before this one has the same group, both share a fork; "" for a separate fork.
    """
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
    """List the provided code cells: those that are not answers, and that the student did not add."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and role(cell.id) is not Role.ANSWER and cell.id not in rebuilt.own
    ]


def _cell_seconds(lesson: Lesson, notebook: NotebookNode, rebuilt: Rebuilt) -> dict[str, float]:
    """Return time limits in seconds, by cell id: for provided cells, and for cells for which the lesson sets a limit.

    All other cells have the lesson's general limit, `cell_seconds`.
    """
    seconds = min(lesson.limits.given_seconds, lesson.limits.cell_seconds)
    return {**{cell.id: seconds for cell in _given_cells(notebook, rebuilt)}, **lesson.cell_seconds}


def _timeout_policy(lesson: Lesson, rebuilt: Rebuilt) -> TimeoutPolicy:
    """Return the cells and probes that are skipped or get less time after an exercise has timed out.

    A provided cell that calls the exercise is skipped. A probe of an exercise that
    builds on it gets a shorter time limit. A provided cell that trains is skipped
    only if a stand-in can replace the exercise: follow-through then runs the cell.
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
    """Return the origin of each cell's code, by cell id. Student-added cells have no entry."""
    given = {cell.id: GIVEN for cell in notebook.cells if cell.id not in rebuilt.own}
    answers = {
        answer_cell(exercise.id): Origin(who=exercise.id, defines=exercise.defines) for exercise in lesson.exercises
    }
    return {**given, **answers}


def unneeded_cells(
    lesson: Lesson, notebook: NotebookNode, own: Collection[str], trials: Collection[PlannedTrial]
) -> list[str]:
    """List the ids of the cells that need not run.

    There are two kinds of such cells:
    - Self-checks, which the grader's own checks replace, and carry-on cells that are off, which have no effect.
    - Provided cells that only draw, define provided code, or train an object that no trial probes. Such a cell
      runs nevertheless if a probe, or another cell that runs, uses a name that it binds.

    Answers and student-added cells always run. If the student's code looks
    names up as it runs, all provided code runs, too.

    Args:
        own: ids of the student-added cells.
        trials: the trials that are probed in this run.
    """
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    without_effect = [
        id
        for id, cell in cells.items()
        if role(id) is Role.CHECK or (role(id) is Role.CARRY_ON and is_off(cell.source, exercise_of(id) or ""))
    ]
    trains = lesson.training_cells
    dynamic = student_looks_names_up(cells.values(), own)
    skipped = {
        id
        for id, cell in cells.items()
        if only_draws(cell)
        or (role(id) in (Role.TOOLS, Role.PROVIDED) and not dynamic)
        or id in trains - {trial.cell for trial in trials}
    }
    probed = frozenset().union(*(trial.takes for trial in trials))
    while True:
        running = [cell.source for id, cell in cells.items() if id not in skipped and id not in without_effect]
        used = probed.union(*map(_used_names, running))
        imports = frozenset().union(*(parsed(source).imports for source in running))
        needed = {id for id in skipped if _provided_names(cells[id].source, imports) & used}
        if not needed:
            return [*without_effect, *skipped]
        skipped -= needed


def _provided_names(source: str, imports: Collection[tuple[str, str]]) -> frozenset[str]:
    """Return the names that a cell binds, except for imports that are also in `imports`."""
    imported_elsewhere = {name for name, what in parsed(source).imports if (name, what) in imports}
    return (parsed(source).bound or frozenset()) - imported_elsewhere


def _used_names(source: str) -> frozenset[str]:
    """Return the names that a cell reads and does not bind. If it does not parse, return all names that it mentions."""
    return parsed(source).mentioned if parsed(source).bound is None else parsed(source).free


def student_looks_names_up(cells: Iterable[NotebookNode], own: Collection[str]) -> bool:
    """Return True if an answer or a student-added cell may look up names at run time, as `globals()` does."""
    return any(parsed(cell.source).looks_names_up for cell in cells if cell.id in own or role(cell.id) is Role.ANSWER)
