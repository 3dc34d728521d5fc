"""No operator's size rule gives less than the operator makes."""

from __future__ import annotations

import pytest
import torch

from grader.execution import operator_budget

SIZED = {
    "add": lambda a: a + a[:1],
    "compare": lambda a: a > 0,
    "divide": lambda a: a / 3,
    "matrix product": lambda a: a[0] @ a[0].T,
    "batched product": lambda a: a @ a.transpose(-1, -2),
    "expanded and copied": lambda a: a.expand(7, *a.shape).clone(),
    "softmax": lambda a: torch.softmax(a, -1),
}


@pytest.mark.parametrize("make", SIZED.values(), ids=SIZED)
def test_no_rule_says_less_than_an_operator_makes(make, monkeypatch) -> None:
    """And none of the common operators needs the meta device, which takes seconds to import."""
    monkeypatch.setattr(operator_budget, "_meta_device_imported", [])
    monkeypatch.setattr(operator_budget, "_sizes", {})
    numbers = torch.ones(5, 6, 4)
    with operator_budget.OperatorBudget() as bounded:
        made = make(numbers)
    assert operator_budget.MAX_BYTES - bounded._left >= made.numel() * made.element_size()
