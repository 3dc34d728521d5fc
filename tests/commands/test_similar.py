"""`grader similar` on a recorded class: a disguised copy is found, what everybody writes tells nothing, and no grade changes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.answers import answers
from grader.classes.gradebook.reader import read_class
from grader.cli import app
from tests.report.recorded_class import record_class

SAME = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1)\n"
ORIGINAL = """
def causal_mask(n):
    rows = torch.arange(n).unsqueeze(1).expand(n, n)
    columns = torch.arange(n).unsqueeze(0).expand(n, n)
    late = (columns - rows).clamp(min=0)
    return late.bool().logical_not()


def padding_mask(lengths, max_length):
    steps = torch.ones(len(lengths), max_length).cumsum(-1)
    return (steps <= lengths.reshape(-1, 1)).unsqueeze(1)
"""
COPY = '''
def padding_mask(a, b):
    """Mask what is behind the end."""
    unused = a
    c = torch.ones(len(a), b).cumsum(-1)
    return (c <= a.reshape(-1, 1)).unsqueeze(1)


def causal_mask(n):
    other = torch.arange(n).unsqueeze(0).expand(n, n)
    print(n)
    mine = torch.arange(n).unsqueeze(1).expand(n, n)
    return later(other - mine).bool().logical_not()
'''
HELPER = "def later(steps):\n    return steps.clamp(min=0)\n"
BROKEN = "def causal_mask(n:\n    return '<script>alert(1)</script>'"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a class in which everybody has another answer to 1.5, but for one pair; and the same to 1.1."""
    folder = tmp_path_factory.mktemp("class")
    others = [answer.source for answer in answers() if answer.exercise == "1.5"][:20]
    students = {f"s{place:02}": {"1.1": SAME, "1.5": source} for place, source in enumerate(others)}
    students |= {"zoë": {"1.1": SAME, "1.5": ORIGINAL}, "adam": {"1.1": SAME, "1.5": COPY}}
    students |= {"broken": {"1.1": SAME, "1.5": BROKEN}, "deep": {"1.1": SAME, "1.5": "(" * 9_000}}
    record_class(folder, "1-attention", students, own={"adam": HELPER})
    return folder


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'gradebook.db'}"


def call(folder: Path, *more: str):
    return CliRunner().invoke(app, ["similar", "--gradebook", url_of(folder), *more], env={"COLUMNS": "200"})


def test_a_disguised_copy_is_found_and_nobody_else(recorded: Path, tmp_path: Path) -> None:
    before = read_class(url_of(recorded), "default_course")
    lines, page = tmp_path / "pairs.jsonl", tmp_path / "similar.html"
    result = call(recorded, "--json", str(lines), "--html", str(page))
    assert result.exit_code == 0, result.output
    (found,) = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert (found["assignment"], found["exercise"], found["students"]) == ("1-attention", "1.5", ["adam", "zoë"])
    assert found["share"] > 0.75
    assert "adam and zoë" in result.output
    assert "1.1" in result.output
    assert "the answers are too alike" in result.output  # the terminal's width may break the line
    shown = page.read_text("utf-8")
    assert "torch.ones(len(lengths), max_length).cumsum(-1)" in shown
    assert "torch.ones(len(a), b).cumsum(-1)" in shown
    assert "steps.clamp(min=0)" in shown, "the helper of the copy, in a cell of its own"
    assert "too long or nested too deeply: broken, deep" in shown
    assert read_class(url_of(recorded), "default_course") == before, "no points and no flag"


def test_a_notebook_that_is_gone_or_broken_is_named_and_stops_nothing(recorded: Path, tmp_path: Path) -> None:
    away = recorded / "autograded" / "s00" / "1-attention" / "1-attention.ipynb"
    kept = away.read_bytes()
    try:
        away.write_bytes(b"[" * 100_000)
        result = call(recorded)
        os.remove(away)
        again = call(recorded)
    finally:
        away.write_bytes(kept)
    for one in (result, again):
        assert one.exit_code == 0
        assert "of s00. Grade the class again." in one.output
        assert "adam and zoë" in one.output


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--assignment", "4-none"], "no assignment '4-none'. Choose one of"),
        (["--assignment", "2-heads"], "the gradebook contains no submission of '2-heads'"),
        (["--html", "/proc/similar.html"], "cannot write /proc/similar.html"),
    ],
)
def test_a_wrong_use_is_one_line_and_status_2(recorded: Path, more: list[str], said: str) -> None:
    result = call(recorded, *more)
    assert result.exit_code == 2
    assert said in result.output


def test_without_a_gradebook_it_says_so(tmp_path: Path) -> None:
    assert call(tmp_path).exit_code == 2
