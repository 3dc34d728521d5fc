"""`grader docs`: it writes the manual, prints the address of a page, and opens it."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from grader.cli import app


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the command opens, instead of a browser."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    return addresses


def test_it_opens_the_page_whose_address_it_prints(tmp_path: Path, opened: list[str]) -> None:
    ran = CliRunner().invoke(app, ["docs", "serve", "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert opened == [ran.output.strip()]
    assert "The submission server" in Path(urlsplit(opened[0]).path).read_text("utf-8")


def test_it_only_prints_the_address(tmp_path: Path, opened: list[str]) -> None:
    ran = CliRunner().invoke(app, ["docs", "--print", "--out", str(tmp_path)])
    assert ran.output.strip() == (tmp_path / "docs" / "instructors.html").as_uri()
    assert opened == []


def test_an_unknown_page_is_named_with_those_that_exist(opened: list[str]) -> None:
    ran = CliRunner().invoke(app, ["docs", "server"])
    assert ran.exit_code == 2
    assert "the manual has no page 'server'; choose one of authors, " in ran.output
    assert opened == []
