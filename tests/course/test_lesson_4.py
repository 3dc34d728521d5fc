"""What is particular to lesson 4's declaration: attention that is to be computed without its weights, and stand-ins."""

from __future__ import annotations

import pytest

from corpus.judging import verdict
from grader.course.lesson_4 import LESSON
from grader.records import Outcome

PROMISED_ERRORS = {"odd", "unequal"}  # PyTorch raises errors of its own there
# Exercise, what is found, the wrong answer.
REFUSED = {
    "a band mask for the fused kernel": (
        "4.1",
        "makes a tensor of n × n numbers",
        """
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    band = torch.ones(n, n, dtype=torch.bool).tril(window).triu(-window)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=band)
""",
    ),
    "the layer itself": (
        "4.3",
        "makes a tensor of T × S numbers",
        """
def fused_forward(layer, tokens, context=None, mask=None):
    return layer(tokens, context, mask)[0]
""",
    ),
    "a layer that is changed": (
        "4.3",
        "the layer stays as it is",
        """
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    query, key, value = (
        project(source).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for project, source in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    mask = None if mask is None else mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(-3, -2).flatten(-2)
    with torch.no_grad():
        layer.W_O.weight.add_(1.0)
    return layer.W_O(heads) - heads.sum(-1, keepdim=True)
""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_answer_is_refused(name: str) -> None:
    exercise, finding, source = REFUSED[name]
    got = verdict(LESSON, LESSON.exercise(exercise), source)
    assert got.outcome is Outcome.FAILED
    assert finding in got.message


# Exercise, points, an answer that meets all requirements but one.
RIGHT_IN_PART = {
    "a window without a batch": (
        "4.1",
        9,
        """
def sliding_window_attention(query, key, value, window):
    n, d = query.shape
    rows = []
    for i in range(n):
        near = slice(max(0, i - window), i + window + 1)
        weights = torch.softmax(key[near] @ query[i] / d**0.5, dim=0)
        rows.append(weights @ value[near])
    return torch.stack(rows)
""",
    ),
    "linear attention without a batch": (
        "4.2",
        7,
        """
def linear_attention(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    return query @ torch.einsum("nd,nv->dv", key, value) / (query @ key.sum(0)).unsqueeze(-1)
""",
    ),
    "dropout in evaluation mode": (
        "4.3",
        9,
        """
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    query, key, value = (
        project(source).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for project, source in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=layer.dropout)
    return layer.W_O(mixed.transpose(-3, -2).flatten(-2))
""",
    ),
}


@pytest.mark.parametrize("name", RIGHT_IN_PART)
def test_what_is_right_in_an_answer_earns_its_points(name: str) -> None:
    exercise, points, source = RIGHT_IN_PART[name]
    got = verdict(LESSON, LESSON.exercise(exercise), source)
    assert got.outcome is Outcome.FAILED
    assert got.points == points


@pytest.mark.parametrize("id", ["4.5", "4.7", "4.4"])
def test_what_stands_in_for_an_exercise_is_right(id: str) -> None:
    found = verdict(LESSON, LESSON.exercise(id), LESSON.exercise(id).stand_in_source, explained=False)
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= PROMISED_ERRORS, wrong
