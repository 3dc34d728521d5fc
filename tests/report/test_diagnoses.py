"""What a class was told is listed in the order of the exercises, and 4.10 does not come before 4.2."""

from __future__ import annotations

from dataclasses import replace

from grader.records import Outcome
from grader.report.items import commonest_diagnoses, unexplained
from tests.report.class_of_grades import MISTAKEN, grade

WRONG = next(verdict for verdict in MISTAKEN.verdicts if verdict.mistake)
IDS = ("4.10", "4.2", "4.P1", "4.1")


def test_equally_common_mistakes_come_in_the_order_of_the_exercises() -> None:
    told = commonest_diagnoses([grade("ada", tuple(replace(WRONG, id=id) for id in IDS))])
    assert [one.exercise for one in told] == ["4.1", "4.2", "4.10", "4.P1"]


def test_answers_without_an_explanation_are_counted_in_the_order_of_the_exercises() -> None:
    unclear = replace(WRONG, mistake=None, diagnosis="", outcome=Outcome.FAILED)
    verdicts = tuple(replace(unclear, id=id) for id in (*IDS, "4.2"))
    assert list(unexplained([grade("ada", verdicts)]).items()) == [("4.1", 1), ("4.2", 2), ("4.10", 1), ("4.P1", 1)]
