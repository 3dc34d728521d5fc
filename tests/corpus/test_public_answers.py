"""Right answers after public code, in corpus/answers/public.jsonl: each is accepted, or breaks a sentence that the student can read."""

from __future__ import annotations

import pytest

from corpus.answers import answers
from corpus.judging import verdict
from grader.course import lessons
from grader.records import Outcome

LESSONS = {exercise.id: lesson for lesson in lessons().values() for exercise in lesson.exercises}
NOT_CONTIGUOUS = "Inputs need not be contiguous in memory"
# What is refused, with the words of the task or of the rules at the top of the notebook that it does not follow.
REFUSED = {
    ("1.6", "softmax_times_mask_plus_1e_13"): "a hidden one may lie far above all others",
    ("2.3", "probabilities_then_log"): "The loss stays finite at a small temperature, such as 0.005.",
    ("2.P1", "entropy_of_detached_float"): "float64 for float64",
    ("4.5", "complex_polar"): NOT_CONTIGUOUS,
    ("4.6", "joined_complex_frequencies"): NOT_CONTIGUOUS,
}
BY_EXERCISE: dict[str, list] = {}
for one in answers("public"):
    BY_EXERCISE.setdefault(one.exercise, []).append(one)
LATER = {"5.5", "5.6", "5.7", "5.8", "5.9"}  # added after the corpus was written


def test_there_are_enough() -> None:
    assert sum(map(len, BY_EXERCISE.values())) >= 300
    assert BY_EXERCISE.keys() == LESSONS.keys() - LATER


@pytest.mark.fast_cases("1.3", "1.5")
@pytest.mark.parametrize("id", BY_EXERCISE)
def test_only_what_breaks_a_stated_rule_is_refused(id: str) -> None:
    lesson = LESSONS[id]
    refused = [
        one.name
        for one in BY_EXERCISE[id]
        if verdict(lesson, lesson.exercise(id), one.source, explained=False).outcome is not Outcome.PASSED
    ]
    assert refused == [name for exercise, name in REFUSED if exercise == id]
