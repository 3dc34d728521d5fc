"""The records that explanations use: an answer's results, the mistakes that it is compared with, the explanation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.explain.code.clues import Clue
from grader.explain.fingerprint import Fingerprint, alike
from grader.explain.repairs.find_repair import Repair
from grader.submission.code.traits import Traits


class Seen(NamedTuple):
    """The results of an answer in one trial."""

    check: str  # name of the check
    passed: bool
    got: Mapping[str, Any]  # what the probe returned, by flattened name ("maps[0]"); empty if it raised
    expected: Mapping[str, Any]  # what it returns with the reference, by flattened name
    inputs: Mapping[str, Any] = {}  # of the trial, by flattened name
    sizes: Mapping[str, Any] = {}  # of the trial, by name: {"rows": 3, "width": 4}
    error: str = ""  # class of the exception that the answer raised
    message: str = ""  # its text
    line: str = ""  # the line of the student's code that raised it
    shapes: Mapping[str, tuple[int, ...]] = {}  # of the tensors that the line names


class Candidate(NamedTuple):
    """A declared mistake, with its results on the trials."""

    name: str
    says: str  # what a student reads
    prints: Callable[[int], Fingerprint | None]  # by the trial's index; None: not known
    traits: Callable[[], Traits] = Traits  # what its code has, and lacks

    def gives(self, index: int, own: Fingerprint) -> bool:
        """Return True if the mistake's result on a trial has the fingerprint `own`."""
        known = self.prints(index)
        return known is not None and alike(known, own)


@dataclass(frozen=True)
class Explanation:
    """An explanation why an answer is wrong. Explanations are compared by their fields, never by their text."""

    # "mistake", "default", "exception", "structure", "gradient", "conduct", "relation", "unused", "likely" or "repair"
    kind: str
    name: str = ""  # of the declared mistake, the class of the exception, or "parameters"
    what: str = ""  # what is wrong, in whole sentences
    clue: Clue | None = None  # the line that causes it
    repair: Repair | None = None  # the small change that makes the answer right
    check: str = ""  # the check that it is about, if that is not the first that failed
    also: tuple["Explanation", ...] = ()  # of other causes, which do not depend on this one

    @property
    def line(self) -> int:
        """The line of the answer that the explanation names, from 1; 0 if it names no line."""
        place = self.repair or self.clue
        return place.line if place else 0

    @property
    def says(self) -> str:
        """The text that the student reads."""
        where = f"In the check “{self.check}”: " if self.check else ""
        line = self.clue.says if self.clue else ""
        parts = where + self.what, line[:1].upper() + line[1:], self.repair.says if self.repair else ""
        return " ".join(filter(None, (*parts, *(other.says for other in self.also))))
