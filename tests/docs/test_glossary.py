"""docs/glossary.md: each word stands in the lesson that the glossary names, and each notebook holds the glossary."""

import re
from pathlib import Path

import pytest

from grader.course import lessons

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
SCRIPTS = {name[0]: (ROOT / "solutions" / f"{name}.py").read_text("utf-8") for name in lessons()}


def entries() -> list[tuple[str, str, str]]:
    """Word, meaning and lesson of each entry."""
    rows = ROW.findall((ROOT / "docs" / "glossary.md").read_text("utf-8"))
    return [row for row in rows if row[0] != "word" and not row[0].startswith("--")]


def stem(word: str) -> str:
    """The last part of a word's first name, without an ending: "attention map, map" → "map"."""
    return word.split(",")[0].split()[-1].lower().rstrip("s")


@pytest.mark.parametrize(("word", "meaning", "lesson"), entries(), ids=lambda value: value[:20])
def test_a_word_stands_in_its_lesson(word: str, meaning: str, lesson: str) -> None:
    assert stem(word) in SCRIPTS[lesson].lower()
    assert meaning[0].isupper()
    assert meaning.endswith(".")


def test_no_word_is_explained_twice() -> None:
    words = [name for word, _, _ in entries() for name in word.split(", ")]
    assert len(words) > 50
    assert {word for word in words if words.count(word) > 1} == set()


@pytest.mark.parametrize("lesson", SCRIPTS)
def test_a_lesson_links_to_the_glossary_at_its_end(lesson: str) -> None:
    assert "[glossary](#Glossary)" in SCRIPTS[lesson]
    assert SCRIPTS[lesson].rstrip().endswith("# ## Glossary\n#\n# <!-- glossary -->")
