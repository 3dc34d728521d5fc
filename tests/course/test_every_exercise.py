"""Every exercise of every lesson: right answers pass, wrong ones are refused and named, in words that were taught."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.truth import measure as measuring
from benchmarks.truth.measure import measure
from corpus.answers import answers
from corpus.judging import mistaken, sheet, solutions, tried, verdict
from grader.course import lessons
from grader.declare.exercise import Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.judge.compare import compare
from grader.judge.planned_trial import source_of
from grader.judge.reference_results import run_here
from grader.judge.verdicts import judge_trial
from grader.records import Outcome, Verdict
from tests.scripts import cells_of

ROOT = Path(__file__).parents[2]
EVERY = [
    pytest.param(lesson, exercise, id=exercise.id) for lesson in lessons().values() for exercise in lesson.exercises
]
# The course's own; an exercise that somebody adds may begin with less.
GRADED = [one for one in EVERY if re.fullmatch(r"1\.[1-9]|2\.[1-8]|3\.[1-9]", one.id)]

# In the fast half: some of each lesson whose answers are quickly judged and explained.
FEW = pytest.mark.fast_cases("1.1", "1.4", "2.4", "2.5", "3.5", "3.P4", "6.8", "6.9")

# What rounded examples cannot show, and what only a batch, another dtype or a wide range shows: hidden trials do.
NOT_IN_THE_SELF_CHECK = {
    "large_number_for_minus_infinity",
    "largest_at_least_zero",
    "zero_scores_hidden",
    "aligned_at_other_widths_only",
    "any_width",
    "asserts_the_width",
    "mask_axis_from_the_front",
    "approximate_gelu",
    "patches_shuffled_too",
}

# The words of the messages that no lesson uses, and that need no lesson; first those that the wrong answer itself has.
# A new word fails the test until somebody has decided that it belongs here: reword the message if a student at this
# exercise would have to look it up.
EVERYDAY = """
    cumsum elu nan norm sigmoid silu
    absolute accepted after afresh ahead allowed already also alternate always applied applies apply approximate argument
    around arrives assertionerror assignment assumes astray average averaged averages avoids been before behind big
    blank cannot close code contains continue covers cross_entropy cut decide default denominator describe different directions
    disappears distances down enough equal even everywhere exponential fails far fewer fitted forbidden function future height
    ignore ill illness inference_mode inputs instead inverses inverted itself larger later lead longer longest logarithms losses lost lots
    lower maximum meanings middle missing new newest no_gradient normalised normalises numerator offset
    otherwise over overlooks overwrite overwritten pair pass past per perhaps pile plain predicts previous probabilities pulled push put quotient recorded
    relu restore result rise roll rounded send separate separately sequence sequences sets sharp sharper silence silently skips
    some square stands still string sub_ summed swapped taken tanh themselves these ties too total treat treated
    twice unaligned unchanged unless unprojected use used vary wakes weigh were wherever whole wide wrong yes √d_model
"""


@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_the_solution_passes_and_a_mistake_is_refused(lesson: Lesson, exercise: Exercise) -> None:
    """Of the test below, the least: two answers, one secret, no explanation."""
    solution = solutions(lesson.assignment)[exercise.id]
    right = verdict(lesson, exercise, solution, "one", explained=False)
    assert right.outcome is Outcome.PASSED, right.message
    wrong = mistaken(lesson, exercise, exercise.mistakes[0], "one", explained=False)
    assert wrong.outcome is Outcome.FAILED, exercise.mistakes[0].name


@pytest.mark.fast_cases("1.1", "2.P3", "3.P2", "6.8")
@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_the_solution_stays_far_below_the_tolerance(lesson: Lesson, exercise: Exercise) -> None:
    """Else another processor, which rounds otherwise, may refuse it: with kernels of three kinds a tenth is enough."""
    on = sheet(lesson.assignment, exercise.id, "one")
    evidence = tried(on, solutions(lesson.assignment)[exercise.id])
    for one in on.planned:
        strict = replace(one, check=replace(one.check, rtol=one.check.rtol / 4))
        assert judge_trial(strict, evidence[one.key], on.ours).outcome is Outcome.PASSED, one.key


@cache
def told(assignment: str, id: str, name: str) -> Verdict:
    """What the author of a declared mistake reads; three tests ask, and to explain it takes longest."""
    lesson = lessons()[assignment]
    exercise = lesson.exercise(id)
    return mistaken(lesson, exercise, next(one for one in exercise.mistakes if one.name == name), "one")


@pytest.fixture
def explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `measure` take its explanations of declared mistakes, which are under the first secret, from `told`."""

    def remembered(lesson: Lesson, exercise: Exercise, wrong: Mistake, secret: str, *, explained: bool) -> Verdict:
        if explained:
            assert secret == "one"
            return told(lesson.assignment, exercise.id, wrong.name)
        return mistaken(lesson, exercise, wrong, secret, explained=False)

    monkeypatch.setattr(measuring, "mistaken", remembered)


# On a busy machine the time limit of repairs rings, maybe within Hypothesis's callback for garbage: it rings again then.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*gc_callback:pytest.PytestUnraisableExceptionWarning")
@FEW
@pytest.mark.usefixtures("explained_once")
@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_no_wrong_answer_passes_and_no_right_one_fails(lesson: Lesson, exercise: Exercise) -> None:
    """A fixed sample of `make truth`: solution, variants, mistakes, empty answers, a few mutants; three secrets."""
    count, lines = measure(lesson, exercise, ["one", "two", "three"], sample=3)
    # Notebook and grade must agree on right and wrong; how often also on the words is measured, not asked.
    assert not [line for line in lines if " equivalent?" not in line and " words differ" not in line]
    assert count["named right"] == count["mistakes"] == len(exercise.mistakes)
    assert count["right"] >= 1


def test_the_measure_sees_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: with a judge that passes everything, and with one that passes nothing."""
    from corpus import judging

    lesson = lessons()["1-attention"]
    exercise = lesson.exercise("1.2")
    passes = verdict(lesson, exercise, judging.solutions("1-attention")["1.2"])
    fails = mistaken(lesson, exercise, exercise.mistakes[0])
    assert (passes.outcome, fails.outcome) == (Outcome.PASSED, Outcome.FAILED)

    def judged_as(found: Verdict) -> None:
        for name in ("judge", "verdict_of"):
            monkeypatch.setattr(judging, name, lambda *_, **__: found)

    judged_as(passes)
    count, _ = measure(lesson, exercise, ["one"], sample=2)
    assert count["wrong accepted"] == len(exercise.mistakes) + count["empty"]
    assert count["equivalent"] == 2

    judged_as(fails)
    count, lines = measure(lesson, exercise, ["one"], sample=0)
    assert count["right refused"] == count["right"] > 1
    assert any("RIGHT REFUSED" in line for line in lines)


@pytest.mark.parametrize(("lesson", "exercise"), GRADED)
def test_four_mistakes_four_styles_and_two_sizes(lesson: Lesson, exercise: Exercise) -> None:
    assert len(exercise.mistakes) >= 4
    assert sum(one.exercise == exercise.id for one in answers("variants")) >= 4
    assert sum(not one.public for one in sheet(lesson.assignment, exercise.id, "one").planned) >= 2
    assert len({one.name for one in exercise.mistakes}) == len(exercise.mistakes)


@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_the_self_check_shows_every_mistake(lesson: Lesson, exercise: Exercise) -> None:
    """What the public examples in the notebook can say, they say."""
    on = sheet(lesson.assignment, exercise.id, "one")
    for wrong in exercise.mistakes:
        if wrong.name in NOT_IN_THE_SELF_CHECK or "drop" in wrong.name:
            continue
        pairs = [(on.ours.right(one), on.ours.wrong(one, wrong)) for one in on.planned if one.public]
        assert any(got.error or not compare(got.values, want.values, rtol=30).passed for want, got in pairs), wrong.name


@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_probes_stand_alone(lesson: Lesson, exercise: Exercise) -> None:
    """A probe is sent as text: it may use nothing but what the sandbox has."""
    there = {
        "torch": torch, "nn": nn, "F": F, "math": math, "Tensor": Tensor, "Mapping": Mapping, "Callable": Callable,
        "Any": Any,
    }  # fmt: skip
    for one in sheet(lesson.assignment, exercise.id, "one").planned:
        namespace = dict(there)
        exec(source_of(one.check.probe), namespace)
        check = replace(one.check, probe=namespace[one.check.probe.__name__])
        got = run_here(check, lesson.reference, one.inputs)
        assert got.error == "", f"{one.key}: {got.message}"


# ---------------------------------------------------------------- the messages, as their reader finds them


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_√]{3,}", text.lower()))


def stem(word: str) -> str:
    return re.sub(r"(ies|es|s|ed|ing|d|ly|y|e)$", "", word)


@cache
def read_before(id: str) -> set[str]:
    """The words of the course up to an exercise's cell."""
    known: set[str] = set()
    for assignment in lessons():
        for cell in cells_of(assignment):
            known |= words(cell.source)
            if cell.metadata.get("exercise") == id:
                return {stem(word) for word in known}
    raise KeyError(id)


@FEW
@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_messages_are_short_and_in_words_that_were_taught(lesson: Lesson, exercise: Exercise) -> None:
    known = read_before(exercise.id) | {stem(word) for word in words(EVERYDAY)}
    for wrong in exercise.mistakes:
        got = told(lesson.assignment, exercise.id, wrong.name)
        assert got.hint.endswith("."), wrong.name
        assert "\n" not in got.message + got.hint
        assert len(re.findall(r"[.!?](?=\s|$)", got.hint)) <= 2, wrong.name  # the message is the third
        assert len(got.message + got.hint) < 400, wrong.name
        said = got.message.partition("it raised")[0]  # what follows is PyTorch's words
        unknown = {word for word in words(f"{said} {got.hint}") if stem(word) not in known}
        assert not unknown, f"{wrong.name}: {got.message} | {got.hint}"


@FEW
@pytest.mark.parametrize(("lesson", "exercise"), EVERY)
def test_messages_give_nothing_away(lesson: Lesson, exercise: Exercise) -> None:
    """No expected number, no tensor, no path, no traceback of ours."""
    for wrong in exercise.mistakes:
        got = told(lesson.assignment, exercise.id, wrong.name)
        for text in (got.message, got.hint, *(check.message for check in got.checks)):
            assert not re.search(r"tensor\(|Traceback|File \"|/grader/|grader\.|reference|lambda", text), text
