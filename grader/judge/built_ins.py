"""Fail answers that call the built-in that they should implement, or that import the course."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.judge.from_scratch import (
    imported_by_answer,
    imported_by_cell,
    ran_builtins,
    same_definitions,
    unusual,
    used_builtins,
)
from grader.judge.reach import HINT, StudentCode, complaint
from grader.judge.reaches import reaches
from grader.records import Flag, Outcome, Verdict
from grader.submission.cells import Role, answer_cell, carry_on_cell, provided_cell, role
from grader.submission.rebuild import Rebuilt

IMPORTS_COURSE = "your code imports {}, the course's own code, which is not available where notebooks are graded"

# Everybody may write a stand-in of a definition and one more line, but not a longer one by chance.
LEAST_LINES = 2

# By id of the probed exercise: the built-ins that ran, as the sandbox's tripwire
# (grader/sandbox/guest/tripwire.py) reported them. Each is (operator, the given cell or the other exercise
# whose code called it); "" if the exercise's own did.
BuiltinCalls = Mapping[str, Sequence[tuple[str, str]]]


def refuse_built_ins(
    lesson: Lesson, rebuilt: Rebuilt, verdicts: Sequence[Verdict], builtin_calls: BuiltinCalls
) -> tuple[tuple[Verdict, ...], tuple[Flag, ...]]:
    """Fail and flag answers that call the built-in that they should implement, or that import the course.

    An answer that equals its exercise's stand-in is only flagged. A verdict with the outcome FAULT does not change.

    Returns:
        The verdicts in the same order, and the flags.
    """
    sources = {cell.id: cell.source for cell in rebuilt.notebook.cells}
    judged: list[Verdict] = []
    flags: list[Flag] = []
    for exercise, verdict in zip(lesson.exercises, verdicts, strict=True):
        code = code_of(rebuilt, exercise)
        # Later answers may call an answer that was failed for a built-in: they lose no points for it.
        refused_before = (flag.exercise for flag in flags if flag.kind == "uses-builtin" and flag.exercise)
        failed = {id: lesson.exercise(id).bans for id in refused_before}
        may_call = _may_call(lesson, exercise, sources)
        ran = ran_builtins(exercise, builtin_calls.get(exercise.id, ()), failed, may_call)
        used = used_builtins(exercise, code, lesson.definitions)
        if (ran or used) and verdict.outcome is not Outcome.FAULT:
            flags.append(Flag(kind="uses-builtin", exercise=exercise.id, detail=", ".join(ran or used)))
            verdict = refused(verdict, complaint(ran, "calls") if ran else complaint(used))
        elif exercise.bans and (names := unusual(code, exercise.defines, lesson.definitions)):
            flags.append(Flag(kind="unusual-call", exercise=exercise.id, detail=", ".join(names)))
        if modules := imported_by_answer(exercise, code, lesson.definitions):
            flags.append(Flag(kind="imports-course", exercise=exercise.id, detail=", ".join(modules)))
            if verdict.outcome is not Outcome.FAULT:
                verdict = refused(verdict, IMPORTS_COURSE.format(modules[0]))
        stand_in = exercise.stand_in_source
        if stand_in.count("\n") > LEAST_LINES and same_definitions(code.answer, stand_in, exercise.defines):
            # The answer loses no points: a student may have written the same.
            flags.append(Flag(kind="same-as-carry-on", exercise=exercise.id, detail="equals what carry_on runs"))
        judged.append(verdict)
    own = rebuilt.own_sources
    modules = tuple(dict.fromkeys(module for source in own for module in imported_by_cell(source)))
    if modules and not any(flag.kind == "imports-course" for flag in flags):
        flags.append(Flag(kind="imports-course", exercise=None, detail=", ".join(modules)))
    return tuple(judged), (*flags, *_reaching(rebuilt.answers, own))


def _may_call(lesson: Lesson, exercise: Exercise, sources: Mapping[str, str]) -> dict[str, str]:
    """Return the sources of the cells whose built-ins an answer may call, by cell id.

    These cells are the provided cells that the exercise declares, and the stand-ins of the exercises that it builds on.
    """
    below = foundations(lesson, exercise.id)
    declared = [module for id in (exercise.id, *below) for module in lesson.exercise(id).may_call]
    stand_ins = {carry_on_cell(id): lesson.exercise(id).stand_in_source for id in below}
    return {provided_cell(module): sources.get(provided_cell(module), "") for module in declared} | stand_ins


def _reaching(answers: Mapping[str, str], own: Sequence[str]) -> list[Flag]:
    """Return a flag for each source in which `reaches` finds suspicious code.

    Each answer has a separate flag. All student-added cells share one flag.
    """
    of_own = dict.fromkeys(what for source in own for what in reaches(source))
    found = [*((exercise, reaches(source)) for exercise, source in answers.items()), (None, of_own)]
    return [Flag(kind="reaches-inside", exercise=exercise, detail=", ".join(what)) for exercise, what in found if what]


def refused(verdict: Verdict, message: str) -> Verdict:
    """Return a copy of a verdict with the outcome FAILED, no points, this message, and the hint to write the code."""
    return replace(
        verdict,
        outcome=Outcome.FAILED,
        points=0.0,
        message=message,
        mistake=None,
        hint=HINT,
        diagnosis="built-in",
        checks=tuple(replace(check, points=0.0) for check in verdict.checks),
    )


def code_of(rebuilt: Rebuilt, exercise: Exercise) -> StudentCode:
    """Return the student's code for an exercise: the answer, and the code of the student above and below it."""
    place = answer_cell(exercise.id)
    cells = [cell for cell in rebuilt.notebook.cells if cell.cell_type == "code"]
    ids = [cell.id for cell in cells]
    index = ids.index(place) if place in ids else len(ids)

    def written(some: Sequence[NotebookNode]) -> list[str]:
        return [cell.source for cell in some if cell.id in rebuilt.own or role(cell.id) is Role.ANSWER]

    answer = rebuilt.answers.get(exercise.id, "")
    return StudentCode(answer, written(cells[:index]), written(cells[index + 1 :]))
