"""Grade one submission, from file to grade. The steps are: plan, run, follow through, assemble."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.course import lessons, max_score
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.explain.exceptions.meaning import refused_call
from grader.grading.allowance import Allowance, TookTooLong
from grader.grading.follow_through import Run, choose_verdict, first_round, next_round, with_stand_ins
from grader.grading.graded import Graded, withheld
from grader.grading.judge_run import (
    Ask,
    JudgedAnswer,
    explained,
    judge_run,
    say_shortened,
    with_notes,
    with_task_defaults,
)
from grader.grading.schedule import schedule
from grader.judge.built_ins import refuse_built_ins
from grader.judge.from_scratch import same_definitions
from grader.judge.planned_trial import PlannedTrial, draw_ahead, plan_exercise
from grader.judge.raised import SYNTAX_ERRORS
from grader.judge.reference_results import ReferenceResults, Results
from grader.paths import notebook_path
from grader.records import CellResult, Evidence, Flag, Grade, GradingSettings, Outcome, Request, Verdict
from grader.sandbox.engine import Execution, session
from grader.sandbox.server import Server
from grader.submission.cells import answer_cell, check_cell, exercise_of
from grader.submission.file import IntakeError, Problem, SubmissionFile, Unreadable, fault
from grader.submission.intake import read
from grader.submission.rebuild import Rebuilt, rebuild

# CPU seconds for which this process may read the code of one submission. A whole lesson takes a tenth.
READING_SECONDS = 15.0
# CPU seconds for which it may look for explanations of the wrong answers of one submission.
EXPLAINING_SECONDS = 45.0
TOO_LONG = Problem(
    f"your code takes the grader more than {READING_SECONDS:g} s to read, as no lesson's does. Remove code that was "
    "generated or pasted, and submit again.",
    "unreadable",
)
TOO_DEEP = Problem(
    "your code is nested or chained so deeply that the grader cannot read it, as no lesson's is. "
    "Take it apart, and submit again.",
    "unreadable",
)
LOOKED_AT = ("reaches-inside", "imports-course")  # flags of an answer that stay if another version of it counts
MOST_DETAIL = 200  # characters of a flag's detail


@cache
def public_results(assignment: str, lesson: int) -> Results:
    """Return the store for the results of a lesson's reference on public trials. It is empty at first.

    All submissions that this process grades share the store.

    Args:
        lesson: Python's id of the declared lesson, because a test may declare another lesson with the same name.
    """
    return {}


@cache
def master_notebook(root: Path, assignment: str) -> NotebookNode:
    """Read the student notebook as it was released. The grader rebuilds each submission in a copy of it.

    Raises:
        FileNotFoundError: the student notebook was never built.
    """
    path = notebook_path(root, assignment)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; run: grader build")
    return nbformat.read(path, as_version=4)


def run_trainings(lesson: Lesson) -> None:
    """Train the reference's models of a lesson, unless an earlier run on this machine has stored them."""
    for prepare in lesson.prepare:
        prepare()


def get_ready(lesson: Lesson) -> None:
    """Train a lesson's reference models and draw its public trials, so that the first submission need not wait."""
    run_trainings(lesson)
    draw_ahead(lesson)


def grade(file: SubmissionFile, *, server: Server, settings: GradingSettings, released: NotebookNode | None) -> Graded:
    """Grade one submission. Do not raise errors: a grade with the status "unreadable" or "fault" reports them.

    Args:
        released: the student notebook as it was released; None if the assignment is unknown.
    """
    started = time.monotonic()
    sha, graded = "", None
    try:
        submission = read(file)
        sha = submission.sha256
        lesson = lessons().get(file.assignment)
        if lesson is None or released is None:
            raise Unreadable(f"unknown assignment {file.assignment!r}. Choose one of {', '.join(lessons())}.")
        run_trainings(lesson)  # before the submission's own time begins
        reading = Allowance(READING_SECONDS)
        with reading.timed():  # `_run` stops this clock while the notebook runs
            rebuilt = rebuild(lesson, released, submission)
            graded = _Grading(lesson, released, rebuilt, sha, server, settings, reading).grade(file)
            wrong = {verdict.id for verdict in graded.grade.verdicts if verdict.outcome is not Outcome.PASSED}
            if (by_name := wrong & rebuilt.others) and graded.grade.status == "graded":
                # A corrected copy without its '# @exercise' line, or an experiment: the better one counts.
                rebuilt = rebuild(lesson, released, submission, by_name)
                again = _Grading(lesson, released, rebuilt, sha, server, settings, reading).grade(file)
                graded = _better(graded, again)
    except IntakeError as error:
        problem = error.problem
    except TookTooLong:
        problem = TOO_LONG
    except RecursionError:
        problem = TOO_DEEP
    # Any other error is a fault of the grader: the rest of the class is graded, and the student loses nothing.
    except Exception as error:
        problem = fault(f"{type(error).__name__}: {error}")
    if graded is None:
        without = withheld(file, problem, max_score(file.assignment), server.isolation, settings.device)
        graded = Graded(grade=without)
    seconds = time.monotonic() - started
    return replace(graded, grade=replace(graded.grade, seconds=seconds, submission_sha256=sha))


def _better(first: Graded, second: Graded) -> Graded:
    """Return the grade with more points, or the first one if both have the same.

    Flags in LOOKED_AT, which a person should look at, are kept from both grades.
    """
    better, other = (second, first) if (second.grade.score or 0.0) > (first.grade.score or 0.0) else (first, second)
    looks = [flag for flag in other.grade.flags if flag.kind in LOOKED_AT and flag not in better.grade.flags]
    return replace(better, grade=replace(better.grade, flags=(*better.grade.flags, *looks)))


class _Grading:
    """Grades one submission.

    It runs the notebook, if necessary several times, and combines the verdicts of all runs into one grade.
    """

    def __init__(
        self,
        lesson: Lesson,
        released: NotebookNode,
        rebuilt: Rebuilt,
        sha: str,
        server: Server,
        settings: GradingSettings,
        reading: Allowance,
    ) -> None:
        self._reading, self._explaining = reading, Allowance(EXPLAINING_SECONDS)
        self._lesson, self._released, self._rebuilt = lesson, released, rebuilt
        self._sha, self._server, self._settings = sha, server, settings
        self._trials: dict[int, tuple[PlannedTrial, ...]] = {}
        self._reference_results = ReferenceResults(lesson.reference, public_results(lesson.assignment, id(lesson)))
        self._first: Execution | None = None  # the run of the notebook as submitted
        # All runs of the notebook together have the time of one.
        self._deadline = time.monotonic() + lesson.limits.seconds
        self._starved = False  # in a run, something timed out for which this machine had little time
        self._left_out = False  # a run did not take place, because the time was used up
        self._unexplained: dict[str, str] = {}  # exercise id → the error of ours that left it without an explanation
        # Exercise id → the answer in the first run, whose explanation is left to the run that judges it again.
        self._later: dict[str, JudgedAnswer] = {}
        # Built-ins that ran while an exercise was probed in any run, by exercise id.
        self._builtin_calls: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def grade(self, file: SubmissionFile) -> Graded:
        """Run the notebook, judge again with stand-ins, and return the grade."""
        submitted = self._run(Run(judged=frozenset(exercise.id for exercise in self._lesson.exercises)))
        assert self._first is not None  # the first run always takes place
        better = self._judge_again(submitted, self._first)
        with self._reading.paused():
            for id, answer in self._later.items():  # in their order: the time for explanations may end
                if id not in better:  # no other verdict counts
                    submitted[id] = self._explained(answer)
        verdicts = (choose_verdict(self._lesson, verdict, better.get(id)) for id, verdict in submitted.items())
        return self._assemble(file, self._first, tuple(verdicts))

    def _judge_again(self, submitted: Mapping[str, Verdict], execution: Execution) -> Mapping[str, Verdict]:
        """Return the verdicts, by exercise id, that improve if stand-ins replace failed earlier answers."""
        known = first_round(self._lesson, self._rebuilt, submitted, self._unsolved(execution.cells))
        while known.runs:
            known = next_round(known, [self._run(run) for run in known.runs])
        return known.better

    def _planned(self, exercise: Exercise) -> tuple[PlannedTrial, ...]:
        """Return the trials of an exercise with their inputs.

        The inputs are drawn once for each form of the lesson, with or without the reference's trained weights.
        """
        if id(exercise) not in self._trials:
            self._trials[id(exercise)] = plan_exercise(exercise, self._settings.secret, self._sha)
        return self._trials[id(exercise)]

    def _run(self, run: Run) -> dict[str, Verdict]:
        """Run the notebook once and judge exercises. Explain those that failed and will not be judged again.

        Returns:
            The verdicts by exercise id; {} if no time is left for a further run.

        Raises:
            ServerLost: the sandbox failed.
        """
        if self._first and time.monotonic() >= self._deadline:
            self._left_out = True
            return {}
        lesson = self._lesson.with_weights if run.weights else self._lesson
        notebook = with_stand_ins(lesson, self._rebuilt.notebook, run.stand_ins)
        trials = {exercise.id: self._planned(exercise) for exercise in lesson.exercises if exercise.id in run.judged}
        planned = [trial for some in trials.values() for trial in some]
        plan = schedule(lesson, self._rebuilt, notebook, planned, self._settings)
        limits = replace(plan.limits, seconds=max(self._deadline - time.monotonic(), 1.0))
        with self._reading.paused(), session(self._server, replace(plan, limits=limits)) as opened:
            execution = opened.execution

            def ask(request: Request) -> Mapping[str, Evidence]:
                with self._explaining.paused():
                    return opened.ask(request)

            judged = judge_run(lesson, self._rebuilt, execution, trials, self._reference_results)
            answers = {id: with_task_defaults(answer, opened.ask) for id, answer in judged.items()}
            # The next run explains the exercises that it judges again, without the mistakes below them.
            later = self._judged_next(answers, execution) if self._first is None else frozenset()
            self._later |= {id: answer for id, answer in answers.items() if id in later}
            verdicts = {
                id: with_notes(self._rebuilt, answer, answer.verdict) if id in later else self._explained(answer, ask)
                for id, answer in answers.items()
            }
            self._deadline += opened.waited
        self._first = self._first or execution
        self._starved |= execution.starved
        for key, evidence in execution.evidence.items():
            self._builtin_calls[key.partition("/")[0]] += evidence.trips
        if not self._settings.run_all:
            say_shortened(execution.notebook, lesson.training_cells)
        return verdicts

    def _judged_next(self, answers: Mapping[str, JudgedAnswer], execution: Execution) -> frozenset[str]:
        """Return the ids of the exercises that will be judged again with stand-ins.

        Return an empty set if the lesson has no follow-through, so that the new verdicts would not count.
        """
        if not self._lesson.follow_through:
            return frozenset()
        verdicts = {id: answer.verdict for id, answer in answers.items()}
        runs = first_round(self._lesson, self._rebuilt, verdicts, self._unsolved(execution.cells)).runs
        return frozenset().union(*(run.judged for run in runs if not run.weights))

    def _explained(self, answer: JudgedAnswer, ask: Ask | None = None) -> Verdict:
        """Return the verdict on an answer, with an explanation if one is found, and with the notes about the answer.

        Without `ask`, no changes of the answer are tried.
        """
        verdict = answer.verdict
        try:
            with self._explaining.timed():
                verdict = explained(answer, ask)
        except TookTooLong:
            self._unexplained[verdict.id] = "looking for an explanation took too long"
        # An explanation decides nothing: without one, the verdict is what it is.
        except Exception as error:
            self._unexplained[verdict.id] = f"{type(error).__name__}: {error}"
        return with_notes(self._rebuilt, answer, verdict)

    def _unsolved(self, results: Mapping[str, CellResult]) -> frozenset[str]:
        """Return the exercises that have no answer, only the unchanged stub, or code that does not parse.

        Stand-ins for other exercises cannot help such an exercise.
        """
        stubs = {cell.id: cell.source for cell in self._released.cells}

        def is_unsolved(exercise: Exercise) -> bool:
            cell, answer = answer_cell(exercise.id), self._rebuilt.answers.get(exercise.id, "")
            if not answer or (cell in results and results[cell].error in SYNTAX_ERRORS):
                return True
            return same_definitions(answer, stubs.get(cell, ""), exercise.defines)

        return frozenset(exercise.id for exercise in self._lesson.exercises if is_unsolved(exercise))

    def _assemble(self, file: SubmissionFile, execution: Execution, verdicts: tuple[Verdict, ...]) -> Graded:
        """Fail answers that call built-ins, create the grade, and write its verdicts into the notebook."""
        verdicts, found = refuse_built_ins(self._lesson, self._rebuilt, verdicts, self._builtin_calls)
        flags = list(found)
        for id, error in sorted(self._unexplained.items()):
            flags.append(Flag(kind="not-explained", exercise=id, detail=error[:MOST_DETAIL]))
        if self._left_out:
            limit = f"{self._lesson.limits.seconds:g} s for all runs"
            flags.append(Flag(kind="out-of-time", exercise=None, detail=limit))
        calls = {exercise_of(cell): one.message for cell, one in execution.cells.items() if refused_call(one.message)}
        calls |= {one.id: one.message for one in verdicts if refused_call(one.message)}
        for exercise, message in calls.items():
            flags.append(Flag(kind="refused-call", exercise=exercise, detail=message[:MOST_DETAIL]))
        if execution.moved:
            flags.append(Flag(kind="ran-on-cpu", exercise=None, detail=execution.moved[:MOST_DETAIL]))
        if file.note:
            flags.append(Flag(kind="renamed", exercise=None, detail=file.note))
        if file.draft:
            flags.append(Flag(kind="draft", exercise=None, detail="Moodle has it as a draft: it was not submitted"))
        failed = any(verdict.outcome is Outcome.FAULT for verdict in verdicts)  # a check of ours
        grade = Grade(
            student=file.student,
            assignment=self._lesson.assignment,
            status="fault" if failed else "graded",
            score=None if failed else sum(verdict.points for verdict in verdicts),
            max_score=self._lesson.max_score,
            verdicts=verdicts,
            flags=tuple(flags),
            written=self._rebuilt.written,
            message="a check of ours failed; the grade is withheld, nothing is lost" if failed else "",
            isolation=execution.isolation,
            device=execution.device,
        )
        starved = self._starved and (grade.score or 0.0) < grade.max_score
        return Graded(grade=grade, notebook=_with_verdicts(execution.notebook, verdicts), starved=starved)


def _with_verdicts(notebook: NotebookNode, verdicts: Iterable[Verdict]) -> NotebookNode:
    """Replace the outputs of each self-check cell by the exercise's verdict.

    The notebook is changed in place and returned.
    """
    by_cell = {check_cell(verdict.id): verdict for verdict in verdicts}
    for cell in notebook.cells:
        if verdict := by_cell.get(cell.id):
            head = f"{verdict.outcome} · {verdict.points:g} of {verdict.max_points:g} points"
            text = "\n".join(line for line in (head, verdict.hint, verdict.excerpt, verdict.message) if line)
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text + "\n")]
    return notebook
