"""`grader report` with files: the class page has each check, and the items are a table."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.classes.gradebook.writer import Handover, open_gradebook
from grader.cli import app
from grader.course import lessons
from grader.records import Student
from tests.report.test_items import graded_class
from tests.report.test_pages import Page


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Record a class, with checks, in a gradebook."""
    url = f"sqlite:///{tmp_path_factory.mktemp('class') / 'gradebook.db'}"
    with open_gradebook(url, lessons(), {}) as gradebook:
        for grade in graded_class():
            came_in = Handover(student=Student(id=grade.student), submitted=None)
            gradebook.record(grade, came_in, key=grade.student, notebook_sha256="")
    return url


def call(*words: str):
    return CliRunner().invoke(app, ["report", *words])


def test_page_and_items_have_each_check(url: str, tmp_path: Path) -> None:
    page, items = tmp_path / "class.html", tmp_path / "deep" / "items.csv"
    result = call("--gradebook", url, "--html", str(page), "--items", str(items))
    assert result.exit_code == 0, result.output
    assert "Each check" in Page(page.read_text("utf-8")).text
    with items.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["check"] for row in rows] == ["", "check 0", "check 1"] * 2
    assert {row["students"] for row in rows} == {"25"}
    assert rows[1]["seconds"] == "0.250"


def test_the_page_links_to_the_pages_of_the_students_where_there_are_any(url: str, tmp_path: Path) -> None:
    page, feedback = tmp_path / "deep" / "class.html", Path(url.removeprefix("sqlite:///")).parent / "feedback"
    assert call("--gradebook", url, "--html", str(page)).exit_code == 0
    assert not [tag for tag, _ in Page(page.read_text("utf-8")).tags if tag == "a"]
    grade = graded_class()[0]
    own = feedback / grade.student / grade.assignment / f"{grade.assignment}.html"
    own.parent.mkdir(parents=True)
    own.touch()
    try:
        assert call("--gradebook", url, "--html", str(page)).exit_code == 0
    finally:
        shutil.rmtree(feedback)
    links = [attributes["href"] for tag, attributes in Page(page.read_text("utf-8")).tags if tag == "a"]
    assert own.resolve() in {(page.parent / link).resolve() for link in links}


def test_without_files_the_class_is_a_table(url: str) -> None:
    result = call("--gradebook", url)
    assert result.exit_code == 0
    assert "s000" in result.output


def test_a_file_that_cannot_be_written_is_one_line(url: str) -> None:
    result = call("--gradebook", url, "--items", "/proc/items.csv")
    assert result.exit_code == 2
    assert "cannot write /proc/items.csv" in result.output
