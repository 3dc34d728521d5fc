"""Names in source text."""

import pytest

from grader.submission.code.source import LONG, parsed


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1; y: int = 2; z += 1", {"x", "y", "z"}),
        ("(a, [b, *c]) = d", {"a", "b", "c"}),
        ("for i, (j, k) in pairs:\n    m = i", {"i", "j", "k", "m"}),
        ("with open('f') as file:\n    text = file.read()", {"file", "text"}),
        ("try:\n    a = 1\nexcept OSError:\n    b = 2\nelse:\n    c = 3\nfinally:\n    d = 4", {"a", "b", "c", "d"}),
        ("import torch.nn as nn, os.path\nfrom a import b as c", {"nn", "os", "c"}),
        ("def f(x):\n    y = x\nclass C:\n    z = 1", {"f", "C"}),
        ("a[0] = 1; b.c = 2; del d", set()),
        ("%matplotlib inline\n!ls\nx = 1", {"x"}),
    ],
)
def test_what_a_cell_binds(source: str, names: set[str]) -> None:
    assert parsed(source).bound == names


def test_a_module_is_the_same_however_it_is_imported_names() -> None:
    one, other = "import torch.nn.functional as F", "from torch.nn import functional as F"
    assert parsed(one).imports == parsed(other).imports == {("F", "torch.nn.functional")}
    assert parsed("from . import a").imports == {("a", "a")}


@pytest.mark.parametrize(
    "source",
    ["if a:\n    x = 1\n" + "elif a:\n    y = 2\n" * 2_000, "x = y = " + "lambda: " * 900 + "a"],
    ids=["elif", "lambda"],
)
def test_code_that_is_nested_deeper_than_python_calls_is_read(source: str) -> None:
    assert parsed(source).bound == {"x", "y"}
    assert parsed(source).free == {"a"}


def test_what_does_not_parse_binds_nothing_known() -> None:
    assert parsed("def f(:").bound is None
    assert parsed("def f(:").free == frozenset()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("print(x)", {"print", "x"}),
        ("x = 1\nprint(x)", {"print"}),
        ("def f(a):\n    b = a @ w\n    return [c for c in b]", {"w"}),
        ("class C(nn.Module):\n    def forward(self, x):\n        return helper(x)", {"nn", "helper"}),
        ("def f():\n    def g():\n        return far\n    return g", {"far"}),
        ("x.attribute = y.other", {"x", "y"}),
    ],
)
def test_what_a_cell_takes_from_the_notebook(source: str, names: set[str]) -> None:
    assert parsed(source).free - {"__name__", "__module__", "__qualname__"} == names


def test_a_large_cell_that_stands_in_every_submission_is_read_once() -> None:
    source = f"provided = 1\n# {'x' * LONG}"
    first, again = (parsed(str(source.encode(), "utf-8")) for _ in range(2))
    assert first is again
    assert first.bound == {"provided"}


def test_a_line_that_begins_with_an_operator_is_no_magic() -> None:
    source = "odd = (\n    number\n    % 2\n)\ndef is_odd():\n    return odd"
    assert parsed(source).bound == {"odd", "is_odd"}
    assert parsed(source).free == {"number"}
    assert parsed("%time x = 1\n" + "y = 2").bound == {"y"}


def test_a_definition_below_a_magic_has_its_own_names() -> None:
    assert parsed("%load_ext autoreload\ndef twice(x):\n    return double(x)").definitions["twice"] >= {"double"}
