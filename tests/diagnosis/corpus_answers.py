"""Reads the corpus: answers that were written without sight of the grader, with what is wrong with each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from grader.records import Verdict

CORPUS = Path(__file__).parent / "corpus"
JUDGED = Path(__file__).parent / "judged.jsonl"
TITLE = re.compile(r"^# %% \[(wrong|right)\] (\w+) \| (.+)$", re.M)


class Answer(NamedTuple):
    """One answer of the corpus."""

    exercise: str
    right: bool
    name: str
    cause: str  # what is wrong; of a right answer, how it differs from the obvious one
    source: str

    @property
    def unread(self) -> bool:
        """Tell whether it belongs to the half that nobody who changes the diagnosis reads."""
        return int(sha256(self.name.encode()).hexdigest(), 16) % 2 == 1


def answers() -> Iterator[Answer]:
    """Yield every answer of the corpus, 4.9 before 4.10."""
    for file in sorted(
        CORPUS.glob("*.py"), key=lambda file: re.sub(r"\d+", lambda n: n[0].zfill(2), file.stem)
    ):
        before, *parts = TITLE.split(file.read_text("utf-8"))
        assert not before.strip(), file
        for kind, name, cause, source in zip(*(parts[start::4] for start in range(4)), strict=True):
            yield Answer(file.stem.replace("-", "."), kind == "right", name, cause, source.strip() + "\n")


def told(verdict: Verdict) -> str:
    """Return all that the author of an answer reads: what was seen, and what explains it."""
    return " ".join(filter(None, (verdict.message, verdict.hint)))


def judgements() -> dict[tuple[str, str], tuple[str, str]]:
    """Return for each answer the words that were judged, and the judgement, by exercise and name.

    The judgement is "cause" (a student who reads the words knows what is wrong), "part" (they lead there, or name one of two
    causes), "nothing" (only what is off), "false" (they name another cause), or "accepted" (the answer was not refused).
    """
    if not JUDGED.is_file():
        return {}
    lines = [json.loads(line) for line in JUDGED.read_text("utf-8").splitlines()]
    return {(line["exercise"], line["name"]): (line["told"], line["judgement"]) for line in lines}
