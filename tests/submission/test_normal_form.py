"""Two codes that do the same under other names, in another order or with idle lines have one normal form."""

from __future__ import annotations

import ast

import pytest

from grader.report.similarity.normal_form import inlined, labels_in, live
from grader.submission.code.traits import MOST_DEPTH, MOST_NODES, is_small, variables, without_docs, words

CODE = "def f(x, scale=2):\n    y = x.exp() @ w\n    return y / scale\n"


def body(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


def lived(source: str, *wanted: str) -> str:
    """The code without its dead parts."""
    return "\n".join(map(ast.unparse, live(body(source), wanted or ("f",))))


def plain(module: list[ast.stmt]) -> str:
    """The code without the numbers of versions."""
    return ast.unparse(ast.Module(module, [])).replace("'1", "")


# ---------------------------------------------------------------- words and variables


def test_words_come_in_the_order_of_the_code_with_the_names_that_are_asked_for() -> None:
    statement = body(CODE)[0].body[0]
    found = [*words(statement, lambda name: "_" if name in "xy" else name)]
    assert [word for word, _ in found] == ["Assign", "_", "BinOp", "Call", ".exp", "_", "MatMult", "w"]
    assert {line for _, line in found} == {2}


def test_a_huge_number_is_written_without_decimals() -> None:
    assert [*words(body(f"0x{'F' * 6_000}")[0], str)] == [("Expr", 1), (f"0x{'f' * 6_000}", 1)]


def test_variables_are_arguments_and_what_is_assigned() -> None:
    assert variables(body(CODE)[0]) == {"x", "scale", "y"}


def test_docstrings_and_annotations_are_left_out() -> None:
    documented = 'def f(x: int) -> int:\n    """Say."""\n    y: int = x\n    return y'
    assert ast.unparse(without_docs(body(documented)[0])) == "def f(x):\n    y = x\n    return y"


@pytest.mark.parametrize(
    ("source", "small"),
    [
        (CODE * 20, True),
        ("x" + " + 1" * (MOST_DEPTH + 1), False),
        ("[" + "0," * MOST_NODES + "]", False),
        ("x" + " + 1" * (MOST_DEPTH - 10), True),
    ],
)
def test_what_is_long_or_deep_is_not_small(source: str, small: bool) -> None:
    assert is_small(body(source)) == small


# ---------------------------------------------------------------- dead code

DEAD = {
    "a value that nobody reads": "    idle = x + 1\n",
    "a chain that nobody reads": "    a = x\n    b = a\n    c = b\n",
    "a counter that only counts itself": "    n = 0\n    n += 1\n    n = n + 1\n",
    "a branch that is never taken": "    if False:\n        x = 0\n        return x\n",
    "a loop that never runs": "    while 0:\n        x = 0\n",
    "a loop over nothing but idle lines": "    for i in range(3):\n        idle = i\n",
    "prints and checks": "    print(x)\n    assert x is not None\n    x.shape\n    pass\n",
    "a function that nobody calls": "    def idle(a):\n        return idle(a)\n",
    "two of several names that nobody reads": "    a, b = x, x\n",
}


@pytest.mark.parametrize("lines", DEAD.values(), ids=DEAD)
def test_what_changes_nothing_is_left_out(lines: str) -> None:
    assert lived(f"def f(x):\n{lines}    return x") == "def f(x):\n    return x"


def test_what_comes_after_the_end_of_a_block_is_left_out() -> None:
    assert lived("def f(x):\n    return x\n    x = 0\n    return x") == "def f(x):\n    return x"
    assert lived("def f(x):\n    if True:\n        return x\n    return 0") == "def f(x):\n    return x"


ALIVE = [
    "def f(x):\n    out = []\n    out.append(x)\n    return x",
    "def f(x):\n    x[0] = 1\n    return x",
    "def f(x):\n    while x:\n        x = g(x)\n    return x",
    "def f(x):\n    a, b = x\n    return b",
    "def f(x):\n    x += 1\n    return x",
    "class f:\n    width = 3",
    "def f(x):\n    for part in x:\n        x.add_(part)\n    return x",
]


@pytest.mark.parametrize("source", ALIVE)
def test_what_may_change_a_result_stays(source: str) -> None:
    assert lived(source) == source


def test_helpers_stay_where_the_answer_calls_them() -> None:
    assert lived("def a(x):\n    return x\ndef b(x):\n    return x\ndef f(x):\n    return a(x)").startswith("def a")
    assert "def b" not in lived("def a(x):\n    return x\ndef b(x):\n    return x\ndef f(x):\n    return a(x)")


# ---------------------------------------------------------------- values in their places

ONE_LINE = "def f(x, m):\n    return softmax(x @ x.T / 2).masked(m), m"


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, m):\n    s = x @ x.T\n    s = s / 2\n    w = softmax(s)\n    return w.masked(m), m",
        "def f(x, m):\n    a = x @ x.T\n    b = softmax(a / 2).masked(m)\n    c = m\n    return b, c",
        "def f(x, m):\n    out = (softmax(x @ x.T / 2).masked(m), m)\n    return out",
        ONE_LINE,
    ],
)
def test_a_value_that_is_used_once_stands_where_it_is_used(source: str) -> None:
    assert plain(inlined(body(source))) == plain(body(ONE_LINE))


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    a = x.exp()\n    return a / a.sum()",
        "def f(x):\n    total = 0\n    for row in x:\n        total = total + row\n    return total",
        "def f(x):\n    a, b = x\n    return a @ b",
        "def f(x):\n    a = x.exp()\n    if x:\n        a = g(a)\n    a = h(a)\n    return a",
        "def f(x):\n    x[0] = 1\n    return x",
    ],
)
def test_a_value_that_is_used_twice_or_set_elsewhere_keeps_its_name(source: str) -> None:
    assert plain(inlined(body(source))) == source


def test_a_variable_that_is_set_again_is_another_one() -> None:
    source = "def f(x):\n    a = x.exp()\n    b = a / a.sum()\n    a = b + b\n    return a * a"
    again = source.replace("a = b + b\n    return a * a", "c = b + b\n    return c * c")
    labels = [labels_in(inlined(body(one)), ["f"]) for one in (source, again)]
    assert sorted(labels[0].variables.values()) == sorted(labels[1].variables.values())


def test_a_long_chain_is_put_together_at_once() -> None:
    lines = "".join(f"    a{n} = a{n - 1} + 1\n" for n in range(1, 600))
    (function,) = inlined(body(f"def f(a0):\n{lines}    return a599\n"))
    assert len(function.body) == 1
    assert sum(1 for _ in words(function, str)) > 1_700


# ---------------------------------------------------------------- labels


def test_a_variable_is_called_what_it_holds() -> None:
    source = (
        "def helper(a):\n    return a\n"
        "def f(self, x, *, mask=None):\n"
        "    w = torch.softmax(x, -1)\n"
        "    q, k = x.chunk(2)\n"
        "    a, b = x @ w, mask\n"
        "    for row in x.unbind():\n        w = w + row\n"
        "    with torch.no_grad() as g:\n        self.kept = nn.Linear(2, 3)\n"
        "    return helper(w)\n"
    )
    labels = labels_in(body(source), ["f"])
    held = {
        name: labels.of_name(name)
        for name in ("x", "mask", "w", "q", "k", "a", "b", "row", "g", "helper", "f", "torch")
    }
    assert held == {
        "x": "<parameter 1>",
        "mask": "<parameter 2>",
        "w": "<Add|softmax>",
        "q": "<chunk 0>",
        "k": "<chunk 1>",
        "a": "<MatMult|parameter 0>",  # helper's parameter has the same name
        "b": "<Name>",
        "row": "<each unbind>",
        "g": "<with>",
        "helper": "a helper",
        "f": "f",
        "torch": "torch",
    }
    assert labels.of_attribute("kept") == ".<Linear>"
    assert labels.of_attribute("softmax") == ".softmax"
