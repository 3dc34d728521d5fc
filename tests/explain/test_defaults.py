"""Defaults that differ from the task's: which are found, what the answer is with the task's, and when that explains it."""

import pytest
import torch

from grader.explain.defaults import explain_default, find_default, with_task_defaults, wrong_defaults
from grader.explain.explain import explain
from tests.explain.test_explain import candidate, trial

LAYER = """class Layer:
    def __init__(self, width, p=0.1, *, mode='é', axis=-2):
        self.p = p

    def forward(self, x, mask=None):
        return x
"""
TASK = {"Layer.__init__": {"p": 0.0, "mode": "é", "axis": -1}, "Layer.forward": {"mask": None}}


def test_each_default_that_differs_is_found_and_replaced():
    wrong = wrong_defaults(LAYER, TASK)
    assert [(one.parameter, one.got, one.expected, one.place[0]) for one in wrong] == [
        ("p", 0.1, 0.0, 2),
        ("axis", -2, -1, 2),
    ]
    assert with_task_defaults(LAYER, wrong) == LAYER.replace("p=0.1", "p=0.0").replace("axis=-2", "axis=-1")
    assert explain_default(wrong).says == (
        "Line 2: the default of `p` is 0.1; the task asks for 0.0. The default of `axis` is -2; the task asks for -1."
    )


def test_lines_are_counted_as_python_counts_them():
    source = "TEXT = 'a\x0b\u2028b'\r\ndef f(x, p=1):\r    return p\n"
    wrong = wrong_defaults(source, {"f": {"p": 0.0}})
    assert with_task_defaults(source, wrong) == source.replace("p=1", "p=0.0")


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, p=0): pass",  # 0 is 0.0
        "def f(x, p=math.pi / 2): pass",  # not a constant
        "def f(x, q=1): pass",
        "def f(x, p): pass",
        "def g(x, p=1): pass",
        "def f(x, p=1",
    ],
)
def test_nothing_is_found_where_no_constant_differs(source: str):
    assert wrong_defaults(source, {"f": {"p": 0.0}}) == []


def test_a_default_is_named_only_if_the_task_s_makes_the_failed_check_right():
    def found(*answers: bool):
        checks, passed = ["values", "values", "more"], [False, False, False]
        return find_default(LAYER, TASK, checks, passed, "values", lambda sources, trials: [answers])

    assert found(True, True).line == 2
    assert found(True, False) is None
    assert found(True, None) is None


def test_a_default_comes_before_a_mistake_that_gives_the_same():
    odd = torch.tensor([[3.1, 0.2, -7.7], [0.05, 1.9, 4.2]])
    seen, other = [trial(odd)], candidate(odd)
    mistake = explain(seen, [other], LAYER, None, TASK)
    assert mistake.kind == "mistake"
    assert (
        explain(seen, [other], LAYER, lambda sources, trials: [[True] * len(trials)] * len(sources), TASK).kind
        == "default"
    )
    source = "def f(x, p=0.1):\n    return x * p"
    assert explain(seen, [], source, None, {"f": {"p": 0.0}}).kind == "default"  # it is so, whatever else there is
    assert explain(seen, [], source, None, {"f": {"p": None}}) is None
