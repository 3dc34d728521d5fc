"""Computes what the self-check of an exercise knows: examples, what is expected there, and what wrong answers give."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from grader.build.self_check_pack import Packed, Writer
from grader.build.self_check_trials import chosen_trials
from grader.declare.builtin_names import banned_names
from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.explain.candidates import traits_of
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.explain.match import is_telling, print_of, says_little
from grader.explain.seen import Seen
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults
from grader.records import Status


class DraftAnswer(NamedTuple):
    """A wrong answer, and what it gives on each trial: None where that is not known."""

    name: str
    hint: str
    traits: tuple[list[str], ...]  # what its code has, and lacks; nothing where it is not asked for
    prints: tuple[Fingerprint | None, ...]


class Draft(NamedTuple):
    """What was computed for one exercise; other processors may see some of it otherwise."""

    assignment: str
    exercise: str
    told: dict[str, Any]  # as JSON, without what is known of wrong answers
    data: bytes  # the inputs and the expected values of all trials
    right: tuple[Fingerprint, ...]  # one for each trial
    wrong: tuple[DraftAnswer, ...]


def drafted(lesson: Lesson, exercise: Exercise) -> Draft:
    """Choose the trials of an exercise's self-check, and compute what is expected there and what each mistake gives."""
    chosen = chosen_trials(lesson, exercise)
    results, writer = ReferenceResults(lesson.reference), Writer()
    trials = [trial for trial, _ in chosen]
    checks = list(dict.fromkeys(trial.check.name for trial in trials))
    told = {
        "name": exercise.name,
        "defines": list(exercise.defines),
        "builds on": list(exercise.builds_on),
        "defaults": exercise.defaults,
        "bans": sorted(banned_names(exercise.bans)),
        "also": [check.title for check in exercise.checks if check.name not in checks],
        "checks": [_check_data(check) for check in exercise.checks if check.name in checks],
        "trials": [
            _trial_data(trial, checks.index(trial.check.name), inputs, results, writer) for trial, inputs in chosen
        ],
    }
    return Draft(
        assignment=lesson.assignment,
        exercise=exercise.id,
        told=json.loads(json.dumps(told)),  # as it is read again: tuples are lists, and keys are texts
        data=bytes(writer.data),
        right=tuple(fingerprint(results.expected(trial)) for trial in trials),
        wrong=tuple(_wrong_answers(exercise, trials, results)),
    )


def _wrong_answers(
    exercise: Exercise, trials: Sequence[PlannedTrial], results: ReferenceResults
) -> Iterator[DraftAnswer]:
    """Yield the mistakes that an answer is compared with: those that some trial shows, and of two that none tells apart the first."""
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
    """Return what an answer with this mistake gives on a trial, beside what is expected."""
    came = results.wrong(trial, mistake)
    got = dict(flatten(came.values)) if came.status is Status.OK else {}
    expected = dict(flatten(results.expected(trial)))
    return Seen(trial.check.name, False, got, expected, error=came.error, message=came.message)


def settled(draft: Draft, unsure: Collection[tuple[str, int]]) -> Packed:
    """Pack a draft without what is unsure, as it differs between processors: pairs of a mistake's name and a trial's index."""
    kept: list[DraftAnswer] = []
    for answer in draft.wrong:
        prints = tuple(None if (answer.name, index) in unsure else one for index, one in enumerate(answer.prints))
        if any(one is not None and not alike(one, right) for one, right in zip(prints, draft.right, strict=True)):
            kept.append(answer._replace(prints=prints))
    writer = Writer()
    writer.data += draft.data
    forms = writer.briefs([answer.prints for answer in kept], draft.right)
    wrong = [[one.name, one.hint, *one.traits] for one in kept]
    return Packed({**draft.told, "wrong answers": wrong, "forms": forms}, bytes(writer.data))


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "probe": check.probe.__name__,
        "names": dict(check.names),
        "rtol": check.rtol,
        "judge": check.judge.__name__ if check.judge else "",
    }


def _trial_data(trial: PlannedTrial, check: int, inputs: Packed, results: ReferenceResults, writer: Writer) -> list:
    """Pack one trial: its check, its sizes in words and as values, its inputs, and what is expected."""
    sizes = {name: value for name, value in trial.trial.sizes.items() if isinstance(value, (int, float, str, tuple))}
    writer.data += inputs.data
    expected = writer.expected(results.expected(trial))
    return [check, trial.key.split("/", 1)[1], trial.trial.describe, sizes, inputs.told, expected]
