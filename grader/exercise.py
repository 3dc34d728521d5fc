"""The records that the rooms hand to each other.

A lesson declares exercises; an exercise declares checks; a check is one *probe* (a plain function that
calls what the student wrote) and the *trials* that it is run on. The same probe runs three times: in the
sandbox with the student's definition, and here with the reference and with each recognised mistake.
What comes back is evidence; evidence against the reference gives a verdict; verdicts make a grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.draw import Trial

# What crosses the sandbox's wall, in and out: tensors and JSON values, nested in lists and dicts.
Value = Any
Inputs = Mapping[str, Value]


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


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that an exercise is asked: a probe, its trials, and its share of the points.

    The probe is a plain function of module level. Its parameters are either inputs of the trial, by name, or
    names that the student defined. It returns a dict of tensors and JSON values. It is sent to the sandbox as
    source text, with the module-level functions of its own file that it calls; `torch`, `nn` and `F` are there.
    """

    name: str  # "values"; unique within the exercise
    title: str  # what is asked, as the student reads it: "the weights of each query sum to 1"
    points: float
    probe: Callable[..., Mapping[str, Value]]
    trials: tuple[Trial, ...]  # hidden: drawn anew for each submission
    examples: tuple[Trial, ...] = ()  # public: the self-check in the notebook and the pictures use them
    needs: tuple[str, ...] = ()  # earns its points only where these checks of the exercise passed
    judge: Judge | None = None  # None: every value equals the reference's
    rtol: float = 1.0  # a looser tolerance where rounding adds up, as a factor
    map: str | None = None  # the value that is an attention map, shown as a heatmap
    at: str | None = (
        None  # id of the provided cell after which it is run; None: after the exercise's own cell
    )
    seconds: float = 10.0  # time limit of one trial; all that are declared take milliseconds


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer, as code, with the hint that its author will read."""

    name: str
    replaces: Mapping[str, Any]  # the student's name → the wrong definition
    hint: str


def mistake(defines: str, hint: str) -> Callable[[Any], Mistake]:
    """Decorator: this function or class is a wrong answer for `defines`."""

    def declare(wrong: Any) -> Mistake:
        return Mistake(wrong.__name__, {defines: wrong}, hint)

    return declare


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One graded (or practice) exercise; everything about it that is not prose."""

    id: str  # "1.4"
    title: str  # "Attention"
    defines: tuple[str, ...]  # the names that the student's cell must define
    points: float  # 0 for practice
    difficulty: int  # 1 to 3
    minutes: int
    checks: tuple[Check, ...]
    mistakes: tuple[Mistake, ...] = ()
    builds_on: tuple[str, ...] = ()  # ids of earlier exercises whose names a solution may call
    bans: frozenset[str] = (
        frozenset()
    )  # built-ins that the exercise asks to write: names in grader.checks.policy
    review: str = ""  # what to read again, as a heading of the lesson

    def __post_init__(self) -> None:
        total = sum(check.points for check in self.checks)
        if abs(total - self.points) > 1e-9:
            raise ValueError(
                f"exercise {self.id}: its checks add up to {total} points, declared are {self.points}"
            )
        names = [check.name for check in self.checks]
        if len(set(names)) != len(names):
            raise ValueError(f"exercise {self.id}: two checks have one name: {names}")
        for check in self.checks:
            if not check.trials:
                raise ValueError(
                    f"exercise {self.id}: check {check.name!r} has no hidden trial: it would always pass"
                )
            if unknown := set(check.needs) - set(names):
                raise ValueError(
                    f"exercise {self.id}: check {check.name!r} needs unknown checks {sorted(unknown)}"
                )

    @property
    def name(self) -> str:
        """The name in reports and JSON: "causal_mask, padding_mask"."""
        return ", ".join(self.defines)

    @property
    def slug(self) -> str:
        """The id as nbgrader allows it: "1-4"."""
        return self.id.replace(".", "-")


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
class Lesson:
    """One assignment: its exercises, and the reference that judges them."""

    assignment: str  # "1-attention"
    title: str
    exercises: tuple[Exercise, ...]
    reference: Mapping[str, Any]  # every name that a probe may ask for → the right definition
    limits: Limits = Limits()
    # Cells that may run longer, by id.
    cell_seconds: Mapping[str, float] = field(default_factory=dict)
    # Injected when grading, beside device and seed.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Where an earlier exercise failed: does the verdict with a stand-in for it count, or the one as submitted?
    follow_through: bool = True

    @property
    def max_score(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    def exercise(self, id: str) -> Exercise:
        """The exercise with this id.

        Raises:
            KeyError: there is none.
        """
        for exercise in self.exercises:
            if exercise.id == id:
                return exercise
        raise KeyError(
            f"{self.assignment} has no exercise {id}; it has {', '.join(e.id for e in self.exercises)}"
        )


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
    watched: tuple[str, ...] = ()  # built-ins whose use is to be reported, as torch names them
    group: str = ""  # of requests that share a fork while they follow each other; empty: a fork of its own


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Whose code a cell holds: a given one's ("given"), or an exercise's answer and the names that it defines."""

    who: str = ""  # empty: the student's own
    defines: tuple[str, ...] = ()


OWN, GIVEN = Origin(), Origin(who="given")


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
