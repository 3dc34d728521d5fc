"""`grader check`: what it says where nothing can be graded."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from grader.commands.check import CheckOptions, run
from grader.commands.console import Terminal

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "1-attention" / "1-attention.ipynb"


def test_a_course_that_was_never_built_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    said = StringIO()
    terminal = Terminal(out=Console(file=StringIO()), err=Console(file=said, width=500))
    assert run(CheckOptions(notebook=NOTEBOOK, root=tmp_path), terminal) == 1
    missing = tmp_path / "notebooks" / "1-attention" / "1-attention.ipynb"
    assert said.getvalue() == f"grader: {missing} is missing; run: grader build\n"
