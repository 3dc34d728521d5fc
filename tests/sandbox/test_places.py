"""Where an exception was raised, as a real sandbox reports it: honest code, magics, and code that forges."""

import pytest
import torch

from grader.records import GIVEN, Evidence, Place, Request, Status
from grader.sandbox.connection import Sandbox

PROBE = "def probe(f, x):\n    return {'y': f(x)}"


def ask(python: Sandbox) -> Evidence:
    inputs = {"x": torch.ones(2, 3, 5)}
    return python.call(Request(key="1.1/v", source=PROBE, function="probe", trials={"0": inputs}, seconds=20))["0"]


def ran(python: Sandbox, source: str) -> Place:
    return python.run_cell(source, seconds=20, cell="cell").place


def test_the_innermost_line_of_the_students_code_and_the_shapes_it_names(python: Sandbox) -> None:
    ran(
        python,
        "import torch\ndef f(x):\n    y = x.mean(\n        (0, 1))\n    return torch.matmul(\n        x,\n        y[:2])",
    )
    got = ask(python)
    assert (got.error, got.place) == (
        "RuntimeError",
        Place(cell="cell", line=5, shapes=(("x", (2, 3, 5)), ("y", (5,)))),
    )


def test_given_code_that_the_line_called_is_reported_beside_it(python: Sandbox) -> None:
    python.run_cell("\ndef given(x):\n    return x.view(7)", seconds=20, origin=GIVEN, cell="lesson")
    ran(python, "def f(x):\n    return given(x)")
    assert ask(python).place == Place(
        cell="cell", line=2, shapes=(("x", (2, 3, 5)),), given_cell="lesson", given_line=3
    )
    python.run_cell("f = given", seconds=20, origin=GIVEN, cell="other")
    assert ask(python).place == Place(given_cell="lesson", given_line=3)


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("x = 1\ny = (x", 2, 5),
        ("\n\n  \nx = 1\ny = (x", 5, 5),
        ("%time x = 1\n!true\ny = (x", 3, 5),
        ("x = 1\r\ny = (x", 2, 5),
        ("if True:\nx = 1", 2, 1),
        ("x = 1\nreturn x", 2, 1),
        ("x = 1\ny = '\0'", 2, 0),
        ("x = 1\ny = " + "-" * 99_999 + "1", 2, 0),
        ("x = 1\nimport gone", 2, 0),
        ("\n\nx = 1\nimport gone", 4, 0),
        ("!true \\\n  && true\nimport gone", 3, 0),
        ("await None", 1, 0),
        ("get_ipython().run_cell('1\\n\\n1 / 0')\nimport gone", 2, 0),
    ],
)
def test_a_cell_that_stops(python: Sandbox, source: str, line: int, column: int) -> None:
    assert ran(python, source) == Place(cell="cell", line=line, column=column)


def test_a_cell_that_ends_well_has_no_place(python: Sandbox) -> None:
    assert ran(python, "x = 1") == Place()


def test_python_and_not_ipython_says_what_does_not_parse(python: Sandbox) -> None:
    result = python.run_cell("x = (1", seconds=20, cell="cell")
    assert result.message == "'(' was never closed (<cell>, line 1)"


FORGED = {
    "a traceback that raises": "class E(Exception):\n    __traceback__ = property(lambda s: 1 / 0)\ndef f(x): raise E",
    "a traceback of a million entries": (
        "import sys, types\ndef f(x):\n    t = None\n    for _ in range(10 ** 6):\n"
        "        t = types.TracebackType(t, sys._getframe(), 0, 10 ** 9)\n    raise ValueError().with_traceback(t)"
    ),
    "a line far away": "exec(compile('\\n' * 10 ** 6 + 'def f(x): 1 / 0', (lambda: 0).__code__.co_filename, 'exec'))",
    "a negative line": "import types\ndef f(x):\n    raise ValueError().with_traceback(\n"
    "        types.TracebackType(None, __import__('sys')._getframe(), 0, -5))",
    "text that is no text": "class S(str):\n    def __str__(self): return 5\n    __len__ = None\n"
    "class E(Exception):\n    def __str__(self): return S('x')\ndef f(x): raise E",
    "a tensor that lies": (
        "import torch\nclass T(torch.Tensor):\n    shape = property(lambda s: 1 / 0)\n    size = None\n"
        "    __class__ = property(lambda s: 1 / 0)\n    def __torch_function__(*a, **k): raise SystemExit\n"
        "def f(x):\n    y = torch.Tensor.as_subclass(x, T)\n    return y.gone"
    ),
    "no tensor": "import torch\nclass T:\n    __class__ = torch.Tensor\ndef f(x):\n    y = T()\n    return y.gone",
    "ten thousand names": "def f(x):\n    return " + " + ".join(f"(x{n} := x)" for n in range(9999)) + " + gone",
    "another report": "import sys\nsys.modules['guest.places'].place_in_probe = lambda e: {'cell': [], 'line': 'x', "
    "'shapes': [[{}, 10 ** 300]] * 99, 'given': {}}\ndef f(x): raise KeyError",
    "a report that is none": "import sys\nsys.modules['guest.places'].place_in_probe = lambda e: [[]] * 10 ** 5\n"
    "def f(x): raise KeyError",
    "a huge report": "import sys\nsys.modules['guest.places'].place_in_probe = lambda e: {'cell': 'x' * 10 ** 7}\n"
    "def f(x): raise KeyError",
    "a report that is no JSON": "import sys\nsys.modules['guest.places'].place_in_probe = lambda e: {1j: e}\n"
    "def f(x): raise KeyError",
    "a builtin replaced": "import builtins\nbuiltins.isinstance = builtins.int = None\ndef f(x): raise KeyError",
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_forges_a_place_breaks_nothing(python: Sandbox, name: str) -> None:
    ran(python, FORGED[name])
    got = ask(python)
    assert got.status in (Status.RAISED, Status.REFUSED, Status.DIED), got
    assert got.place.cell in ("cell", "")
    assert len(repr(got.place)) < 1000
    ran(python, "def f(x):\n    return 2 * x")
    if name != "a builtin replaced":
        assert ask(python).status is Status.OK
