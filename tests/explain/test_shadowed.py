"""A name with another meaning, and a package that is not there, are named as the cause."""

from __future__ import annotations

import pytest

from grader.explain.exceptions.meaning import not_installed, shadowed
from grader.judge.reach import StudentCode

RAISED = "line 2: `n = len(x)`: TypeError: 'int' object is not callable"


def test_a_shadowed_name_is_named_with_the_line_that_binds_it() -> None:
    code = StudentCode("def f(x):\n    n = len(x)\n    return n", ["len = 5"])
    assert shadowed(code, ["f"], (), RAISED) == (
        "`len` has another meaning here, because your code has `len = 5`. Give your own variable another name."
    )


@pytest.mark.parametrize(
    ("answer", "before", "message"),
    [
        ("def f(x):\n    n = len(x)\n    return n", "length = 5", RAISED),
        ("def f(x):\n    len = 3\n    return len(x)", "len = 5", RAISED),  # its own name, and no global
        ("def f(x):\n    n = len(x)\n    return n", "len = 5", "off by 0.3, allowed 1e-05"),
        (
            "def f(x):\n    n = len(x)\n    return n",
            "len = 5",
            "line 2: `return y`: NameError: name 'y' is not defined",
        ),
        ("def f(x):\n    n = math.sqrt(x)", "import math", "line 2: `n = math.sqrt(x)`: TypeError: a float"),
    ],
)
def test_nothing_is_said_of_other_names(answer: str, before: str, message: str) -> None:
    assert shadowed(StudentCode(answer, [before]), ["f"], (), message) == ""


def test_a_package_that_is_not_installed() -> None:
    hint = not_installed("your cell stopped at line 1: ModuleNotFoundError: No module named 'einops.layers'")
    assert hint.startswith("`einops` is not installed where notebooks are graded.")
    assert "torch.einsum" in hint
    assert not_installed("TypeError: no") == ""
