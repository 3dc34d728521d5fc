"""Chooses the trials that a notebook's self-check runs, and computes their expected results."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import FunctionType
from typing import Any

from torch import Tensor

from grader.build.self_check_values import from_json
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.declare.sampler import PublicSampler
from grader.explain.candidates import candidates
from grader.explain.fingerprint import Fingerprint, alike, fingerprint
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial, is_sent, shown
from grader.judge.reference_results import ReferenceResults

Prints = Callable[[int], Fingerprint | None]
# Numbers of a trial, with those of its inputs counted twice. A hidden trial that has more of them
# is in the notebook only if it is needed.
LARGE = 200


def chosen_trials(lesson: Lesson, exercise: Exercise) -> list[PlannedTrial]:
    """Choose the trials for the notebook, among those that can run there.

    All trials with few numbers are chosen. Of the larger trials, these are chosen: public trials,
    the smallest trials of a check that has too few, and trials that show a declared mistake or
    distinguish two mistakes.
    """
    results = ReferenceResults(lesson.reference)
    there = [trial for trial in shown(exercise) if runs_there(lesson, trial)]
    sizes = [count(results.expected(trial)) + 2 * stored(trial) for trial in there]
    chosen = {index for index, trial in enumerate(there) if trial.public or sizes[index] <= LARGE}
    by_size = sorted(range(len(there)), key=sizes.__getitem__)
    for check in {trial.check.name for trial in there}:
        of_check = [index for index in by_size if there[index].check.name == check]
        # One number alone is soon met by chance: of a check that gives so few, the notebook has two trials.
        wanted = 2 if count(results.expected(there[of_check[0]])) < 3 else 1
        missing = max(wanted - len(set(of_check) & chosen), 0)
        chosen.update([index for index in of_check if index not in chosen][:missing])
    if len(chosen) < len(there):
        chosen |= telling_trials(exercise, there, by_size, chosen, results)
    return [there[index] for index in sorted(chosen)]


def telling_trials(
    exercise: Exercise,
    there: Sequence[PlannedTrial],
    by_size: Sequence[int],
    chosen: Collection[int],
    results: ReferenceResults,
) -> set[int]:
    """Return the trials that are needed, in addition to the chosen ones, to recognise mistakes.

    Each declared mistake must fail a trial. Any two mistakes with different hints must differ in a
    trial.

    Args:
        there: the trials that can run in the notebook.
        by_size: the indices of these trials, the smallest trial first.
        chosen: the indices of the trials that are chosen already.
    """
    right = [fingerprint(results.expected(trial)) for trial in there]
    mistakes = list(candidates(exercise, there, results))
    needed: set[int] = set()

    def tells(index: int, one: Prints, other: Prints) -> bool:
        if there[index].check.expects:
            return False  # what comes back is random
        first, second = one(index), other(index)
        return first is not None and second is not None and not alike(first, second)

    pairs: list[tuple[Prints, Prints]] = [(wrong.prints, right.__getitem__) for wrong in mistakes]
    pairs += [(one.prints, other.prints) for one, other in combinations(mistakes, 2) if one.says != other.says]
    for one, other in pairs:
        telling = [index for index in by_size if tells(index, one, other)]
        first = min(telling, default=0)  # explanations look at the first check that fails
        of_check = [index for index in telling if there[index].check.name == there[first].check.name]
        if of_check and not needed.union(chosen).intersection(of_check):
            needed.add(of_check[0])
    return needed


def stored(trial: PlannedTrial) -> int:
    """Return the number of floats in a trial's inputs that the notebook must store because it cannot draw them."""
    sampler = PublicSampler(trial.key)
    inputs = trial.trial.draw(sampler)
    floats = [leaf for _, leaf in flatten(inputs) if isinstance(leaf, Tensor) and leaf.is_floating_point()]
    return sum(leaf.numel() for leaf in floats if not sampler.recipe_of(leaf))


def count(values: Mapping[str, Any]) -> int:
    """Return the number of numbers in the result of a probe."""
    return sum(leaf.numel() if isinstance(leaf, Tensor) else 1 for _, leaf in flatten(values))


def runs_there(lesson: Lesson, trial: PlannedTrial) -> bool:
    """Return True if a trial can run in the notebook.

    It must not need the result of a training run, and its judge must not need the reference.
    """
    trained = {name for name, value in lesson.given.items() if value is None}
    if trial.check.at or trial.takes & trained or not trial.takes <= lesson.reference.keys():
        return False
    judge = trial.check.judge
    return judge is None or not uses_reference(judge, lesson.reference.values())


def uses_reference(judge: Callable, reference: Collection[Any]) -> bool:
    """Return True if a judge, or a function of the course that it calls, calls the reference.

    Also return True if the judge is not a plain function, because its calls are not known.
    """
    if not isinstance(judge, FunctionType):
        return True
    named = (judge.__globals__.get(name) for name in judge.__code__.co_names)
    called = [value for value in named if value is not None]  # a trained object stands as None in the reference
    return any(
        getattr(value, "__module__", "").startswith("attention")
        or any(value is right for right in reference)
        or (isinstance(value, FunctionType) and is_sent(value) and uses_reference(value, reference))
        for value in called
    )


def read_trials(exercise: Exercise, known: Mapping[str, Any]) -> Iterator[tuple[PlannedTrial, Mapping[str, Any]]]:
    """Yield each trial in an exercise's data with its stored inputs, and its expected values.

    Raises:
        KeyError: the exercise no longer has a trial.
    """
    there = {trial.key: trial for trial in shown(exercise)}
    for told in known["trials"]:
        trial = there[f"{exercise.id}/{told['key']}"]
        yield replace(trial, inputs=from_json(told["inputs"])), from_json(told["expected"])
