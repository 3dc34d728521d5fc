"""The README, the pages of docs/ and the help of the commands use plain words: each rule has a better form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from grader.cli import app

ROOT = Path(__file__).resolve().parents[2]
# These pages have other sources: the lessons' scripts, and the declarations.
GENERATED = {"glossary.md", "requirements.md"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
]
# A regular expression for the beginning of a sentence, and a better form.
OPENINGS = {
    "What(?! is installed| was tried| others|ever)": "name the thing: the result, the input, the error",
    "Who(?!le)|Whoever|Whose": "name the person: a student, an instructor, anybody who",
    "Where": "'if' for a condition, 'when' for a time",
    "Of (?!course)": "subject, verb, object: 'all of these …', or 'for …'",
    "Which": "name the thing",
}
# A regular expression for words anywhere, and a better form.
WORDS = {
    r"anew": "again",
    r"mend(s|ed|ing)?": "fix",
    r"but for": "except, or except for",
    r"besides?": "in addition, next to, also",
    r"in (the )?place of": "instead of",
    r"(?<!by )hand(s|ed|ing)? in": "submit",
    r"place to hand in": "the submission server, the submission page",
    r"given (cell|code)s?": "provided cell, provided code",
    r"slips?": "minor error",
    r"stands? (in|at|on|for|behind|beside|there)": "is in, is at, means",
    r"lies? (in|at|on|beside|below)": "is in, is at",
    r"(?<!there )is no (?!longer)\w+": "is not a …",
    r"and (is|are) none": "and is not a …, are not …",
    r"is said|is told|are told": "the command prints, the page shows",
    r"by hand,? and comments": "manual points",
    r"trainings": "training runs",
    r"full marks|the marks?": "full points, the points, the score",
    r"telling": "discrimination",
    r"of (its|his|her|their|your|our|one's) own(?! [a-z])": "'its own …' before the noun, or 'a separate …'",
    r"of (yours|ours|theirs)": "'your …' before the noun",
    r"tier (full|partial|none)": "the full tier, the partial tier, the none tier",
    r"held by|holds it": "covered by, protected by",
}
# What a page rightly says: the names of files, tests, labels, and terms of the field.
ALLOWED = [
    r"`[^`]*`",  # code
    r"\[[^\]]*\]\([^)]*\)|\]: \S+",  # links
    r"<!--.*?-->",
    r"a course of your own",  # a heading that students and instructors know by this name
    r"mark scheme",
    r"\*Where you stand\*",  # the label of a cell
    r"put (it|them) beside the others",  # grader/build/pages.py writes it
    r"Trainings are verified|trainings-are-verified",
]
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table cells of a Markdown text, without the allowed words."""
    text = FENCE.sub("\n\n", text)
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*#|]|\d+\. ))", text):
        words = " ".join(block.split()) if not block.startswith("#") else ""  # a heading names a topic
        for allowed in ALLOWED:
            words = re.sub(allowed, "…", words, flags=re.IGNORECASE if allowed.startswith("a course") else 0)
        for part in re.split(r"(?<=[.!?]) (?=[A-Z*…])| \| |^\| ", words):
            if part := part.strip("-*#| "):
                yield part


def broken_rules(sentence: str) -> list[str]:
    """Return the rules that a sentence breaks, each with the better form."""
    found = [
        f"begins with {match[0]!r}: {better}"
        for rule, better in OPENINGS.items()
        if (match := re.match(rf"(?:{rule})\b", sentence))
    ]
    found += [
        f"{match[0]!r}: write {better}"
        for rule, better in WORDS.items()
        if (match := re.search(rf"\b(?:{rule})\b", sentence, re.IGNORECASE))
    ]
    return [f"{rule}, in: {sentence}" for rule in found]


def help_texts(command: object = None, name: str = "grader") -> Iterator[tuple[str, str]]:
    """Yield the help of each command, and of each of its options, with a name."""
    command = command or typer.main.get_command(app)
    yield name, getattr(command, "help", None) or ""
    for parameter in getattr(command, "params", ()):
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for word, part in getattr(command, "commands", {}).items():
        yield from help_texts(part, f"{name} {word}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_breaks_no_rule(page: Path) -> None:
    broken = [rule for sentence in sentences(page.read_text("utf-8")) for rule in broken_rules(sentence)]
    assert broken == [], "\n".join(["", *broken])


def test_the_help_breaks_no_rule() -> None:
    texts = list(help_texts())
    assert len(texts) > 100
    broken = [f"{name}: {rule}" for name, text in texts for part in sentences(text) for rule in broken_rules(part)]
    assert broken == [], "\n".join(["", *broken])


@pytest.mark.parametrize(
    "sentence",
    [
        "What is right costs nothing.",
        "The secret is readable by its owner, in a folder of its own.",
        "This is no notebook.",
        "Students mend it and hand in again.",
        "The table stands beside the text.",
    ],
)
def test_a_sentence_that_breaks_a_rule_is_seen(sentence: str) -> None:
    assert broken_rules(sentence)


def test_what_is_allowed_breaks_no_rule() -> None:
    text = "Press *Where you stand*. See [What a mistake costs](page.md), `slip=True` and a course of your own."
    assert [rule for sentence in sentences(text) for rule in broken_rules(sentence)] == []
