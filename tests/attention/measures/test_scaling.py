"""What an attention costs, measured."""

import matplotlib.pyplot as plt
import pytest
import torch
from attention.efficient import linear_attention
from attention.measures.scaling import Cost, cost_of, dense_attention, show_scaling, slope
from torch.nn import functional as F


def test_dense_attention_is_pytorchs():
    query, key, value = torch.randn(3, 5, 2), torch.randn(3, 7, 2), torch.randn(3, 7, 11)
    torch.testing.assert_close(dense_attention(query, key, value), F.scaled_dot_product_attention(query, key, value))


def test_slope_by_hand():
    assert slope({2: 3.0, 4: 12.0, 8: 48.0}) == pytest.approx(2.0)
    assert slope({1: 9.0, 10: 1.0, 20: 2.0, 40: 4.0, 80: 8.0}) == pytest.approx(1.0)  # the last four


def test_memory_is_what_is_alive_at_once():
    n = 256
    cost = cost_of(dense_attention, n, width=8)
    weights = n * n * 4 / 1e6
    assert cost.seconds > 0
    assert 2 * weights <= cost.megabytes < 3.2 * weights  # the scores before and after, and little else
    assert cost_of(linear_attention, n, width=8).megabytes < weights


def test_the_profiler_writes_nothing(capfd):
    cost_of(dense_attention, 16)
    assert capfd.readouterr().err == ""


def test_the_figure_says_the_slopes(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    show_scaling({"square": {n: Cost(n**2, n) for n in (2, 4, 8)}, "even": {n: Cost(n, 7.0) for n in (2, 4, 8)}})
    time, memory = plt.gcf().axes
    assert [text.get_text() for text in time.get_legend().get_texts()] == ["square: slope 2.0", "even: slope 1.0"]
    assert [text.get_text() for text in memory.get_legend().get_texts()] == ["square: slope 1.0", "even: slope 0.0"]
    assert plt.gcf().get_facecolor() == (1, 1, 1, 1)
    plt.close("all")
