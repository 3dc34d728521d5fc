"""Refuse answers that call the built-in they should write, and flag those that equal the carry-on cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.checks.from_scratch import complaint, ran_builtins, same_definitions, used_builtins
from grader.declaration.exercise import Exercise
from grader.declaration.lesson import Lesson
from grader.notebook.cells import Role, carry_on_cell, role
from grader.records import Flag, Outcome, Verdict
from grader.submission.rebuild import Rebuilt

# What the tripwire saw while an exercise was probed, by exercise id: (operator, exercise in whose answer it ran or "").
BuiltinCalls = Mapping[str, Sequence[tuple[str, str]]]
HINT = "Write it yourself here, with the operations of the lesson; the built-in is yours afterwards."


def refuse_built_ins(
    lesson: Lesson, rebuilt: Rebuilt, verdicts: Sequence[Verdict], builtin_calls: BuiltinCalls
) -> tuple[tuple[Verdict, ...], tuple[Flag, ...]]:
    """Fail, and flag, answers that call the built-in that their exercise asks to write.

    Returns:
        The verdicts in the same order, and the flags.
    """
    sources = {cell.id: cell.source for cell in rebuilt.notebook.cells}
    own = [sources[cell] for cell in rebuilt.own]
    carry_on = {cell: source for cell, source in sources.items() if role(cell) is Role.CARRY_ON}
    judged: list[Verdict] = []
    flags: list[Flag] = []
    for exercise, verdict in zip(lesson.exercises, verdicts, strict=True):
        answer = rebuilt.answers.get(exercise.id, "")
        # An answer that was failed for a built-in may be called by later ones, which it costs nothing.
        failed = [flag.exercise for flag in flags if flag.kind == "uses-builtin" and flag.exercise]
        used = used_builtins(exercise, answer, own)
        used = used or ran_builtins(exercise, builtin_calls.get(exercise.id, ()), failed)
        if used and verdict.outcome is not Outcome.FAULT:
            flags.append(Flag(kind="uses-builtin", exercise=exercise.id, detail=", ".join(used)))
            verdict = _refused(verdict, complaint(used))
        if same_definitions(answer, carry_on.get(carry_on_cell(exercise.id), ""), exercise.defines):
            flags.append(_same_as_carry_on(exercise))
        judged.append(verdict)
    return tuple(judged), tuple(flags)


def _refused(verdict: Verdict, message: str) -> Verdict:
    return replace(
        verdict,
        outcome=Outcome.FAILED,
        points=0.0,
        message=message,
        mistake=None,
        hint=HINT,
        checks=tuple(replace(check, points=0.0) for check in verdict.checks),
    )


def _same_as_carry_on(exercise: Exercise) -> Flag:
    # No more than a flag: a student may have written the same line.
    return Flag(kind="same-as-carry-on", exercise=exercise.id, detail="equals the carry-on cell")
