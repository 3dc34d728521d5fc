"""Rooms meet through records: who may import whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def offenders(folder: str, *forbidden: str) -> list[str]:
    files = list((ROOT / folder).rglob("*.py"))
    assert files, f"{folder} is empty"
    return [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in files
        for name in sorted(imported(file))
        if any(name == wall or name.startswith(wall + ".") for wall in forbidden)
    ]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        (
            "grader/execution",
            ("attention", "grader.checks", "grader.course", "grader.record", "grader.report"),
        ),
        ("grader/evidence", ("attention", "grader.checks", "grader.course", "grader.execution")),
        (
            "grader/checks",
            ("attention", "grader.course", "grader.execution", "grader.submission", "grader.record"),
        ),
        ("grader/submission", ("attention", "grader.checks", "grader.course", "grader.execution")),
        (
            "grader/report",
            ("attention", "grader.checks", "grader.course", "grader.execution", "grader.record"),
        ),
        ("source", ("grader",)),
    ],
)
def test_a_room_does_not_reach_into_another(folder: str, forbidden: tuple[str, ...]) -> None:
    assert offenders(folder, *forbidden) == []


def test_only_execution_knows_papermill() -> None:
    assert [
        line for line in offenders("grader", "papermill") if not line.startswith("grader/execution/")
    ] == []


def test_only_build_and_record_know_nbgrader() -> None:
    allowed = ("grader/build/", "grader/record/")
    assert [line for line in offenders("grader", "nbgrader") if not line.startswith(allowed)] == []


def test_nothing_trusted_unpickles() -> None:
    assert offenders("grader", "pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal") == []


def test_a_wall_that_is_broken_is_seen() -> None:
    assert offenders("grader/course", "attention")
