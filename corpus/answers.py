"""Reads and writes the answers to single exercises: corpus/answers has a file for each corpus, and a line for each answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from grader.records import Verdict

# Written without sight of the grader, in this order, each by somebody else.
BLIND = (
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
    "sixteenth",
    "seventeenth",
)
CORPORA = (*BLIND, "public", "variants", "once_accepted")
JUDGEMENTS = {
    "cause": "the feedback names the true cause: a student who reads it knows what is wrong",
    "part": "the feedback leads to the cause, or names one of two causes",
    "nothing": "the feedback names no cause, only what is off",
    "false": "the feedback names another cause",
    "accepted": "the answer was not refused",
}


class Answer(NamedTuple):
    """An answer to an exercise, its cause, and the judgement of what its author reads."""

    exercise: str
    name: str  # no other answer of the same corpus to the same exercise has it
    right: bool
    cause: str  # what is wrong; of a right answer, how it differs from the obvious one; "" if the name says it
    source: str
    feedback: str = ""  # the words that were judged: what the grader returned at that time
    judgement: str = ""  # a key of JUDGEMENTS; "" if nobody has judged the feedback

    @property
    def key(self) -> tuple[str, str]:
        """The exercise and the name, which identify an answer within its corpus."""
        return self.exercise, self.name

    @property
    def unread(self) -> bool:
        """True if the answer is in the half that nobody who changes the diagnosis reads."""
        return int(sha256(self.name.encode()).hexdigest(), 16) % 2 == 1


@cache
def answers(corpus: str = BLIND[0]) -> tuple[Answer, ...]:
    """Return the answers of a corpus, in the order of their exercises: 4.9 before 4.10."""
    return read_answers(path_of(corpus))


def feedback(verdict: Verdict) -> str:
    """Return all that the author of an answer reads: the message and the hint."""
    return " ".join(filter(None, (verdict.message, verdict.hint)))


def path_of(corpus: str) -> Path:
    """Return the path of a corpus's file."""
    return Path(__file__).parent / "answers" / f"{corpus}.jsonl"


def read_answers(path: Path) -> tuple[Answer, ...]:
    """Return the answers of a file in the form that `write_answers` writes."""
    with path.open(encoding="utf-8") as lines:
        return tuple(Answer(**json.loads(line)) for line in lines)


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Write one JSON object per line, in the order of the exercises. Fields that have their default are left out."""
    defaults = Answer._field_defaults
    lines = [
        {field: value for field, value in answer._asdict().items() if value != defaults.get(field)}
        for answer in sorted(answers, key=_in_course)
    ]
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")


def _in_course(answer: Answer) -> str:
    """Return a text that sorts 4.9 before 4.10, and the practice after all other exercises of a lesson."""
    return re.sub(r"\d+", lambda number: number[0].zfill(2), answer.exercise)
