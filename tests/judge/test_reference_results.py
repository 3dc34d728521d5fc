"""The reference and wrong answers run in this process: what they return must not depend on what lies in memory."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from grader.course.lesson_1 import LESSON
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check
from grader.declare.trial import Trial
from grader.judge.planned_trial import PlannedTrial
from grader.judge.reference_results import ReferenceResults, run_here
from grader.records import Status


def probe(attend, query, key, value):
    return {"output": attend(query, key, value)}


def in_order(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


def by_name(query, key, value):
    return F.scaled_dot_product_attention(query, value=value, key=key)


@pytest.mark.parametrize("attend", [in_order, by_name])
@pytest.mark.parametrize(("keys", "values"), [(7, 5), (5, 7)])
def test_keys_without_values_are_refused(attend, keys, values):
    inputs = {"query": torch.randn(3, 5, 4), "key": torch.randn(3, keys, 4), "value": torch.randn(3, values, 4)}
    evidence = run_here(
        Check(name="values", title="Values.", points=1, probe=probe, trials=()), {"attend": attend}, inputs
    )
    assert evidence.status is Status.RAISED
    assert "do not go with values" in evidence.message


def test_as_many_keys_as_values_are_attended_to():
    inputs = {"query": torch.randn(3, 5, 4), "key": torch.randn(3, 7, 4), "value": torch.randn(3, 7, 2)}
    evidence = run_here(
        Check(name="values", title="Values.", points=1, probe=probe, trials=()), {"attend": in_order}, inputs
    )
    assert evidence.values["output"].shape == (3, 5, 2)


def test_a_reference_that_raises_is_said_in_a_line():
    trial = Trial("5 keys", draw=lambda _: {})
    check = Check(name="values", title="", points=5, probe=probe, trials=(trial,))
    exercise = replace(LESSON.exercise("1.2"), checks=(check,))
    planned = PlannedTrial(key="k", exercise=exercise, check=check, trial=trial, public=False, inputs={}, cell="")
    with pytest.raises(
        DeclarationError, match=r"exercise 1\.2, 5 keys: the reference raised NameError: .*Give it other inputs"
    ):
        ReferenceResults({"attend": in_order}).expected(planned)
