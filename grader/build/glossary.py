"""Puts the course's words at the end of a notebook, folded: a link to them works wherever the notebook is opened."""

import re
from pathlib import Path

from grader.build.errors import BuildError

PLACE = re.compile(r"^<!-- glossary -->$", re.MULTILINE)  # a line of the script's text
PAGE = Path("docs", "glossary.md")


def with_glossary(text: str, root: Path) -> str:
    """Put docs/glossary.md, without its title, in the place of the line `<!-- glossary -->`, if a text has one.

    Raises:
        BuildError: the page is missing.
    """
    if not PLACE.search(text):
        return text
    try:
        page = (root / PAGE).read_text("utf-8")
    except OSError as error:
        raise BuildError(
            f"{root / PAGE}: {error.strerror or error}; a text has a line <!-- glossary -->: write the page or take out the line"
        ) from error
    words = re.sub(r"^## ", "#### ", page.partition("\n")[2].strip(), flags=re.MULTILINE)
    folded = f"<details><summary>The words of the course</summary>\n\n{words}\n</details>"
    return PLACE.sub(lambda _: folded, text)
