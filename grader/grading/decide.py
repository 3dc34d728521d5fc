"""Choose how much of a lesson's trainings runs: a few steps, which verify them, or all of it where these do not decide."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.records import Outcome, Verdict
from grader.submission.cells import answer_cell
from grader.submission.code.keeps_state import may_remember
from grader.submission.code.source_names import bound_names, mentioned_names
from grader.submission.code.told_names import told_names
from grader.submission.rebuild import Rebuilt

SEED = 0  # written into every notebook, whose own default is 0, too, where trainings are verified
VERIFIED, ATTEMPTS = 0, 3  # whole trainings are numbered from 1 on, and each begins at another start
NOTE = "The training was at fault and not the code: it was repeated from another start, and that run counted."
WHOLE = "A few steps of the training did not land where they should. So all of it was run, and that run counted."


# Runs a notebook and judges some exercises: with the whole training of this number, or for VERIFIED with a few steps
# of it. Returns nothing where no time is left.
Run = Callable[[Collection[str], int], dict[str, Verdict]]


def decide(
    run: Run, lesson: Lesson, ids: Collection[str], standing: Collection[str], verifies: bool
) -> dict[str, Verdict]:
    """Judge exercises by a run with a few steps of each training; where only the training failed, by a run with all of it.

    Args:
        ids: the exercises to judge.
        standing: failed exercises that no stand-in replaces: what builds on one of these is not run again.
        verifies: false: whole trainings from the first run on.
    """
    if not verifies:
        return _train(run, lesson, ids, standing)
    verdicts = run(ids, VERIFIED)
    if left := trainings_to_repeat(lesson, verdicts, standing):
        trained = _train(run, lesson, left, standing)
        verdicts |= {id: replace(one, notes=(*one.notes, WHOLE)) for id, one in trained.items()}
    return verdicts


def _train(run: Run, lesson: Lesson, ids: Collection[str], standing: Collection[str]) -> dict[str, Verdict]:
    """Judge exercises by a run with whole trainings; where only a training failed, by up to ATTEMPTS runs from other starts."""
    verdicts = run(ids, 1)
    for attempt in range(2, ATTEMPTS + 1):
        if again := trainings_to_repeat(lesson, verdicts, standing):
            other = run(again, attempt)
            verdicts |= {id: better_training(verdicts[id], one) for id, one in other.items()}
    return verdicts


def training_may_remember(lesson: Lesson, rebuilt: Rebuilt) -> bool:
    """Tell whether the code that is trained may keep something from call to call: a few steps would not show what it does."""
    trained = {exercise.id for exercise in lesson.exercises if lesson.training_checks(exercise.id)}
    below = trained.union(*(foundations(lesson, id) for id in trained))
    answers = trained_answers(lesson, rebuilt, below)
    own = rebuilt.own_sources
    asked = {name for exercise in lesson.exercises if exercise.id in below for name in exercise.defines}
    students = {*rebuilt.own, *map(answer_cell, rebuilt.answers)}
    given = {
        cell.id: cell.source for cell in rebuilt.notebook.cells if cell.id not in students and cell.cell_type == "code"
    }
    trains = [given.pop(id) for id in lesson.training_cells if id in given]
    first = {"seed", *lesson.verified.parameters}.union(*(bound_names(source) or () for source in trains))
    told = told_names(given.values(), (*answers, *own), first - asked)
    called = frozenset().union(*map(mentioned_names, answers))
    used = [source for source in own if (bound_names(source) or frozenset()) & called]
    others = [source for source in own if source not in used]
    return may_remember((*answers, *used), asked, told, others, (*given.values(), *trains))


def trained_answers(lesson: Lesson, rebuilt: Rebuilt, below: Collection[str]) -> list[str]:
    """List the sources of the answers to `below`, of those that they mention, and of those that bind more than is asked for."""
    reached = {id: source for id, source in rebuilt.answers.items() if id in below}
    while True:
        mentioned = frozenset().union(*map(mentioned_names, reached.values()))
        more = {
            id: source
            for id, source in rebuilt.answers.items()
            if id not in reached
            and (bound := bound_names(source) or frozenset())
            and (bound & mentioned or bound - {*lesson.exercise(id).defines})
        }
        if not more:
            return list(reached.values())
        reached |= more


def only_training_failed(lesson: Lesson, verdict: Verdict) -> bool:
    """Tell whether an exercise failed or timed out, and all checks that it did not pass are checks of its training."""
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    fell_short = verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    return fell_short and bool(failed) and failed <= lesson.training_checks(verdict.id)


def trainings_to_repeat(lesson: Lesson, verdicts: Mapping[str, Verdict], standing: Collection[str]) -> list[str]:
    """List the ids of the exercises of which only the training failed, and nothing that they build on.

    Args:
        verdicts: of one run, by exercise id.
        standing: further exercises that failed, and that no stand-in replaced in this run.
    """
    failed = {id for id, verdict in verdicts.items() if verdict.outcome is not Outcome.PASSED} | set(standing)
    return [
        id
        for id, verdict in verdicts.items()
        if only_training_failed(lesson, verdict) and not foundations(lesson, id) & failed
    ]


def better_training(first: Verdict, second: Verdict) -> Verdict:
    """Return the verdict with more points, the first if they are equal; the second's notes become the first's and NOTE."""
    return first if second.points <= first.points else replace(second, notes=(*first.notes, NOTE))
