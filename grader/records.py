"""The records that one folder hands to the next: requests, evidence, verdicts, grades.

A `Request` goes into the sandbox and `Evidence` comes back; evidence against the reference gives a `Verdict`;
verdicts make a `Grade`. All are frozen, and what can happen is a closed set: `Status` and `Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# What crosses the sandbox's wall in either direction: tensors and JSON values, nested in lists and dicts.
Value = Any
Inputs = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a submission may use; one place, overridable per lesson. Defaults as in the design."""

    memory_bytes: int = 4 << 30  # in total, over all processes
    gpu_memory_bytes: int = 4 << 30  # of tensors; the driver takes some more for each process
    processes: int = 256  # processes and threads
    open_files: int = 512
    scratch_bytes: int = 1 << 30
    scratch_files: int = 50_000
    seconds: float = 300.0  # wall time of the whole submission
    cell_seconds: float = 60.0  # wall time of one cell
    given_seconds: float = 30.0  # wall time of a given cell: one that takes long hangs in the student's code
    cpu_seconds: float = 600.0  # CPU time of one process
    cell_output_bytes: int = 1 << 20
    output_bytes: int = 8 << 20  # of the whole submission
    evidence_bytes: int = 16 << 20  # all answers to probes together; the lessons need 3 MB at most
    threads: int = 1  # torch threads: a class runs side by side


@dataclass(frozen=True, kw_only=True)
class GradingSettings:
    """How submissions are graded, whoever handed them in."""

    secret: str = field(repr=False)  # the course secret, which keys the hidden inputs
    device: str  # cpu or cuda
    tier: str  # of isolation: this one, and no lower
    run_all: bool = False  # run given cells that only draw, and the self-checks, too


# ---------------------------------------------------------------- evidence: what came back from the sandbox


class Status(StrEnum):
    """How the run of a cell or a probe ended."""

    OK = "ok"
    RAISED = "raised"  # Python code raised; type and message are known
    TIMEOUT = "timeout"
    DIED = "died"  # the interpreter ended: exit, crash, killed by a limit
    REFUSED = "refused"  # it answered, but with something that is no evidence: too large, no tensor, forged
    FAULT = "fault"  # the sandbox itself failed: ours


@dataclass(frozen=True, kw_only=True)
class Request:
    """A probe to be run in the sandbox: source text, the function to call, and its inputs."""

    key: str  # "1.4/values/hidden/0", unique within a submission
    source: str
    function: str
    inputs: Inputs
    seconds: float
    names: Mapping[str, str] = field(
        default_factory=dict
    )  # parameter → name in the notebook, where they differ
    watched: tuple[str, ...] = ()  # built-ins whose use is to be reported, as torch names them
    group: str = ""  # of requests that share a fork while they follow each other; empty: a fork of its own


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Whose code a cell holds: a given one's ("given"), or an exercise's answer and the names that it defines."""

    who: str = ""  # empty: the student's own
    defines: tuple[str, ...] = ()


OWN, GIVEN = Origin(), Origin(who="given")


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """How one cell ended, and what it showed."""

    status: Status
    outputs: tuple[dict, ...] = ()  # as nbformat has them
    error: str = ""  # RAISED: the exception's class
    message: str = ""  # RAISED: the exception's text; else what happened
    seconds: float = 0.0
    execution_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The answer to a request. `values` is filled where status is OK."""

    key: str
    status: Status
    values: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""  # RAISED: the exception's class
    lineage: tuple[str, ...] = ()  # RAISED: the class and its bases, by name
    message: str = ""  # RAISED: the exception's text; else what happened
    seconds: float = 0.0
    # Watched built-ins that ran, each with the other exercise in whose answer it ran, or "". It comes from the sandbox.
    trips: tuple[tuple[str, str], ...] = ()


# ---------------------------------------------------------------- verdicts and grades


class Outcome(StrEnum):
    PASSED = "PASSED"  # full points
    FAILED = "FAILED"  # evidence came back and is wrong, in all or in part
    MISSING = "MISSING"  # nothing came back: not written, or not solved yet
    TIMEOUT = "TIMEOUT"
    FAULT = "FAULT"  # the grader failed: costs no points, withholds the grade


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One check of one exercise, over all its trials."""

    name: str
    title: str
    outcome: Outcome
    points: float
    max_points: float
    message: str = ""
    trials: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """An attention map of a public example, beside the reference's."""

    title: str
    got: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One exercise, judged."""

    id: str
    name: str
    title: str
    outcome: Outcome
    points: float
    max_points: float
    message: str = ""
    mistake: str | None = None
    hint: str = ""
    review: str = ""
    checks: tuple[CheckResult, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    notes: tuple[str, ...] = ()  # "two cells define attention; the last one counted"
    stand_ins: tuple[str, ...] = ()  # earlier exercises that failed, for which a stand-in was used
    other: Verdict | None = (
        None  # the same exercise judged the other way: as submitted, or with the stand-ins
    )


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something that a person should look at; costs nothing by itself."""

    kind: str
    exercise: str | None
    detail: str


@dataclass(frozen=True, kw_only=True)
class Grade:
    """One submission, graded, unreadable, or a fault of ours."""

    student: str
    assignment: str
    status: str  # graded, unreadable, fault
    score: float | None  # null for a fault
    max_score: float
    verdicts: tuple[Verdict, ...] = ()
    flags: tuple[Flag, ...] = ()
    message: str = ""
    isolation: str = ""
    device: str = ""
    seconds: float = 0.0
    submission_sha256: str = ""


# ---------------------------------------------------------------- judging one trial


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a judge says of one trial."""

    passed: bool
    message: str = ""  # for the student, in words: what came back and how far off; empty when passed


@dataclass(frozen=True, kw_only=True)
class Case:
    """One trial with everything a judge may look at."""

    inputs: Inputs
    got: Mapping[str, Value]  # the evidence: what the probe returned in the sandbox
    expected: Callable[[], Mapping[str, Value]]  # what it returns with the reference
    rtol: float  # multiplies the tolerance of dtype and device
    device: str = "cpu"  # where the submission ran


Judge = Callable[[Case], Finding]
