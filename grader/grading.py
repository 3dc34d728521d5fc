"""One submission from file to grade: intake → rebuild → execution → evidence → verdicts."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.checks.judge import Ours, judge
from grader.checks.plan import Planned, plan
from grader.checks.policy import complaint, ran_builtins, same_definitions, used_builtins
from grader.course import lessons
from grader.execution.engine import Answered, Caution, Execution, execute
from grader.execution.interpreter import Server
from grader.exercise import (
    GIVEN,
    Exercise,
    Flag,
    Grade,
    Lesson,
    Origin,
    Outcome,
    Request,
    Verdict,
)  # fmt: skip
from grader.follow import count, follow_through, stand_ins
from grader.later import later
from grader.names import definitions, foundations, used
from grader.needed import not_needed
from grader.submission.found import Found, Unreadable
from grader.submission.intake import read
from grader.submission.notebook import Submission
from grader.submission.rebuild import Rebuilt, rebuild

SEED = 0  # injected into every notebook: the lesson's own default


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A grade, and the executed notebook where there is one."""

    grade: Grade
    notebook: NotebookNode | None = None


@cache
def master(root: Path, assignment: str) -> NotebookNode:
    """The student notebook as it is released, which every submission is put into.

    Raises:
        FileNotFoundError: it was never built.
    """
    path = root / "notebooks" / assignment / f"{assignment}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; run: grader build")
    return nbformat.read(path, as_version=4)


def grade(
    found: Found,
    *,
    server: Server,
    secret: str,
    device: str,
    root: Path | None = None,
    released: NotebookNode | None = None,
    run_all: bool = False,
) -> Graded:
    """Grade one submission. Whatever it is, a grade comes back: graded, unreadable, or a fault of ours.

    Args:
        root: the course, where the student notebook is; or else
        released: the student notebook itself.
        run_all: run the given cells that only draw, too, and the self-checks.
    """
    started = time.monotonic()
    lesson = lessons().get(found.assignment)
    sha = ""
    try:
        submission = read(found)
        sha = submission.sha256
        if lesson is None:
            raise Unreadable(f"unknown assignment {found.assignment!r}; known are {', '.join(lessons())}")
        released = released or master(root, lesson.assignment)
        rebuilt = rebuild(lesson, released, submission)
        graded = _grade(
            found.student,
            lesson,
            submission,
            released,
            rebuilt,
            server=server,
            secret=secret,
            device=device,
            run_all=run_all,
        )
    except Unreadable as error:
        graded = Graded(grade=_withheld(found, "unreadable", str(error), lesson, server, device))
    except Exception as error:  # ours, whatever it is: the class goes on, and the student loses nothing
        text = f"{type(error).__name__}: {error}"
        graded = Graded(grade=_withheld(found, "fault", text, lesson, server, device))
    seconds = time.monotonic() - started
    return replace(graded, grade=replace(graded.grade, seconds=seconds, submission_sha256=sha))


def _withheld(
    found: Found, status: str, message: str, lesson: Lesson | None, server: Server, device: str
) -> Grade:
    return Grade(
        student=found.student,
        assignment=found.assignment,
        status=status,
        score=0.0 if status == "unreadable" else None,
        max_score=lesson.max_score if lesson else 0.0,
        message=message,
        isolation=server.isolation,
        device=device,
    )


def _grade(
    student: str,
    lesson: Lesson,
    submission: Submission,
    released: NotebookNode,
    rebuilt: Rebuilt,
    *,
    server: Server,
    secret: str,
    device: str,
    run_all: bool,
) -> Graded:
    planned, ours = plan(lesson, secret, submission.sha256), Ours(lesson)
    trips: dict[str, list[tuple[str, str]]] = defaultdict(list)
    caution = _caution(lesson, rebuilt)

    def run(
        notebook: NotebookNode, ids: Iterable[str], answered: Iterable[str] = (), seed: int = SEED
    ) -> tuple[Execution, dict[str, Verdict]]:
        """Run the notebook, with some exercises answered by the reference on this side, and judge others."""
        chosen = [one for one in planned if one.exercise.id in ids]
        skip = [] if run_all else not_needed(lesson, notebook, chosen, rebuilt.own)
        waits, asked = later(notebook, skip, rebuilt.own), defaultdict[str, list[Request]](list)
        for one in chosen:
            if one.exercise.id in rebuilt.answers:
                cell, request = one.cell, one.request
                if one.unchanging and cell in waits:
                    cell = waits[cell]
                    request = replace(request, group=cell)
                asked[cell].append(request)
        execution = execute(
            server,
            notebook,
            parameters={**lesson.parameters, "device": device, "seed": seed},
            requests=asked,
            limits=lesson.limits,
            cell_seconds=_cell_seconds(lesson, notebook, rebuilt),
            skip=skip,
            caution=caution,
            origins=_origins(lesson, notebook, rebuilt),
            answered=_answered(lesson, answered),
        )
        if execution.fault:
            raise RuntimeError(execution.fault)
        for key, one in execution.evidence.items():
            trips[key.partition("/")[0]] += one.trips
        exercises = (exercise for exercise in lesson.exercises if exercise.id in ids)
        return execution, {
            exercise.id: _verdict(lesson, exercise, chosen, execution, rebuilt, ours)
            for exercise in exercises
        }

    execution, submitted = run(rebuilt.notebook, [exercise.id for exercise in lesson.exercises])
    if unlucky := _unlucky(lesson, submitted):
        again = run(rebuilt.notebook, unlucky, seed=SEED + 1)[1]
        submitted |= {id: _luckier(submitted[id], again[id]) for id in unlucky}
    followed = follow_through(
        lesson,
        rebuilt,
        submitted,
        lambda *what: run(*what)[1],
        hopeless=_unwritten(lesson, released, rebuilt, execution),
    )
    verdicts = tuple(count(lesson, verdict, followed.get(id)) for id, verdict in submitted.items())
    verdicts, flags = _from_scratch(lesson, rebuilt, verdicts, trips)
    if execution.moved:
        flags = (*flags, Flag(kind="ran-on-cpu", exercise=None, detail=execution.moved[:200]))
    fault = any(verdict.outcome is Outcome.FAULT for verdict in verdicts)
    grade = Grade(
        student=student,
        assignment=lesson.assignment,
        status="fault" if fault else "graded",
        score=None if fault else sum(verdict.points for verdict in verdicts),
        max_score=lesson.max_score,
        verdicts=verdicts,
        flags=flags,
        message="a check of ours failed; the grade is withheld, nothing is lost" if fault else "",
        isolation=execution.isolation,
        device=execution.device,
    )
    return Graded(grade=grade, notebook=_with_verdicts(execution.notebook, verdicts))


def _unlucky(lesson: Lesson, submitted: Mapping[str, Verdict]) -> list[str]:
    """Where training may have failed by bad luck; where an exercise below failed too, follow-through decides."""
    failed = {id for id, verdict in submitted.items() if verdict.outcome is not Outcome.PASSED}
    return [
        id
        for id in failed
        if _only_training_failed(lesson.exercise(id), submitted[id]) and not foundations(lesson, id) & failed
    ]


def _unwritten(
    lesson: Lesson, released: NotebookNode, rebuilt: Rebuilt, execution: Execution
) -> frozenset[str]:
    """Exercises that no stand-in for another can help: without an answer, or with one that does not parse."""
    stubs = {cell.id: cell.source for cell in released.cells}
    found = set()
    for exercise in lesson.exercises:
        cell = f"exercise-{exercise.slug}"
        answer = rebuilt.answers.get(exercise.id, "")
        ran = execution.cells.get(cell)
        broken = ran is not None and ran.error in ("SyntaxError", "IndentationError", "TabError")
        if broken or not answer or same_definitions(answer, stubs.get(cell, ""), exercise.defines):
            found.add(exercise.id)
    return frozenset(found)


def _caution(lesson: Lesson, rebuilt: Rebuilt) -> Caution:
    """What hangs once an exercise hangs: given cells that call it, and the probes of what builds on it.

    A cell that trains is run all the same, unless follow-through will run it with a stand-in.
    """
    cells = [cell for cell in rebuilt.notebook.cells if cell.cell_type == "code"]
    given = [cell for cell in cells if not cell.id.startswith("exercise-") and cell.id not in rebuilt.own]
    provided = {name: names for cell in given for name, names in definitions(cell.source).items()}
    answered = {
        name: names for source in rebuilt.answers.values() for name, names in definitions(source).items()
    }
    trains = {check.at for exercise in lesson.exercises for check in exercise.checks if check.at}
    replaceable = stand_ins(lesson, rebuilt.notebook).all if lesson.follow_through else frozenset()
    return Caution(
        cells={
            cell.id: used(lesson, cell.source, {**answered, **provided}) & replaceable
            if cell.id in trains
            else used(lesson, cell.source, provided)
            for cell in given
            if not cell.id.startswith("stuck-")
        },
        exercises={exercise.id: foundations(lesson, exercise.id) for exercise in lesson.exercises},
    )


def _only_training_failed(exercise: Exercise, verdict: Verdict) -> bool:
    """The code is right and what it trained is not: bad luck, perhaps, which another seed decides."""
    trained = {check.name for check in exercise.checks if check.at}
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    return bool(failed) and failed <= trained and verdict.outcome is Outcome.FAILED


def _luckier(first: Verdict, second: Verdict) -> Verdict:
    if second.points <= first.points:
        return first
    note = (
        "The training was at fault and not the code: it was repeated from another seed, and that run counted."
    )
    return replace(second, notes=(*first.notes, note))


def _cell_seconds(lesson: Lesson, notebook: NotebookNode, rebuilt: Rebuilt) -> dict[str, float]:
    """The time limits of given cells; those of the student's own are the lesson's `cell_seconds`."""
    given = (
        cell.id
        for cell in notebook.cells
        if not cell.id.startswith("exercise-") and cell.id not in rebuilt.own
    )
    return {
        **{id: min(lesson.limits.given_seconds, lesson.limits.cell_seconds) for id in given},
        **lesson.cell_seconds,
    }


def _origins(lesson: Lesson, notebook: NotebookNode, rebuilt: Rebuilt) -> dict[str, Origin]:
    """Whose code stands in which cell; the student's own are left out."""
    given = {cell.id: GIVEN for cell in notebook.cells if cell.id not in rebuilt.own}
    answers = {
        f"exercise-{exercise.slug}": Origin(who=exercise.id, defines=exercise.defines)
        for exercise in lesson.exercises
    }
    return {**given, **answers}


def _answered(lesson: Lesson, ids: Iterable[str]) -> Answered:
    """Stand-ins right after the cells that they stand in for."""
    after = {f"exercise-{lesson.exercise(id).slug}": lesson.exercise(id).defines for id in ids}
    functions = {name: lesson.reference[name] for names in after.values() for name in names}
    return Answered(after=after, functions=functions)


def _verdict(
    lesson: Lesson,
    exercise: Exercise,
    planned: Sequence[Planned],
    execution: Execution,
    rebuilt: Rebuilt,
    ours: Ours,
) -> Verdict:
    mine = [one for one in planned if one.exercise is exercise]
    verdict = judge(lesson, exercise, mine, execution.evidence, execution.device, ours)
    if exercise.id not in rebuilt.answers:
        verdict = replace(verdict, message="there is no cell for this exercise")
    return replace(verdict, notes=tuple(rebuilt.notes.get(exercise.id, ())))


def _from_scratch(
    lesson: Lesson,
    rebuilt: Rebuilt,
    verdicts: tuple[Verdict, ...],
    trips: Mapping[str, Sequence[tuple[str, str]]],
) -> tuple[tuple[Verdict, ...], tuple[Flag, ...]]:
    """Fail, and flag, an answer that calls the built-in that its exercise asks to write.

    Args:
        trips: what the tripwire saw, by exercise id.
    """
    own = [cell.source for cell in rebuilt.notebook.cells if cell.id in rebuilt.own]
    carry_on = {cell.id: cell.source for cell in rebuilt.notebook.cells if cell.id.startswith("stuck-")}
    judged, flags = [], []
    for exercise, verdict in zip(lesson.exercises, verdicts, strict=True):
        paid = [flag.exercise for flag in flags if flag.kind == "uses-builtin"]
        used = used_builtins(exercise, rebuilt.answers.get(exercise.id, ""), own) or ran_builtins(
            exercise, trips.get(exercise.id, ()), paid
        )
        if used and verdict.outcome is not Outcome.FAULT:
            flags.append(Flag(kind="uses-builtin", exercise=exercise.id, detail=", ".join(used)))
            verdict = replace(
                verdict,
                outcome=Outcome.FAILED,
                points=0.0,
                message=complaint(used),
                mistake=None,
                hint="Write it yourself here, with the operations of the lesson; the built-in is yours afterwards.",
                checks=tuple(replace(check, points=0.0) for check in verdict.checks),
            )
        answer = rebuilt.answers.get(exercise.id, "")
        if same_definitions(answer, carry_on.get(f"stuck-{exercise.slug}", ""), exercise.defines):
            # No more than a flag: somebody may have written the same line.
            flags.append(
                Flag(kind="same-as-carry-on", exercise=exercise.id, detail="equals the carry-on cell")
            )
        judged.append(verdict)
    return tuple(judged), tuple(flags)


def _with_verdicts(notebook: NotebookNode, verdicts: tuple[Verdict, ...]) -> NotebookNode:
    """The executed notebook, with each verdict as the output of its check cell."""
    by_cell: dict[str, Any] = {f"check-{verdict.id.replace('.', '-')}": verdict for verdict in verdicts}
    for cell in notebook.cells:
        if verdict := by_cell.get(cell.id):
            text = f"{verdict.outcome} · {verdict.points:g} of {verdict.max_points:g} points"
            said = "\n".join(part for part in (text, verdict.message, verdict.hint) if part)
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=said + "\n")]
    return notebook
