"""The records of the diagnosis: what was seen of an answer, what it is compared with, and what explains it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from grader.explain.fingerprint import Fingerprint
from grader.submission.code.traits import Traits


class Seen(NamedTuple):
    """What one trial showed of an answer."""

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
    """A declared mistake, whose result on each trial is known."""

    name: str
    says: str  # what a student reads
    prints: Callable[[int], Fingerprint | None]  # by the trial's index; None: not known
    traits: Callable[[], Traits] = Traits  # what its code has, and lacks


class Explanation(NamedTuple):
    """Why an answer is wrong."""

    # "mistake", "exception", "structure", "gradient", "conduct", "relation", "likely" or "repair"
    kind: str
    name: str
    says: str
    line: int = 0  # of the answer, if it names one
