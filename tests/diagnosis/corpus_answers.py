"""Reads the corpus: answers that were written without sight of the grader, with what is wrong with each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

CORPUS = Path(__file__).parent / "corpus"
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
    """Yield every answer of the corpus."""
    for file in sorted(CORPUS.glob("*.py")):
        before, *parts = TITLE.split(file.read_text("utf-8"))
        assert not before.strip(), file
        for kind, name, cause, source in zip(*(parts[start::4] for start in range(4)), strict=True):
            yield Answer(file.stem.replace("-", "."), kind == "right", name, cause, source.strip() + "\n")
