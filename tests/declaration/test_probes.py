"""Probes: what they report of an answer that returns something else than a tensor, or one without gradients."""

from __future__ import annotations

import pytest
import torch

from grader.declaration.probes import function_gradients

QUERY = {"query": torch.ones(2, 3)}
ALONG = {"scores": torch.ones(2, 3)}


@pytest.mark.parametrize(
    ("answer", "came"),
    [(lambda query: None, "nothing"), (lambda query: query.tolist(), "list"), (lambda query: 1.0, "float")],
)
def test_what_is_no_tensor_is_named_and_no_arithmetic_of_ours_raises(answer, came):
    with pytest.raises(TypeError, match=f"^scores: expected a tensor, but {came} came back$"):
        function_gradients(answer, QUERY, ["scores"], ALONG)


def test_a_tensor_that_leads_back_to_nothing_has_no_gradients():
    found = function_gradients(lambda query: query.detach() * 2, QUERY, ["scores"], ALONG)
    assert found["gradient of query"] is None
    assert found["inputs unchanged"] is True
    found = function_gradients(lambda query: query * 2, QUERY, ["scores"], ALONG)
    assert found["gradient of query"].tolist() == [[2.0] * 3] * 2
