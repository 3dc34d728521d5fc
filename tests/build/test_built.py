"""A build of what was built already does nothing; what a notebook depends on is noticed when it changes."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from grader.build import build as builder
from grader.build import built as built_module
from grader.build.built import BUILDING, Built, built_path, built_text, digest, read_built
from grader.build.errors import BuildError
from grader.commands.build import run
from grader.commands.console import Terminal
from grader.commands.options import BuildOptions
from grader.course import lessons
from tests.import_graph import ROOT, read_graph

LESSONS = list(lessons())


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """What is built from, with notebooks that count as built."""
    for folder in ("solutions", "notebooks", "docs", "assets"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    repository = builder.repository_of(tmp_path)
    digests = {name: digest(tmp_path, name, repository) for name in LESSONS}
    built_path(tmp_path).write_text(built_text(Built(digests, {})), "utf-8")
    return tmp_path


@pytest.fixture
def built(course: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lessons that were built; their notebooks stay as they are."""
    names: list[str] = []

    def lessons_built(root: Path, some: list[str], _: object, check: bool = False) -> tuple[dict[Path, str], list[str]]:
        names.extend(some)
        return {}, []

    monkeypatch.setattr(builder, "_lessons_built", lessons_built)
    monkeypatch.setattr(builder, "_requirements", lambda root, texts: {})  # it reads the notebooks, which stay damaged
    return names


def test_nothing_is_built_again(course: Path, built: list[str]) -> None:
    builder.build(course)
    assert built == []
    assert builder.build(course) == []


def test_a_lesson_without_a_script_is_named_with_what_to_do(course: Path) -> None:
    (course / "solutions" / "2-heads.py").unlink()
    with pytest.raises(BuildError, match=r"2-heads\.py is missing: a lesson's script has the name of its assignment"):
        builder.build(course)


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("solutions/2-heads.py", ["2-heads"]),
        ("solutions/2-heads/2-heads.ipynb", ["2-heads"]),
        ("notebooks/3-vlm/3-vlm.ipynb", ["3-vlm"]),
        ("assets/pointer.png", LESSONS),
        ("docs/another.md", LESSONS),
        ("solutions/.built.json", LESSONS),
    ],
)
def test_what_changed_is_built_again(course: Path, built: list[str], changed: str, again: list[str]) -> None:
    with open(course / changed, "ab") as file:
        file.write(b"\n#")
    builder.build(course)
    assert built == again
    assert list(read_built(course).lessons) == LESSONS
    builder.build(course)
    assert built == again


def test_the_digest_depends_on_the_words_of_the_glossary(course: Path) -> None:
    glossary = course / "docs" / "glossary.md"
    glossary.parent.mkdir(exist_ok=True)
    digests = set()
    for words in ("one\n", "another\n"):
        glossary.write_text(words)
        digests.add(digest(course, "3-vlm", None))
    assert len(digests) == 2


def test_the_digest_depends_on_the_explorers_page(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = course / "attention"
    shutil.copytree(ROOT / "source" / "attention", copy)
    folder = built_module.package_folder
    monkeypatch.setattr(built_module, "package_folder", lambda name: copy if name == "attention" else folder(name))
    digests = {digest(course, "3-vlm", None)}
    for part in ("page.html", "style.css", "model.js"):
        with open(copy / "plots" / "explorer_page" / part, "a") as file:
            file.write("\n")
        digests.add(digest(course, "3-vlm", None))
    assert len(digests) == 4


def test_the_digest_depends_on_the_lessons_own_declarations(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = course / "grader"
    shutil.copytree(ROOT / "grader", copy, ignore=shutil.ignore_patterns("__pycache__"))
    folder = built_module.package_folder
    monkeypatch.setattr(built_module, "package_folder", lambda name: copy if name == "grader" else folder(name))
    before = {name: digest(course, name, None) for name in LESSONS}
    with open(copy / "course" / "lesson_2" / "__init__.py", "a") as file:
        file.write("\n")
    assert [name for name in LESSONS if digest(course, name, None) != before[name]] == ["2-heads"]
    with open(copy / "course" / "common" / "tensor_sizes.py", "a") as file:
        file.write("\n")
    assert [name for name in LESSONS if digest(course, name, None) == before[name]] == []


def test_no_lesson_uses_another_lessons_declarations() -> None:
    graph = read_graph()
    own = {name: match[0] for name in graph if (match := re.match(r"grader\.course\.lesson_\d", name))}
    assert len(set(own.values())) == len(LESSONS)
    assert [(name, other) for name in own for other in graph[name] if own.get(other, own[name]) != own[name]] == []


def test_the_check_builds_everything(course: Path, built: list[str]) -> None:
    builder.drift(course)
    assert built == LESSONS


def test_all_that_the_build_imports_is_part_of_the_digest() -> None:
    graph = read_graph()
    reached, left = (set(), ["grader.build.build", *(name for name in graph if name.startswith("grader.course."))])
    while left:
        module = left.pop()
        if module not in reached:
            reached.add(module)
            left += graph[module]
    files = [Path(*name.split(".")[1:]).with_suffix("") for name in reached]
    seen = {part: any(file.is_relative_to(Path(part).with_suffix("")) for file in files) for part in BUILDING}
    assert [part for part, found in seen.items() if not found] == []
    others = [file for file in files if not any(file.is_relative_to(Path(part).with_suffix("")) for part in BUILDING)]
    assert [str(file) for file in others if (ROOT / "grader" / file).with_suffix(".py").is_file()] == []


def test_the_command_says_first_how_many_self_checks_it_computes(course: Path, built: list[str]) -> None:
    said = io.StringIO()
    options, two = BuildOptions(root=course, points=False), lessons()["2-heads"].exercises
    terminal = Terminal(out=Console(file=io.StringIO()), err=Console(file=said, width=200))
    with open(course / "solutions" / "2-heads.py", "ab") as file:
        file.write(b"\n#")
    run(options, terminal)
    assert said.getvalue().startswith(f"computing the self-checks of {len(two)} exercises. ")
    assert builder.changed_exercises(course, ["2-heads"]) == []
    with open(course / "solutions" / "2-heads.py", "ab") as file:
        file.write(b"\n#")
    run(options, terminal)
    assert said.getvalue().count("computing") == 1
