"""The archive of a notebook's self-check: what is in it, and that its modules run wherever a student's kernel does."""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from corpus.judging import self_check
from grader.build.self_check_archive import self_check_files, self_check_modules, self_check_text
from grader.build.self_check_cell import modules, probes
from grader.build.slim import slim
from grader.course import lessons
from grader.declare.lesson import Lesson
from tests.build.computed_self_check import committed_cell, committed_self_checks
from tests.import_graph import ROOT

SMALL = {
    "grader/one.py": "from grader.inner.two import number\n",
    "grader/inner/two.py": "number = {}\ndef fail(): raise ValueError\n",
}


def imported(number: int):
    files = {name: source.replace("{}", str(number)) for name, source in SMALL.items()}
    return self_check_modules(files, ["grader.one", "grader.inner.two"])


def test_an_archive_is_read_as_it_was_written_and_always_the_same() -> None:
    files = {"b/ü.py": "x = 'ü'\n", "a.json": "{}", "empty": ""}
    text = self_check_text(files)
    assert self_check_files(text[:9] + "\n" + text[9:]) == files
    assert self_check_text(dict(reversed(files.items()))) == text


def test_two_archives_in_one_kernel_do_not_mix() -> None:
    installed = {name: module for name, module in sys.modules.items() if name.startswith("grader")}
    first, second = imported(1), imported(2)
    assert (first[0].number, second[0].number) == (1, 2)
    assert installed == {name: module for name, module in sys.modules.items() if name.startswith("grader")}
    with pytest.raises(ImportError, match=r"No module named 'grader\.course'"):
        self_check_modules({"grader/one.py": "from grader.course import lesson"}, ["grader.one"])
    assert installed == {name: module for name, module in sys.modules.items() if name.startswith("grader")}


def test_a_traceback_shows_the_lines_of_a_module() -> None:
    _, two = imported(1)
    with pytest.raises(ValueError) as raised:  # noqa: PT011  (it has no message)
        two.fail()
    assert "def fail(): raise ValueError" in "".join(traceback.format_exception(raised.value))


def test_it_holds_the_modules_of_the_grader_that_a_self_check_needs_and_no_other() -> None:
    """The words of the declarations, the reference and the build are not among them."""
    for name, source in modules().items():
        assert source == slim((ROOT / name).read_text("utf-8"))
    folders = {Path(name).parts[1] for name in modules()}
    assert folders == {"build", "declare", "explain", "judge", "records.py", "sandbox", "submission"}
    assert [name for name in modules() if name.startswith(("grader/declare", "grader/sandbox"))] == [
        "grader/declare/public_numbers.py",
        "grader/sandbox/guest/calling.py",
        "grader/sandbox/text.py",
    ]


@pytest.mark.parametrize("lesson", lessons().values(), ids=lambda lesson: lesson.assignment)
def test_an_archive_gives_no_answer_away(lesson: Lesson) -> None:
    """Neither the source of a right answer nor that of a wrong one is in it."""
    checks = committed_self_checks(lesson.assignment)
    text = "\n".join(checks.modules.values())
    assert not [line for line in text.splitlines() if line.startswith(("from attention", "import attention"))]
    for exercise in lesson.exercises:
        assert set(checks.exercises[exercise.id]) == {
            "name", "defines", "builds on", "bans", "checks", "trials", "wrong answers", "stand-in", "also",
            "points", "defaults",
        }  # fmt: skip
        answers = [inspect.getsource(lesson.reference[name]) for name in exercise.defines]
        wrong = [code for mistake in exercise.mistakes for code in mistake.codes]
        assert not [source for source in map(slim, filter(None, [*answers, *wrong])) if source in text]


@pytest.mark.parametrize("lesson", lessons().values(), ids=lambda lesson: lesson.assignment)
def test_probes_are_packed_without_what_nothing_reads(lesson: Lesson) -> None:
    checks = [check for exercise in lesson.exercises for check in exercise.checks if check.examples]
    source = probes(checks)
    assert source == slim(source)
    scope: dict = {}
    exec(source, scope)
    assert all(check.probe.__name__ in scope for check in checks)


BARE = """
import builtins, os, sys, tempfile

class NoOtherPackage:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"grader", "attention", "nbformat", "nbgrader", "jupytext", "papermill"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoOtherPackage())
def refuse(*args, **options):
    raise OSError("no folder can be written to")
tempfile.mkdtemp = tempfile.mkstemp = os.mkdir = refuse
tools = compile(sys.stdin.read(), "tools", "exec")
names = {"__name__": "__main__"}
exec("from torch import *\\nfrom torch import nn", names)  # `int`, `range` and others have another meaning
names["int"] = names["set"] = names["len"] = names["str"] = names["list"] = None
for _ in range(2):
    exec(tools, names)
    exec("def scaled_scores(query, key):\\n    return query @ key.mT / query.shape[-1] ** 0.5", names)
    names["check"]("1.2")
exec("def scaled_scores(query, key):\\n    return query @ key.mT", names)
try:
    names["check"]("1.2")
except AssertionError as error:
    print(error)
names["carry_on"]("1.3")
assert not [name for name in sys.modules if name.startswith("grader")]
"""


def test_it_runs_twice_in_a_bare_kernel_that_can_write_nowhere(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-P", "-c", BARE],
        input=committed_cell("1-attention"),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["✔ 1.2 scaled_scores — right on 8 small examples."] * 2
    assert lines[2] == "1.2 scaled_scores — You return the plain dot products. Divide them by √d_k."
    assert lines[-2].startswith("☐ stable_softmax is now defined by the course")


def test_expected_values_are_not_rounded() -> None:
    """Weights whose sums were rounded, to 0.99998, have another entropy than the one that normalises them again."""
    lesson = lessons()["2-heads"]
    exercise = lesson.exercise("2.P1")
    right, said = self_check(lesson, exercise, exercise.stand_in_source)
    assert (right, said) == (True, "✔ 2.P1 attention_entropy — right on 6 small examples.\n")
