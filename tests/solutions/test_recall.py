"""The five questions with which the lessons after the first and the labs open: the author's answers are what the next cell computes."""

from __future__ import annotations

import pytest
import torch
from attention import builtin
from attention.measures.predictions import check_recall
from torch import nn
from torch.nn import functional as F

from tests.scripts import cells_of

KINDS = {"a shape", "a number", "a map"}  # besides, the effect of two changes


def recalled(name: str, capsys: pytest.CaptureFixture[str], *, answer: object = ...) -> tuple[dict, list[str]]:
    """What a lesson's cell says of the author's answers, or of another answer in place of each; and the answers."""
    cells = {cell.metadata.get("predict") or cell.metadata.get("id"): cell.source for cell in cells_of(name)}
    names = {**vars(builtin), "torch": torch, "nn": nn, "F": F, "check_recall": check_recall}
    exec(cells["recall"], names)
    known = dict(names["recall"])
    if answer is not ...:
        names["recall"] = dict.fromkeys(known, answer)
    exec(cells["recalled"], names)
    return known, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", ["2-heads", "3-vlm", "4-modern", "5-real", "6-explain"])
def test_the_authors_answers_are_right(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    known, lines = recalled(name, capsys)
    assert len(known) == len(lines) == 5
    assert known.keys() >= KINDS
    for line, asked in zip(lines, known, strict=True):
        assert line.startswith(f"{asked}: right. "), line
        assert line.endswith(".")


@pytest.mark.parametrize("name", ["2-heads", "3-vlm", "4-modern", "5-real", "6-explain"])
def test_a_wrong_answer_is_corrected_and_an_open_question_keeps_its_answer(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known, wrong = recalled(name, capsys, answer=-7)
    assert all(line.startswith(f"{asked}: you said -7, it is ") for line, asked in zip(wrong, known, strict=True))
    _, still_open = recalled(name, capsys, answer=None)
    assert {line.partition(": ")[2] for line in still_open} == {
        "open. Put your answer in place of None, and run both cells again."
    }


@pytest.mark.parametrize(
    ("answer", "right"),
    [([2, 3], (2, 3)), (0.3349, 1 / 3), ("  The SAME", "the same"), ((0, 1), [0.001, 1.0]), (True, 1)],
)
def test_an_answer_may_be_written_in_several_ways(
    answer: object, right: object, capsys: pytest.CaptureFixture[str]
) -> None:
    check_recall({"x": answer}, {"x": (right, "So.")})
    assert capsys.readouterr().out == "x: right. So.\n"


@pytest.mark.parametrize(
    ("answer", "right"), [((2, 3), (3, 2)), ((2,), (2, 3)), (2, (2,)), ("2", 2), (0.35, 1 / 3), ("flatter", "sharper")]
)
def test_another_answer_is_wrong(answer: object, right: object, capsys: pytest.CaptureFixture[str]) -> None:
    check_recall({"x": answer}, {"x": (right, "So.")})
    assert capsys.readouterr().out == f"x: you said {answer}, it is {right}. So.\n"
