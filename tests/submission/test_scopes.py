"""What the statements of a cell bind and refer to, by Python's scopes."""

from __future__ import annotations

import pytest

from grader.submission.code.scopes import Reference, Statement, statements_of_cell


def only(source: str) -> Statement:
    [statement] = statements_of_cell(source)
    return statement


def test_a_name_that_a_function_binds_is_not_read_from_outside() -> None:
    read = only("def f(x, *more, key=1, **rest):\n    output = x + bias\n    return output, more, rest, key")
    assert read.binds == {"f"}
    assert read.reads_when_called == {"bias"}
    assert not read.reads


@pytest.mark.parametrize(
    "body",
    [
        "for name in x: name",
        "with x as name: name",
        "import os as name; name",
        "(name := x); name",
        "[name for name in x]",
        "{name: name for name in x}",
        "(lambda name: name)(x)",
        "def name(): pass\n    name",
        "class name: pass\n    name",
        "try: x\n    except ValueError as name: name",
        "match x:\n        case [name, *_]: name",
        "match x:\n        case {'k': 1, **name}: name",
        "name = 1\n    def inner(): return name",
        "name = 1\n    def inner():\n        nonlocal name\n        name = 2\n    inner()",
    ],
)
def test_every_way_to_bind_a_name_makes_it_local(body: str) -> None:
    assert "name" not in only(f"def f(x):\n    {body}").reads_when_called


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return name",
        "def f():\n    global name\n    name = 1\n    return name",
        "class A:\n    name = 1\n    def forward(self): return name",  # a method does not see names of its class
        "f = lambda: [name for x in y]",
    ],
)
def test_what_is_read_from_outside(source: str) -> None:
    assert "name" in statements_of_cell(source)[0].reads_when_called


def test_defaults_and_decorators_are_read_as_the_cell_runs() -> None:
    assert only("@wrap(a)\ndef f(x=b) -> c:\n    return d").reads == {"wrap", "a", "b", "c"}
    assert only("class A(Base, meta=m):\n    width = n").reads == {"Base", "m", "n"}


def test_a_cell_is_read_statement_by_statement() -> None:
    source = "if a:\n    x = 1\nelse:\n    x = 2\nfor i in b:\n    y = i\nwith c as d:\n    z = d"
    bound = [(set(one.binds), one.is_certain) for one in statements_of_cell(source) if one.binds]
    assert bound == [({"x"}, False), ({"x"}, False), ({"i"}, False), ({"y"}, False), ({"d"}, True), ({"z"}, False)]


@pytest.mark.parametrize(
    "source",
    [
        "if False:\n    name",
        "if 0:\n    name",
        "if not True:\n    name",
        "if False and x:\n    name",
        "while False:\n    name",
        "if True:\n    1\nelse:\n    name",
        "x = 1 if True else name",
        "def f():\n    return 1\n    name",
        "def f(x):\n    if x:\n        raise x\n        name",
        "def f():\n    for x in y:\n        continue\n        name",
    ],
)
def test_code_that_can_never_run_is_left_out(source: str) -> None:
    statements = statements_of_cell(source)
    assert not any("name" in one.reads | one.reads_when_called for one in statements)


def test_an_import_is_read_name_by_name() -> None:
    first, second = statements_of_cell("from torch.nn import Linear, MultiheadAttention as Mha")
    assert (first.binds, second.binds) == ({"Linear"}, {"Mha"})
    assert second.references == {Reference("MultiheadAttention", "")}
    inside = only("def f(x):\n    from torch import softmax as s, relu\n    return s(x)")
    assert inside.references == {Reference("softmax", "")}


@pytest.mark.parametrize(
    "call",
    [
        "getattr(F, 'softmax')",
        "getattr(F, 'soft' + 'max')",
        "getattr(F, f'soft{\"max\"}')",
        "attrgetter('nn.softmax')(torch)",
        "vars(F)['softmax']",
        "vars(F).get('softmax')",
        "F.__dict__['softmax']",
        "globals()['softmax']",
        "eval('F.softmax(x, 1)')",
        "importlib.import_module('softmax')",
    ],
)
def test_a_text_counts_where_a_name_is_looked_up(call: str) -> None:
    assert "softmax" in {reference.name for reference in only(f"def f(): return {call}").references}


@pytest.mark.parametrize("call", ["print('softmax')", "plt.title('softmax')", "styles['softmax']", "d.get('softmax')"])
def test_any_other_text_does_not_count(call: str) -> None:
    assert "softmax" not in {reference.name for reference in only(f"def f(): return {call}").references}


def test_a_method_that_only_a_name_reaches_stands_alone() -> None:
    source = "class A(nn.Module):\n    def forward(self): return a\n    def explain(self): return b"
    whole, alone = statements_of_cell(source)
    assert (whole.binds, whole.reads_when_called) == ({"A"}, {"nn", "a"} - {"nn"})
    assert (alone.binds, alone.reads_when_called) == ({".explain"}, {"b"})


def test_code_below_a_switch_stands_alone_unless_the_switch_is_local() -> None:
    whole, below = statements_of_cell("def f(x):\n    if DEBUG:\n        print(a)\n    return x")
    assert whole.reads_when_called == {"DEBUG"}
    assert (below.binds, below.reads_when_called) == ({"?DEBUG"}, {"print", "a"})
    assert only("def f(x, debug):\n    if debug:\n        return a").reads_when_called == {"a"}


def test_what_a_statement_changes_of_a_global() -> None:
    assert only("Layer.forward = forward").changes == {"Layer"}
    assert only("table['key'].part = 1").changes == {"table"}
    assert only("setattr(Layer, 'forward', f)").changes == {"Layer"}
    assert not only("def f(layer):\n    layer.part = 1").changes


@pytest.mark.parametrize("source", ["def f(x:", "", "%%time", "x = " + "(" * 3000 + ")" * 3000])
def test_what_python_cannot_read_has_no_statements(source: str) -> None:
    assert statements_of_cell(source) == ()


@pytest.mark.parametrize("expression", ["+".join(["x"] * 3000), "x" + ".y" * 3000, "lambda: " * 300 + "x"])
def test_long_and_deep_code_is_read(expression: str) -> None:
    assert statements_of_cell(f"def f():\n    return {expression}") is not None


@pytest.mark.parametrize(
    "source",
    [
        "0 and (name := None)",
        "[x for x in () if (name := x)]",
        "with suppress(E):\n    1/0\n    name = None",
        "name: int",
    ],
)
def test_what_may_not_run_binds_nothing_for_certain(source: str) -> None:
    assert not any("name" in one.binds and one.is_certain for one in statements_of_cell(source))


def test_a_function_is_bound_for_certain_whatever_is_in_it() -> None:
    assert only("def f(x):\n    while (n := next(x)):\n        return n").is_certain


@pytest.mark.parametrize(
    "source",
    [
        "def load():\n    global t\n    from torch import softmax as t",
        "match 1:\n    case 1:\n        from torch import softmax as t",
        "class Box:\n    from torch import softmax as go",
        "class Box:\n    softmax = softmax",
    ],
)
def test_what_is_imported_for_others_is_referred_to(source: str) -> None:
    [one, *_] = statements_of_cell(source)
    assert "softmax" in {reference.name for reference in one.references} | one.reads
