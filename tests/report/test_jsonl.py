"""JSON lines: the contract's keys, and nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan

import pytest

from grader import __version__
from grader.report.jsonl import from_json, from_record, to_json, to_record
from tests.report.class_of_grades import ATTACKER, CLASS, FAULT, HOSTILE, MISTAKEN, PARTLY, UNREADABLE

CONTRACT = {
    "student", "assignment", "status", "score", "max_score", "isolation", "device", "seconds", "submission_sha256",
    "grader_version", "exercises", "flags",
}  # fmt: skip
EXERCISE = {"id", "name", "outcome", "points", "max_points", "message", "mistake", "hint"}


def test_the_contract_holds():
    record = json.loads(to_json(replace(MISTAKEN, flags=PARTLY.flags)))
    assert set(record) >= CONTRACT
    assert (record["student"], record["status"], record["score"], record["max_score"]) == (
        "s0417",
        "graded",
        85.0,
        100.0,
    )
    assert (record["isolation"], record["device"], record["grader_version"]) == ("full", "cpu", __version__)
    attention = record["exercises"][3]
    assert set(attention) >= EXERCISE
    assert {key: attention[key] for key in EXERCISE} == {
        "id": "1.4",
        "name": "attention",
        "outcome": "FAILED",
        "points": 0.0,
        "max_points": 15.0,
        "message": "5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05",
        "mistake": "unscaled",
        "hint": "Divide the scores by √d_k.",
    }
    assert record["flags"] == [{"kind": "uses-builtin", "exercise": "1.4", "detail": "F.scaled_dot_product_attention"}]


def test_an_unreadable_file_has_score_0_and_a_message_and_a_fault_no_score():
    unreadable, fault = json.loads(to_json(UNREADABLE)), json.loads(to_json(FAULT))
    assert (unreadable["score"], unreadable["exercises"], unreadable["message"]) == (0.0, [], UNREADABLE.message)
    assert fault["score"] is None


@pytest.mark.parametrize("grade", [grade for grade in CLASS if grade is not ATTACKER], ids=lambda one: one.student)
def test_nothing_is_lost(grade):
    assert from_json(to_json(grade)) == grade


def test_a_hostile_text_stays_on_its_line_and_comes_back_as_it_was():
    hostile = replace(ATTACKER, message=f"{HOSTILE}\u2028\x85\n\r")
    line = to_json(hostile)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    back = from_json(line)
    assert (back.student, back.message, back.flags) == (hostile.student, hostile.message, hostile.flags)


def test_nan_and_infinity_are_strict_json():
    line = to_json(ATTACKER)
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    first = from_json(line).verdicts[0].heatmaps[0]
    assert isnan(first.got[0][0])
    assert first.got[0][1] == float("inf")
    assert first.got[1][0] == float("-inf")
    assert first.expected == ((0.5, 0.5), (0.25, 0.75))


def test_keys_of_another_version_are_left_out():
    assert from_record({**to_record(MISTAKEN), "weather": "fine"}) == MISTAKEN


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"student": "s1"}', '{"exercises": [{"id": "1.1"}]}', "null"])
def test_what_is_no_grade_is_refused(line: str):
    with pytest.raises(ValueError, match=r"this is not a grade.*Grade again"):
        from_json(line)
