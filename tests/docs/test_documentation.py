"""The README, CONTRIBUTING and the pages of docs/: the links, files and commands that they name exist."""

import re
from pathlib import Path

import pytest
import typer

from grader.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = typer.main.get_command(app).commands
# A path of this repository in backticks; `<name>`, `*` or `…` in it stand for something else.
PATH = re.compile(r"`((?:assets|benchmarks|docs|examples|grader|notebooks|solutions|source|tests)/[\w./-]*)`")
# Named, and rightly not here: a result that nobody has measured yet, and the file that a reader is told to write.
NOT_HERE = {"benchmarks/results/gpu.txt", "grader/course/lesson_1/keep_largest.py"}
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    for path in PATH.findall(page.read_text("utf-8")):
        assert path in NOT_HERE or (ROOT / path).exists(), f"{page.name} names {path}, which is not there"


def commands(page: Path) -> list[tuple[str, str]]:
    text = page.read_text("utf-8")
    shown = re.findall(r"`(grader [^`\n]+)`", text) + re.findall(r"^grader .+$", text, re.MULTILINE)
    return [tuple(line.partition("#")[0].split(" ", 2)[1:3]) for line in shown]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    for name, *rest in commands(page):
        name = name.rstrip(",")
        assert name in COMMANDS, f"{page.name}: grader {name}"
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        used = set(re.findall(r"--[a-z-]+", " ".join(rest)))
        assert used <= known, f"{page.name}: grader {name} has no {used - known}"


def test_the_pages_are_looked_at() -> None:
    names = {"README.md", "CONTRIBUTING.md", "design.md", "students.md", "instructors.md", "operators.md"}
    assert {page.name for page in PAGES} >= names
    assert sum(len(PATH.findall(page.read_text("utf-8"))) for page in PAGES) > 30
    assert sum(len(commands(page)) for page in PAGES) > 15
