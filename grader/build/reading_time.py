"""Puts into a lesson's text how long it takes to read: this module alone says at what pace."""

import re
from collections.abc import Iterable
from math import ceil

from nbformat import NotebookNode

from grader.submission.cells import ANSWER_IN_SCRIPT

WORDS_A_MINUTE = 220
PLACE = re.compile(r'<!-- minutes to read(?: up to "(?P<heading>[^"]+)")? -->')
# What nobody reads as prose: code, hints, mark schemes and our answers, comments; pictures and addresses.
NOT_READ = (
    r"```.*?```",
    r"<details>.*?</details>",
    r"=== BEGIN MARK SCHEME ===.*?=== END MARK SCHEME ===",
    r"<!--.*?-->",
    r"!\[.*?\]\(.*?\)",
    r"(?<=\])\(.*?\)",
)


def with_reading_time(text: str, cells: Iterable[NotebookNode]) -> str:
    """Put the minutes in the place of `<!-- minutes to read -->`, or of `<!-- minutes to read up to "## Practice" -->`.

    Args:
        cells: all cells of the lesson's script.

    Raises:
        ValueError: no text has the heading.
    """
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return PLACE.sub(lambda match: str(minutes_to_read(texts, match["heading"])), text)


def minutes_to_read(texts: Iterable[str], up_to: str | None = None) -> int:
    """Return the minutes that a lesson's prose takes, to its end or up to a heading."""
    prose = "\n\n".join(texts)
    if up_to is not None:
        prose, heading, _ = prose.partition(f"\n{up_to}\n")
        if not heading:
            raise ValueError(f"no text has the heading {up_to!r}, up to which the minutes are to be counted")
    prose = ANSWER_IN_SCRIPT.sub("", prose)
    for part in NOT_READ:
        prose = re.sub(part, "", prose, flags=re.DOTALL)
    words = [word for word in prose.split() if re.search(r"\w", word)]
    return ceil(len(words) / WORDS_A_MINUTE)
