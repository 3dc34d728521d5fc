"""The corpora are complete and readable: every exercise, enough answers, code that parses where it should."""

from __future__ import annotations

import ast

import pytest

from corpus.answers import BLIND, CORPORA, JUDGEMENTS, Answer, answers, path_of, write_answers
from grader.course import lessons

ANSWERS = answers()
LATER = {"3.P2", "3.P3", "3.P4", *(f"5.{number}" for number in range(1, 10))}  # added after the corpus was written
EXERCISES = {exercise.id: exercise for lesson in lessons().values() for exercise in lesson.exercises}


def test_every_exercise_has_answers_of_both_kinds():
    exercises = EXERCISES.keys() - LATER
    assert {answer.exercise for answer in ANSWERS if answer.right} == exercises
    assert {answer.exercise for answer in ANSWERS if not answer.right} == exercises
    assert sum(not answer.right for answer in ANSWERS) >= 300
    assert sum(answer.right for answer in ANSWERS) >= 60


def test_there_is_a_file_for_each_corpus():
    assert {path.stem for path in path_of("first").parent.iterdir()} == set(CORPORA)


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_two_answers_of_an_exercise_have_one_name(corpus: str):
    keys = [answer.key for answer in answers(corpus)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_is_written_as_it_would_be_written_again(corpus: str, tmp_path):
    write_answers(tmp_path / "again.jsonl", answers(corpus))
    assert path_of(corpus).read_bytes() == (tmp_path / "again.jsonl").read_bytes()


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_answer_is_to_an_exercise_of_the_course(corpus: str):
    assert {answer.exercise for answer in answers(corpus)} <= EXERCISES.keys()


def test_variants_and_public_answers_are_right_and_those_once_accepted_wrong():
    assert all(answer.right for corpus in ("variants", "public") for answer in answers(corpus))
    assert not any(answer.right for answer in answers("once_accepted"))


def test_only_wrong_blind_answers_are_judged_and_each_judgement_has_its_feedback():
    judged = {corpus: [answer for answer in answers(corpus) if answer.judgement] for corpus in CORPORA}
    assert {corpus for corpus in CORPORA if judged[corpus]} == set(BLIND)
    for answer in [answer for corpus in BLIND for answer in judged[corpus]]:
        assert not answer.right
        assert answer.judgement in JUDGEMENTS
        assert bool(answer.feedback) == (answer.judgement != "accepted"), answer.key


@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if answer.right], ids=lambda answer: answer.name)
def test_a_right_answer_defines_what_is_asked(answer: Answer):
    tree = ast.parse(answer.source)
    bound = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
    assert set(EXERCISES[answer.exercise].defines) <= bound
