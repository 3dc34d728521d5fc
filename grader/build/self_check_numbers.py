"""Computes the data of an exercise's self-check: examples, expected results, and the results of wrong answers."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from grader.build.self_check_trials import chosen_trials
from grader.build.self_check_values import as_json, prints_as_json
from grader.declare.builtin_names import banned_names
from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.declare.sampler import PublicSampler
from grader.explain.candidates import traits_of
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.explain.match import is_telling, print_of, says_little
from grader.explain.seen import Seen
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Status


class DraftAnswer(NamedTuple):
    """A wrong answer, and its result on each trial. The result is None if it is not known."""

    name: str
    hint: str
    traits: tuple[list[str], ...]  # traits that its code has, and traits that it lacks
    prints: tuple[Fingerprint | None, ...]


class Draft(NamedTuple):
    """The computed data of one exercise's self-check. Other processors may give other results for some of it."""

    assignment: str
    exercise: str
    known: dict[str, Any]  # JSON data without the wrong answers
    right: tuple[Fingerprint, ...]  # one for each trial
    wrong: tuple[DraftAnswer, ...]


def drafted(lesson: Lesson, exercise: Exercise) -> Draft:
    """Choose the trials of an exercise's self-check, and compute the expected results and those of each mistake."""
    trials, results = chosen_trials(lesson, exercise), ReferenceResults(lesson.reference)
    checks = list(dict.fromkeys(trial.check.name for trial in trials))
    known = {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "builds on": list(exercise.builds_on),
        "defaults": exercise.defaults,
        "bans": sorted(banned_names(exercise.bans)),
        "checks": [_check_data(check) for check in exercise.checks if check.name in checks],
        "trials": [_trial_data(trial, checks.index(trial.check.name), results) for trial in trials],
    }
    return Draft(
        assignment=lesson.assignment,
        exercise=exercise.id,
        known=json.loads(json.dumps(known)),  # as it is read again: tuples are lists, and keys are texts
        right=tuple(fingerprint(results.expected(trial)) for trial in trials),
        wrong=tuple(_wrong_answers(exercise, trials, results)),
    )


def _wrong_answers(
    exercise: Exercise, trials: Sequence[PlannedTrial], results: ReferenceResults
) -> Iterator[DraftAnswer]:
    """Yield the mistakes with which a student's answer is compared.

    A mistake is left out if no trial shows it. If no trial distinguishes two mistakes, only the
    first one is yielded.
    """
    right = [fingerprint(results.expected(trial)) for trial in trials]
    known: list[tuple[Fingerprint, ...]] = []
    for mistake in exercise.mistakes:
        seen = [_seen(trial, mistake, results) for trial in trials]
        prints = tuple(map(print_of, seen))
        off = [not alike(*pair) for pair in zip(prints, right, strict=True)]
        if not any(off):
            continue
        failed = seen[off.index(True)].check
        failing = [trial for trial, is_off in zip(seen, off, strict=True) if is_off and trial.check == failed]
        if is_telling(failing, failed) and any(all(map(alike, other, prints)) for other in known):
            continue
        known.append(prints)
        # Where values say little, such as a yes or a no, the code must show signs of the mistake, too.
        asked = all(trial.error for trial in failing) or says_little(failing, failed)
        traits = traits_of(mistake) if asked else ()
        yield DraftAnswer(mistake.name, mistake.hint, tuple(map(sorted, traits)) if any(traits) else (), prints)


def _seen(trial: PlannedTrial, mistake: Mistake, results: ReferenceResults) -> Seen:
    """Return the result of an answer with this mistake on a trial, compared with the expected result."""
    came = results.wrong(trial, mistake)
    got = dict(flatten(came.values)) if came.status is Status.OK else {}
    expected = dict(flatten(results.expected(trial)))
    return Seen(trial.check.name, False, got, expected, error=came.error, message=came.message)


def settled(draft: Draft, unsure: Collection[tuple[str, int]]) -> dict[str, Any]:
    """Return the data of an exercise as JSON: a draft without results that differ between processors.

    Args:
        unsure: the name of a mistake and the index of a trial, for each result that differs.
    """
    wrong = []
    for answer in draft.wrong:
        prints = [None if (answer.name, index) in unsure else own for index, own in enumerate(answer.prints)]
        gives = prints_as_json(prints, draft.right)
        if any(gives):
            wrong.append({"name": answer.name, "hint": answer.hint, "traits": list(answer.traits), "gives": gives})
    return {**draft.known, "wrong answers": wrong}


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "probe": check.probe.__name__,
        "names": dict(check.names),
        "rtol": check.rtol,
        "judge": check.judge.__name__ if check.judge else "",
    }


def _trial_data(trial: PlannedTrial, check: int, results: ReferenceResults) -> dict[str, Any]:
    """Return one trial as JSON.

    It contains the index of the trial's check, its sizes in words and as values, its inputs and
    the expected values.
    """
    sampler = PublicSampler(trial.key)
    inputs = trial.trial.draw(sampler)
    return {
        "check": check,
        "key": trial.key.split("/", 1)[1],
        "describe": trial.trial.describe,
        "sizes": {k: size for k, size in trial.trial.sizes.items() if isinstance(size, (int, float, str, tuple))},
        "inputs": as_json(inputs, sampler.recipe_of),
        "expected": as_json(results.expected(trial)),
    }
