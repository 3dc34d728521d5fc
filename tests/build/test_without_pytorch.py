"""The self-check of a lesson on NumPy needs no PyTorch, and says what it says with PyTorch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import count

import nbformat
import numpy as np
import pytest

from grader.build.self_check_cell import SelfChecks, needs_pytorch, self_check_source, self_checks, uses_pytorch
from grader.course import lessons
from grader.submission.cells import TOOLS_CELL
from tests.build.computed_self_check import computed_self_checks
from tests.declare.test_written_exercise import LESSON

SCRIPT = '# %% id="start"\nimport numpy as np\n'
ANSWERS = {  # by exercise: right, each declared mistake's kind, and what else students write
    "1.1": [
        "return table.sum(axis=-2)",
        "return np.einsum('...rc->...c', table)",
        "return table.sum(axis=-1)",
        "return table.sum(axis=0)",
        "return table.mean(axis=-2)",
        "return table.sum(axis=-2, keepdims=True)",
        "return table.sum(axis=-2)[..., :1]",
        "return table.sum(axis=-2)[..., ::-1]",
        "return table.sum(axis=-2).astype(np.float32)",
        "return table.sum(axis=-2).astype(int)",
        "return table.sum(axis=-2) > 0",
        "return table.sum(axis=-2) * np.nan",
        "return table.sum(axis=-2) / 0",
        "return table.sum(axis=-2) + 1e-3",
        "return -table.sum(axis=-2)",
        "return 2 * table.sum(axis=-2)",
        "return table.sum()",
        "return float(table.sum())",
        "return table.sum(axis=-2).tolist()",
        "return list(table.sum(axis=-2))",
        "return table.T.sum(axis=-2)",
        "return table",
        "return None",
        "return np.array([None, 'x'])",
        "return np.zeros(table.shape[-1])",
        "table += 1\n    return table.sum(axis=-2)",
        "return table.sum(axis=5)",
        "return tabel.sum(axis=-2)",
        "return table.summ(axis=-2)",
        "return (table.sum(axis=-2), table)",
    ],
    "1.2": [
        "return {'share': sum(len(word) >= least for word in words) / len(words)}",
        "return {'share': sum(len(word) > least for word in words) / len(words)}",
        "return {'share': 1}",
        "return {'part': 0.5}",
        "return 0.5",
        "words.pop()\n    return {'share': 0.5}",
        "return {'share': np.array([0.5, 0.5])}",
    ],
}
HEADS = {"1.1": "def column_sums(table):", "1.2": "def counted(words, least):"}
FILES = count()


@pytest.fixture(scope="module")
def with_pytorch() -> SelfChecks:
    return computed_self_checks(LESSON)


@pytest.fixture(scope="module")
def without(with_pytorch: SelfChecks) -> SelfChecks:
    return self_checks(LESSON, with_pytorch.exercises, SCRIPT)


def said(checks: SelfChecks) -> Callable[[str, str], str]:
    """Return what runs an answer and its self-check as a notebook does, and returns what the check says."""
    names: dict = {"np": np}
    exec(self_check_source(checks), names)

    def run(exercise: str, body: str) -> str:
        cell = f"# @exercise {exercise}\n{HEADS[exercise]}\n    {body}\n"
        file = f"<cell {next(FILES)}>"
        exec(compile(cell, file, "exec"), names)
        names["In"] = [cell]
        try:
            names["check"](exercise)
        except AssertionError as problem:
            return str(problem)
        return "right"

    return run


def test_it_says_the_same_with_and_without(with_pytorch: SelfChecks, without: SelfChecks) -> None:
    assert "torch.py" in without.modules
    assert "torch.py" not in with_pytorch.modules
    one, other = said(with_pytorch), said(without)
    pairs = {body: (one(id, body), other(id, body)) for id, bodies in ANSWERS.items() for body in bodies}
    assert {body: pair for body, pair in pairs.items() if pair[0] != pair[1]} == {}
    missing = "return np.softmax(table)"
    assert "`softmax` is not in numpy, but in torch." in one("1.1", missing)
    assert "torch" not in other("1.1", missing)
    assert sum(pair[0] == "right" for pair in pairs.values()) == 3


def test_it_runs_where_pytorch_is_not_installed(without: SelfChecks) -> None:
    cells = [self_check_source(without), "def column_sums(table):\n    return table.sum(axis=-2)", 'check("1.1")']
    program = f"""
import sys
sys.modules["torch"] = None  # as if it were not installed
for cell in {cells!r}:
    exec(cell, globals())
assert sys.modules["torch"] is None
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "✔ 1.1 column_sums — right" in ran.stdout


def test_an_imported_pytorch_stays_the_students_own(without: SelfChecks) -> None:
    import torch

    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    said(without)("1.1", ANSWERS["1.1"][0])
    after = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    assert after == before
    assert sys.modules["torch"] is torch


def test_the_zip_asks_students_for_pytorch_only_if_a_notebook_needs_it(
    with_pytorch: SelfChecks, without: SelfChecks
) -> None:
    def notebook(checks: SelfChecks, source: str) -> nbformat.NotebookNode:
        tools = nbformat.v4.new_code_cell(f"# @title Self-checks\n{self_check_source(checks)}", id=TOOLS_CELL)
        return nbformat.v4.new_notebook(cells=[tools, nbformat.v4.new_code_cell(source, id="start")])

    assert not needs_pytorch(notebook(without, "import numpy as np"))
    assert needs_pytorch(notebook(without, "import numpy as np\nimport torch"))
    assert needs_pytorch(notebook(with_pytorch, "import numpy as np"))


def test_a_lesson_that_uses_pytorch_keeps_it() -> None:
    plain = [check for exercise in LESSON.exercises for check in exercise.checks]
    own = [check for exercise in lessons()["1-attention"].exercises for check in exercise.checks]
    assert not uses_pytorch(SCRIPT, plain)
    assert uses_pytorch(SCRIPT.replace("numpy as np", "torch"), plain)
    assert uses_pytorch(SCRIPT + "from torch import nn\n", plain)
    assert uses_pytorch(SCRIPT + '# %% provided="attention.heads"\n', plain)
    assert uses_pytorch(SCRIPT, own)
