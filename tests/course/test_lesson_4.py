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


@pytest.mark.parametrize("id", ["4.5", "4.7", "4.4"])
def test_what_stands_in_for_an_exercise_is_right(id: str) -> None:
    found = verdict(LESSON, LESSON.exercise(id), LESSON.exercise(id).stand_in_source, explained=False)
    wrong = {check.name: check.message for check in found.checks if check.outcome is not Outcome.PASSED}
    assert wrong.keys() <= PROMISED_ERRORS, wrong
