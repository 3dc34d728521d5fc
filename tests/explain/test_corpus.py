"""The corpus is complete and readable: every exercise, enough answers, code that parses where it should."""

from __future__ import annotations

import ast

import pytest

from corpus.answers import Answer, answers
from grader.course import lessons

ANSWERS = list(answers())
LATER = {"3.P5", "3.P6", "3.P7", "4.18", "4.19", "4.20", "4.21"}  # added after the corpus was written


def test_every_exercise_has_answers_of_both_kinds():
    exercises = {exercise.id for lesson in lessons().values() for exercise in lesson.exercises} - LATER
    assert {answer.exercise for answer in ANSWERS if answer.right} == exercises
    assert {answer.exercise for answer in ANSWERS if not answer.right} == exercises
    assert sum(not answer.right for answer in ANSWERS) >= 300
    assert sum(answer.right for answer in ANSWERS) >= 60


def test_no_two_answers_of_an_exercise_have_one_name():
    names = [(answer.exercise, answer.name) for answer in ANSWERS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if answer.right], ids=lambda one: one.name)
def test_a_right_answer_defines_what_is_asked(answer: Answer):
    exercise = next(
        exercise for lesson in lessons().values() for exercise in lesson.exercises if exercise.id == answer.exercise
    )
    tree = ast.parse(answer.source)
    bound = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
    assert set(exercise.defines) <= bound
