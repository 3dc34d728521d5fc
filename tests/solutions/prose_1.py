"""The prose of lesson 1 as one text, and what ties a test to a place in it.

`said` and `numbers` hold a number; `claims` ties a test to the sentence whose reason it tests; `unheld` finds the numbers
of the prose that no test names.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.scripts import cells_of

SCRIPT = Path(__file__).resolve().parents[2] / "solutions" / "1-attention.py"
# The prose, without comment signs and line breaks.


PROSE = re.sub(r"\s+", " ", re.sub(r"^# ?", "", SCRIPT.read_text("utf-8"), flags=re.MULTILINE))


NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?"


def place(pattern: str) -> re.Match:
    """The one place where the prose says this; `#` stands for a number.

    A place that is not there, or is there twice, is an error: the test would check nothing, or not all.
    """
    places = list(re.finditer(as_regex(pattern), PROSE))
    assert len(places) == 1, f"{len(places)} places say {pattern!r}"
    return places[0]


def as_regex(pattern: str) -> str:
    return re.escape(pattern).replace(r"\#", f"({NUMBER})")


def numbers(pattern: str) -> list[float]:
    """The numbers in the one place where the prose says this."""
    return [float(number.replace("−", "-").replace(",", "")) for number in place(pattern).groups()]


def said(pattern: str, *expected: float, decimals: int | None = None) -> None:
    """The prose says these numbers, rounded to so many decimals; without `decimals`, to as many as are written."""
    written = place(pattern).groups()
    assert len(written) == len(expected)
    for text, one, right in zip(written, numbers(pattern), expected, strict=True):
        digits = len(text.partition(".")[2]) if decimals is None else decimals
        assert abs(one - right) <= 0.5 * 10**-digits + 1e-6, f"{pattern!r}: {one}, but it is {right:.6f}"


def claims(sentence: str) -> None:
    """The prose says this, once: the test that calls this holds the reason that the sentence gives."""
    places = PROSE.count(sentence)
    assert places == 1, f"{places} places say {sentence!r}"


def markdown(details: bool = True) -> str:
    """The text that a reader reads: no code, pictures or addresses; without `details`, no hints and mark schemes."""
    cells = [cell.source for cell in cells_of("1-attention") if cell.cell_type == "markdown"]
    text = "\n\n".join(cells)
    for taken_out in (r"```.*?```", r"!\[.*?\]\(.*?\)", r"(?<=\])\(.*?\)"):
        text = re.sub(taken_out, "", text, flags=re.DOTALL)
    if not details:
        text = re.sub(r"<details>.*?</details>|=== BEGIN.*?=== END.*?===", "", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


def held() -> tuple[str, ...]:
    """The patterns of all calls of `said`, `numbers` and `claims` in lesson 1's tests."""
    files = sorted(Path(__file__).parent.glob("test_numbers_1*.py"))
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    return tuple(
        node.args[0].value
        for node in nodes
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("said", "numbers", "claims")
        and isinstance(node.args[0], ast.Constant)
    )


def unheld(text: str, patterns: tuple[str, ...]) -> list[str]:
    """The bold numbers, decimal fractions and percentages of a text that stand in no place that a pattern finds."""
    for pattern in patterns:
        text = re.sub(as_regex(pattern), " ", text)
    return re.findall(r"\*\*[−-]?\d[\d.,]*\*\*|(?<![\w.])\d+\.\d+(?=[^\w.]|\. |$)|\d+(?= %)", text)
