"""Which probes may wait for the cells that follow."""

import nbformat
import pytest

from grader.grading.batching import batch_probes, defined_alone


def asked(*sources: str, own: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> list[int]:
    """For each cell that runs, the number of the one after which is asked."""
    cells = [nbformat.v4.new_code_cell(source, id=f"exercise-{number}") for number, source in enumerate(sources)]
    found = batch_probes(nbformat.v4.new_notebook(cells=cells), skip, own)
    return [int(one.rpartition("-")[2]) for one in found.values()]


def test_what_only_defines_new_names_is_waited_for() -> None:
    assert asked("import math", "def f(x): return x", "class C(Base):\n    def g(self): return f(1)") == [2, 2, 2]


@pytest.mark.parametrize(
    "second",
    [
        "def f(x): return 2",  # defines it anew
        "def helper(x): return 2",  # is what it calls
        "def sum(x): return 2",  # hides what it calls
        "f.cache = {}",
        "from math import *",
        "x = 1",
        "def g(x",
        "%time\ndef g(x): return x",
    ],
)
def test_what_may_change_an_answer_is_not(second: str) -> None:
    assert asked("def f(x): return sum(helper(x))", second) == [0, 1]


def test_where_code_looks_around_nothing_waits() -> None:
    assert asked("def f(x): return globals()['g'](x)", "def g(x): return x", "def h(x): return x") == [0, 1, 2]


def test_cells_that_do_not_run_are_not_waited_for() -> None:
    assert asked("def f(x): return x", "f = None", "def g(x): return x", skip=("exercise-1",)) == [2, 2]
    assert asked("def f(x): return x", "  ", "def g(x): return x") == [2, 2]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("# a comment", set()),
        ('"""Words."""\ndef f(x: Tensor | None = None, *, n: int = -1) -> list[int]:\n    return print(x)', {"f"}),
        ('class C(nn.Module):\n    """Words."""\n    def __init__(self): pass\n    class D: pass', {"C"}),
        ("@decorated\ndef f(x): return x", None),
        ("def f(x=print(1)): return x", None),
        ("def f(x: print(1)): return x", None),
        ("def f(*, x=[print(n) for n in y]): return x", None),
        ("def f(*x: print(1)): return x", None),
        ("def f(x) -> print(1): return x", None),
        ("class C(made()): pass", None),
        ("class C(metaclass=M): pass", None),
        ("class C:\n    x = 1", None),
        ("class C:\n    @property\n    def x(self): return 1", None),
        ("if True:\n    def f(x): return x", None),
        ("def f(x", None),
    ],
)  # fmt: skip
def test_what_is_only_defined(source: str, names: set[str] | None) -> None:
    assert defined_alone(source) == names
