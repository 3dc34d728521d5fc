"""How long a lesson takes to read: counted in one place, and said by every lesson."""

from __future__ import annotations

import pytest

from grader.build.script_texts import MINUTES_PLACE, WORDS_A_MINUTE, minutes_to_read, with_reading_time
from grader.course import lessons
from tests.scripts import cells_of


def prose(minutes: float) -> str:
    return "word " * round(minutes * WORDS_A_MINUTE)


def test_two_hundred_and_twenty_words_are_a_minute_and_a_part_of_one_counts() -> None:
    assert WORDS_A_MINUTE == 220
    assert minutes_to_read([prose(2)]) == 2
    assert minutes_to_read([prose(2), "one more"]) == 3


@pytest.mark.parametrize(
    "not_read",
    [
        "```\n{}\n```",
        "<details><summary>First hint</summary>\n\n{}\n</details>",
        "=== BEGIN MARK SCHEME ===\n{}\n=== END MARK SCHEME ===",
        "   === BEGIN ANSWER ===\n{}\n   === END ANSWER ===",
        "<!-- {} -->",
        "![a map](assets/{})",
        "| --- | " + "--- | " * 500,
    ],
)
def test_what_nobody_reads_as_prose_does_not_count(not_read: str) -> None:
    assert minutes_to_read([prose(2), not_read.format(prose(3))]) == 2


def test_the_minutes_stand_in_the_place_of_the_comment() -> None:
    texts = [prose(1), f"## Practice\n\n{prose(3)}"]
    text = 'About <!-- minutes to read up to "## Practice" --> of <!-- minutes to read --> minutes.'
    assert with_reading_time(text, texts) == "About 1 of 5 minutes."
    with pytest.raises(ValueError, match="no text has the heading '## Rest'"):
        with_reading_time('<!-- minutes to read up to "## Rest" -->', texts)


@pytest.mark.parametrize("name", lessons())
def test_every_lesson_says_how_long_it_takes_to_read(name: str) -> None:
    texts = [cell.source for cell in cells_of(name) if cell.cell_type == "markdown"]
    assert MINUTES_PLACE.search(texts[0])
    # Half an hour, says docs/students.md of a lesson.
    assert (10 if lessons()[name].optional else 20) <= minutes_to_read(texts) <= 55
