"""Reads the answers: those written without sight of the grader, right ones in other styles, and wrong ones that once passed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import jupytext

from grader.records import Verdict

HERE = Path(__file__).parent
# In the order in which they were written, each by somebody else.
CORPORA = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
)
VARIANTS, ONCE_ACCEPTED, PUBLIC = HERE / "variants", HERE / "once_accepted", HERE / "public"
TITLE = re.compile(r"^# %% \[(wrong|right)\] (\w+) \| (.+)$", re.M)


class Answer(NamedTuple):
    """An answer that was written without sight of the grader."""

    exercise: str
    right: bool
    name: str
    cause: str  # what is wrong; of a right answer, how it differs from the obvious one
    source: str

    @property
    def unread(self) -> bool:
        """Tell whether it belongs to the half that nobody who changes the diagnosis reads."""
        return int(sha256(self.name.encode()).hexdigest(), 16) % 2 == 1


def answers(corpus: str | Path = CORPORA[0]) -> Iterator[Answer]:
    """Yield every answer of a corpus, or of a folder, that was written without sight of the grader, 4.9 before 4.10."""
    folder = corpus if isinstance(corpus, Path) else HERE / "blind" / corpus
    for file in sorted(folder.glob("*.py"), key=lambda file: re.sub(r"\d+", lambda n: n[0].zfill(2), file.stem)):
        before, *parts = TITLE.split(file.read_text("utf-8"))
        assert not before.strip(), file
        for kind, name, cause, source in zip(*(parts[start::4] for start in range(4)), strict=True):
            yield Answer(file.stem.replace("-", "."), kind == "right", name, cause, source.strip() + "\n")


def told(verdict: Verdict) -> str:
    """Return all that the author of an answer reads: what was seen, and what explains it."""
    return " ".join(filter(None, (verdict.message, verdict.hint)))


def judgements(corpus: str = CORPORA[0]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return for each answer of a corpus the words that were judged, and the judgement, by exercise and name.

    The judgement is "cause" (a student who reads the words knows what is wrong), "part" (they lead there, or name one of two
    causes), "nothing" (only what is off), "false" (they name another cause), or "accepted" (the answer was not refused). An answer
    with the name and the words of one of an earlier corpus is judged with that.
    """
    names = CORPORA[: CORPORA.index(corpus) + 1]
    files = [file for name in names if (file := HERE / "judgements" / f"{name}.jsonl").is_file()]
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return {(line["exercise"], line["name"]): (line["told"], line["judgement"]) for line in lines}


class Variant(NamedTuple):
    """A right answer in another style, or a wrong one that once passed."""

    exercise: str
    name: str
    source: str


@cache
def variants(assignment: str) -> tuple[Variant, ...]:
    """Return the right answers of a lesson that are written in other styles than its solution."""
    return tuple(_marked(VARIANTS / f"{assignment}.py", "variant"))


@cache
def once_accepted() -> dict[str, tuple[Variant, ...]]:
    """Return the wrong answers that once passed, by assignment."""
    return {script.stem: tuple(_marked(script, "wrong")) for script in sorted(ONCE_ACCEPTED.glob("*.py"))}


def _marked(script: Path, mark: str) -> Iterator[Variant]:
    """Yield the cells of a percent script that have a mark; its value is the answer's name."""
    for cell in jupytext.read(script, fmt="py:percent").cells:
        if mark in cell.metadata:
            yield Variant(cell.metadata["exercise"], cell.metadata[mark], cell.source)
