"""Wrong answers that once passed, in corpus/answers/once_accepted.jsonl: each is refused now."""

from __future__ import annotations

import pytest

from corpus.answers import Answer, answers
from corpus.judging import verdict
from grader.course import lessons
from grader.records import Outcome

LESSONS = {exercise.id: lesson for lesson in lessons().values() for exercise in lesson.exercises}


@pytest.mark.parametrize("answer", answers("once_accepted"), ids=lambda answer: f"{answer.exercise} {answer.name}")
def test_it_is_refused(answer: Answer) -> None:
    lesson = LESSONS[answer.exercise]
    for secret in ("one", "two"):
        got = verdict(lesson, lesson.exercise(answer.exercise), answer.source, secret, explained=False)
        assert got.outcome is Outcome.FAILED, got.message
        assert "not defined" not in got.message
