"""One exercise, measured: right answers accepted, wrong ones refused and named, whatever the course secret."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import torch

from corpus.answers import answers
from corpus.judging import empty_answers, mistaken, self_check, shape_only, solutions, verdict
from corpus.mutate import mutants
from grader.course import lessons
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.records import Outcome, Verdict

COLUMNS = (
    "right", "right refused", "mistakes", "named right", "empty", "mutants", "equivalent", "wrong accepted", "changed",
    "diagnosed", "misdiagnosed", "self-check asked", "self-check agrees",
)  # fmt: skip


NOTEBOOK_SAMPLE = 10  # mutants of each exercise that the notebook's self-check is asked about


def measure(
    lesson: Lesson, exercise: Exercise, secrets: Sequence[str], sample: int | None = None
) -> tuple[Counter, list[str]]:
    """Counts by column, and a line for each verdict that is wrong or needs a look.

    Args:
        secrets: every answer is judged under each of them, and explained under the first.
        sample: at most so many mutants, the same ones each time.
    """
    count: Counter = Counter()
    lines: list[str] = []

    def say(what: str, name: str, detail: str = "") -> None:
        lines.append(f"{exercise.id} {what}: {name}{detail and '; ' + detail}")

    def ask_notebook(judged: Verdict, answered: tuple[bool, str], name: str) -> None:
        ticked, said = answered
        count["self-check asked"] += 1
        both = f"grade: {judged.outcome} {judged.hint} | notebook: {said.strip()}"
        if ticked != (judged.outcome is Outcome.PASSED):
            say("NOTEBOOK DISAGREES", name, both)
        elif judged.hint not in said:
            say("words differ", name, both)
        else:
            count["self-check agrees"] += 1

    solution = solutions(lesson.assignment)[exercise.id]
    others = [one for one in answers("variants") if one.exercise == exercise.id]
    for name, source in [("solution", solution)] + [(one.name, one.source) for one in others]:
        count["right"] += 1
        got = [verdict(lesson, exercise, source, secret, explained=secret == secrets[0]) for secret in secrets]
        if refused := [one for one in got if one.outcome is not Outcome.PASSED or one.hint]:
            count["right refused"] += 1
            say("RIGHT REFUSED", name, refused[0].message)
        ask_notebook(got[0], self_check(lesson, exercise, source), name)

    for wrong in exercise.mistakes:
        count["mistakes"] += 1
        got = [mistaken(lesson, exercise, wrong, secret, explained=secret == secrets[0]) for secret in secrets]
        if any(one.outcome is Outcome.PASSED for one in got):
            count["wrong accepted"] += 1
            say("WRONG ACCEPTED", f"mistake {wrong.name}")
        if got[0].mistake == wrong.name:
            count["named right"] += 1
        else:
            say("misnamed", wrong.name, f"as {got[0].mistake}")
        count["diagnosed"] += bool(got[0].hint)
        count["misdiagnosed"] += got[0].mistake not in (None, wrong.name)
        ask_notebook(got[0], self_check(lesson, exercise, "", wrong.replaces), f"mistake {wrong.name}")
        if not _same(got):
            count["changed"] += 1
            say("CHANGES with the secret", f"mistake {wrong.name}", _differences(got))

    empty = {
        what: [verdict(lesson, exercise, source, secret, explained=False) for secret in secrets]
        for what, source in empty_answers(exercise)
    }
    for wrong in shape_only(lesson, exercise):
        empty[wrong.name] = [mistaken(lesson, exercise, wrong, secret, explained=False) for secret in secrets]
    for what, got in empty.items():
        count["empty"] += 1
        if any(one.points > 0 or one.outcome is Outcome.PASSED for one in got):
            count["wrong accepted"] += 1
            say("WRONG ACCEPTED", what, f"{max(one.points for one in got):g} points")

    made = list(mutants(solution))
    if sample is not None:
        made = random.Random(exercise.id).sample(made, min(sample, len(made)))
    for what, source in made:
        judged = [verdict(lesson, exercise, source, secret, explained=False) for secret in secrets]
        passed = [one.outcome is Outcome.PASSED for one in judged]
        if all(passed):
            count["equivalent"] += 1
            say("equivalent?", what)
            continue
        count["mutants"] += 1
        if count["mutants"] <= NOTEBOOK_SAMPLE:
            explained = verdict(lesson, exercise, source, secrets[0])
            ask_notebook(explained, self_check(lesson, exercise, source), what)
        if any(passed):
            count["wrong accepted"] += 1
            say("WRONG ACCEPTED", what, f"under {sum(passed)} of {len(passed)} secrets")
    return count, lines


def measure_alone(assignment: str, id: str, secrets: int, sample: int | None) -> tuple[Counter, list[str]]:
    """The same in a process of its own: everything is found by name."""
    torch.set_num_threads(1)
    lesson = lessons()[assignment]
    return measure(lesson, lesson.exercise(id), [f"truth {n}" for n in range(secrets)], sample)


def _same(verdicts: Iterable[Verdict]) -> bool:
    return len({(one.outcome, one.points) for one in verdicts}) == 1


def _differences(verdicts: Iterable[Verdict]) -> str:
    return ", ".join(sorted({f"{one.outcome} {one.points:g}" for one in verdicts}))
