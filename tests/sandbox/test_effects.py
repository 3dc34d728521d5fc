"""What a probe says of its inputs is compared again outside of the sandbox."""

import math

import pytest
import torch

from grader.sandbox.replies import with_true_effects

QUERY = torch.tensor([1.0, math.nan, -math.inf])
INPUTS = {"arguments": {"query": QUERY, "mask": torch.tensor([True, False])}, "size": 3, "ids": torch.arange(3)}
CLAIM = {"inputs unchanged": True, "scores": 7}


@pytest.mark.parametrize(
    "after",
    [
        [{}],
        [{"query": QUERY.clone()}],
        [{"query": QUERY.clone(), "mask": torch.tensor([True, False])}, {"ids": torch.arange(3)}],
        [{"made of the query": torch.zeros(2)}],
    ],
)
def test_what_came_back_as_it_was_sent_is_unchanged(after) -> None:
    assert with_true_effects(CLAIM, after, INPUTS) == CLAIM


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        ([{"query": QUERY * 2}], ["query"]),
        ([{"query": QUERY.clone()}, {"query": torch.zeros(3), "ids": torch.zeros(3)}], ["query", "ids"]),
        ([{"query": QUERY.double()}], ["query"]),
        ([{"query": QUERY[None]}], ["query"]),
        ([{"query": "no tensor"}], ["query"]),
        ([{"query": QUERY.nan_to_num(nan=0.0)}], ["query"]),
        ([{"mask": torch.tensor([True, True])}], ["mask"]),
        ([], []),  # a claim without anything to compare
    ],
)
def test_a_claim_that_is_not_true_is_corrected(after, changed) -> None:
    assert with_true_effects(CLAIM, after, INPUTS) == {"inputs unchanged": False, "changed": changed, "scores": 7}


def test_a_result_may_have_the_name_of_an_input() -> None:
    inputs = {"arguments": {"weights": QUERY}, "grad_outputs": {"weights": torch.ones(3)}}
    assert with_true_effects(CLAIM, [{"weights": QUERY.clone()}], inputs) == CLAIM
    assert with_true_effects(CLAIM, [{"weights": 2 * QUERY}], inputs)["changed"] == ["weights"]


def test_a_claim_about_a_changed_answer_is_corrected_too() -> None:
    values, inputs = {"tried": [[CLAIM, None], [{"raised": True}, CLAIM]]}, {"trials": {"0": INPUTS}}
    unchanged = [{"query": QUERY.clone()}, {"query": QUERY.clone()}]
    assert with_true_effects(values, unchanged, inputs) == values
    denied = {"inputs unchanged": False, "changed": ["query"], "scores": 7}
    found = with_true_effects(values, [*unchanged, {"query": QUERY * 2}], inputs)
    assert found == {"tried": [[denied, None], [{"raised": True}, denied]]}
    assert with_true_effects(values, unchanged[:1], inputs)["tried"][0][0]["inputs unchanged"] is False


@pytest.mark.parametrize("values", [{"scores": 7}, {"inputs unchanged": False, "changed": ["query"]}])
def test_without_a_claim_nothing_is_compared(values) -> None:
    assert with_true_effects(values, [], INPUTS) == values
