"""Every command of the README and of docs/ runs, or a comment before it says why it cannot run here.

A block is run in a course with one submission, unless one of these comments, which readers do not see, stands before it:
`<!-- not run: REASON -->`, or `<!-- run by: FILE -->`, where the file holds each of its commands.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from nbgrader.apps.nbgraderapp import NbGraderApp

from grader.cli import app
from tests.warm_python import run_line

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GRADER = typer.main.get_command(app)
COMMANDS = GRADER.commands
OPTIONS = {option for parameter in GRADER.params for option in parameter.opts}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
NBGRADER = set(NbGraderApp().subcommands)
FENCE = re.compile(r"(?:^<!-- (not run|run by): ([^\n]+) -->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:grader|make|nbgrader|python -m) [^`\n]+)`")
EXAMPLE = ROOT / "notebooks" / "1-attention" / "1-attention.ipynb"


def blocks(page: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the shell blocks of a page: the kind of their mark or "", its text, and their commands."""
    for kind, text, lines in FENCE.findall(page.read_text("utf-8")):
        commands = [line.partition(" #")[0].strip() for line in lines.splitlines()]
        yield kind, text, [command for command in commands if command]


TO_RUN = [
    pytest.param(command, id=f"{page.name}: {command}")
    for page in PAGES
    for kind, _, commands in blocks(page)
    if not kind
    for command in commands
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a copy of the course with a class of one."""
    folder = tmp_path_factory.mktemp("commands")
    for name in ("solutions", "notebooks", "source", "grader", "README.md", "LICENSE"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("nbgrader_config.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    submission = folder / "submitted" / "zoe" / "1-attention" / "1-attention.ipynb"
    submission.parent.mkdir(parents=True)
    shutil.copy(EXAMPLE, submission)
    return folder


@pytest.mark.fast_cases(
    "README.md: grader check submitted/zoe/1-attention/1-attention.ipynb",
    "README.md: grader doctor",
    "instructors.md: nbgrader db assignment add 1-attention --duedate='2030-01-31 18:00:00 UTC'",
)
@pytest.mark.parametrize("command", TO_RUN)
def test_a_command_runs_as_it_stands(command: str, course: Path) -> None:
    # Installing for real would change the environment that runs this test.
    command = re.sub(r"^pip install", "python -m pip install -q --dry-run --no-deps", command)
    environment = {name: value for name, value in os.environ.items() if name != "GRADER_COURSE"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'source'}"
    ran = run_line(command, course, environment)
    assert ran.returncode == 0, ran.output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_not_run_here_says_why_or_where(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(list(blocks(page))) == len(re.findall(r"^ *```sh$", text, re.MULTILINE)), "an indented block?"
    assert not re.search(r"^ *```(bash|shell|console|zsh)$", text, re.MULTILINE), "write ```sh"
    for kind, mark, commands in blocks(page):
        if kind == "not run":
            assert len(mark) > 10
        if kind == "run by":
            assert set(commands) <= set(re.findall(r"run: (.+)", (ROOT / mark).read_text("utf-8")))


def named(page: Path) -> Iterator[list[str]]:
    """Yield each command of this project that a page names, in a sentence or in a block, as words."""
    text = page.read_text("utf-8")
    lines = [line for _, _, commands in blocks(page) for line in commands]
    for command in [*INLINE.findall(text), *lines]:
        words = shlex.split(command)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if words:
            yield words


def wrong(words: list[str]) -> str:
    """Say what a command names that is not there; "" if all of it is."""
    program, *rest = words
    if program == "grader":
        if rest[0] in OPTIONS:
            return ""
        if rest[0] not in COMMANDS:
            return f"grader {rest[0]}"
        try:
            COMMANDS[rest[0]].make_context(rest[0], rest[1:])
        except Exception as error:  # of typer's own copy of click; a sentence may leave the path out
            return "" if type(error).__name__ == "MissingParameter" else f"{' '.join(words)}: {error}"
    elif program == "make":
        unknown = {word for word in rest if "=" not in word} - TARGETS
        return f"make {', '.join(unknown)}" if unknown else ""
    elif program == "nbgrader":
        return "" if rest[0] in NBGRADER else f"nbgrader {rest[0]}"
    elif program.startswith("python") and rest[0] == "-m":
        return "" if rest[1].isupper() or importlib.util.find_spec(rest[1]) else f"python -m {rest[1]}"
    return ""


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    assert [problem for words in named(page) if (problem := wrong(words))] == []


@pytest.mark.parametrize(
    "command",
    ["grader mark x", "grader grade x --job 2", "grader export ilias", "make all", "nbgrader autograd", "python -m nowhere"],
)  # fmt: skip
def test_a_command_that_does_not_exist_is_seen(command: str) -> None:
    assert wrong(command.split())


def test_the_pages_are_looked_at() -> None:
    assert len(TO_RUN) >= 7
    assert sum(1 for page in PAGES for _ in named(page)) > 60
