"""Answers are added, written again and judged, and nothing else of the corpus changes."""

from __future__ import annotations

import pytest

from corpus.answers import Answer
from corpus.changes import add_answers, find_answer, judge_answers

FIRST = Answer("1.2", "unscaled", False, "no division", "x = 1\n", "off by 0.3", "part")
SECOND = Answer("1.2", "by_the_root", True, "as in the text", "x = 2\n")
CORPUS = FIRST, SECOND
JUDGED = {"exercise": "1.2", "name": "unscaled", "feedback": "off by 0.5 Divide by √d_k.", "judgement": "cause"}


def test_an_answer_is_found_by_exercise_and_name():
    assert find_answer(CORPUS, "1.2", "by_the_root") == SECOND


@pytest.mark.parametrize(
    ("exercise", "name", "names"), [("1.2", "by_the_width", "unscaled, by_the_root"), ("1.3", "unscaled", "none")]
)
def test_an_unknown_answer_is_refused_with_the_names_that_there_are(exercise: str, name: str, names: str):
    with pytest.raises(ValueError, match=f"{exercise} has no answer '{name}'. Its answers are: {names}$"):
        find_answer(CORPUS, exercise, name)


def test_a_new_answer_comes_last():
    new = FIRST._replace(exercise="1.3")
    assert add_answers(CORPUS, [new]) == (*CORPUS, new)


def test_an_answer_is_replaced_only_on_request_and_loses_its_judgement():
    again = Answer("1.2", "unscaled", False, "no division", "x = 3\n")
    with pytest.raises(ValueError, match=r"1\.2 has an answer 'unscaled'"):
        add_answers(CORPUS, [again])
    assert add_answers(CORPUS, [again], replace=True) == (again, SECOND)


def test_a_judgement_changes_the_feedback_and_the_judgement_of_one_answer():
    judged = FIRST._replace(feedback="off by 0.5 Divide by √d_k.", judgement="cause")
    assert judge_answers(CORPUS, [JUDGED]) == (judged, SECOND)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judgement": ""}, "1.2 unscaled has the judgement ''. Write one of cause, part, nothing, false, accepted"),
        ({"judgement": "right"}, "has the judgement 'right'"),
        ({"name": "scaled"}, "1.2 has no answer 'scaled'"),
    ],
)
def test_a_judgement_that_fits_nothing_is_refused(changes: dict[str, str], message: str):
    with pytest.raises(ValueError, match=message):
        judge_answers(CORPUS, [JUDGED | changes])


def test_a_judgement_without_its_feedback_is_refused():
    with pytest.raises(ValueError, match="a judgement has no feedback"):
        judge_answers(CORPUS, [{field: value for field, value in JUDGED.items() if field != "feedback"}])
