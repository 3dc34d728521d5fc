"""The glossary at the end of a notebook."""

from pathlib import Path

import pytest

from grader.build.errors import BuildError
from grader.build.script_texts import with_glossary

PAGE = "# Glossary\n\nThe words.\n\n## Attention\n\n| word | what it is |\n|---|---|\n| key | Found by it. |\n"


def test_the_page_stands_folded_in_the_place_of_its_line(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "glossary.md").write_text(PAGE, "utf-8")
    made = with_glossary("## Glossary\n\n<!-- glossary -->", tmp_path)
    assert made.splitlines() == [
        "## Glossary", "", "<details><summary>The words of the course</summary>", "",
        "The words.", "", "#### Attention", "", "| word | what it is |", "|---|---|", "| key | Found by it. |", "</details>",
    ]  # fmt: skip


def test_a_text_without_the_line_needs_no_page(tmp_path: Path) -> None:
    assert with_glossary("no <!-- glossary --> here", tmp_path) == "no <!-- glossary --> here"


def test_a_page_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        BuildError, match=r"glossary\.md: No such file or directory; a text has a line <!-- glossary -->"
    ):
        with_glossary("<!-- glossary -->", tmp_path)
