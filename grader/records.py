"""The records that one folder of the grader passes to the next: requests, evidence, verdicts, grades.

A `Request` is sent to the sandbox, which returns `Evidence`. The evidence is compared with the reference, which gives a
`Verdict`. All verdicts of a submission give its `Grade`. All records are frozen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

# What crosses the sandbox's boundary in either direction: tensors and JSON values, nested in lists and dicts.
Value = Any
Inputs = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The resources that a submission may use. A lesson can override these defaults."""

    memory_bytes: int = 4 << 30  # in total, over all processes
    gpu_memory_bytes: int = 4 << 30  # of tensors; the driver takes some more for each process
    processes: int = 256  # processes and threads
    open_files: int = 512
    scratch_bytes: int = 1 << 30
    scratch_files: int = 50_000
    seconds: float = 300.0  # wall time of the whole submission
    cell_seconds: float = 60.0  # wall time of one cell
    given_seconds: float = 30.0  # wall time of a given cell; beyond it, it hangs in student code that it calls
    cpu_seconds: float = 600.0  # CPU time of one process
    cell_output_bytes: int = 1 << 20
    output_bytes: int = 8 << 20  # of the whole submission
    evidence_bytes: int = 16 << 20  # what all probes return together; the lessons need 3 MB at most
    threads: int = 1  # of torch: submissions run side by side


@dataclass(frozen=True, kw_only=True)
class GradingSettings:
    """The settings for grading all submissions of a class."""

    secret: str = field(repr=False)  # the course secret, from which the hidden inputs are drawn
    device: str  # cpu or cuda
    tier: str  # of isolation: full, partial or none; grading never falls back to a lower one
    run_all: bool = False  # run given cells that only draw, the self-checks and whole trainings, too


# ---------------------------------------------------------------- evidence: what came back from the sandbox


class Status(StrEnum):
    """The ways in which the run of a cell or a probe can end."""

    OK = "ok"
    RAISED = "raised"  # Python code raised; type and message are known
    TIMEOUT = "timeout"
    DIED = "died"  # the interpreter ended: exit, crash, killed at a limit
    REFUSED = "refused"  # what came back is no evidence: too large, no tensor, forged
    FAULT = "fault"  # the sandbox failed: a fault of the grader


@dataclass(frozen=True, kw_only=True)
class Request:
    """A probe for the sandbox to run: its source, the function to call, and the inputs of its trials."""

    key: str  # "1.4/values": begins with the exercise's id
    source: str
    function: str
    trials: Mapping[str, Inputs]  # by the trial's key, "1.4/values/hidden/0", which is unique within a submission
    seconds: float  # for each trial
    names: Mapping[str, str] = field(default_factory=dict)  # parameter → name in the notebook, if they differ
    watched: tuple[str, ...] = ()  # built-ins whose calls the sandbox reports, as torch names them
    group: str = ""  # consecutive requests of one group share a fork; empty: a fork for this request alone


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The origin of a cell's code: it is provided, answers an exercise, or was added by the student."""

    who: str = ""  # "given", or the id of the exercise that it answers; empty: the student added it
    defines: tuple[str, ...] = ()  # the names that the exercise asks to define


OWN, GIVEN = Origin(), Origin(who="given")


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place in the notebook where an exception was raised. It is only shown, because the sandbox reports it."""

    cell: str = ""  # id of the student's cell in which it happened; empty: in none
    line: int = 0  # of that cell, from 1
    column: int = 0  # from 1; 0 where only the line is known
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # of the tensors that the line names: name → sizes
    # The lesson's code that the line called, if the exception was raised there: the cell's id, and its line.
    given_cell: str = ""
    given_line: int = 0


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """The result of one cell: how it ended, and its outputs."""

    status: Status
    outputs: tuple[dict, ...] = ()  # in nbformat's form
    error: str = ""  # RAISED: the exception's class
    message: str = ""  # RAISED: the exception's text; else what happened
    place: Place = Place()  # RAISED: where
    seconds: float = 0.0
    execution_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The sandbox's reply to one trial of a request. It has `values` if the status is OK."""

    key: str  # of the trial
    status: Status
    values: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""  # RAISED: the exception's class
    lineage: tuple[str, ...] = ()  # RAISED: the class and its bases, by name
    message: str = ""  # RAISED: the exception's text; else what happened
    place: Place = Place()  # RAISED: where
    seconds: float = 0.0
    # The watched built-ins that ran, as (operator, the given cell or the other exercise whose code called it); "" if
    # the exercise's own did. The tripwire in the sandbox reports them, so they cannot be trusted.
    trips: tuple[tuple[str, str], ...] = ()


# ---------------------------------------------------------------- verdicts and grades

# Characters of one text in a grade: what students write must not fill pages and gradebook. `Written.text` has a limit
# of its own (submission/notebook.py).
MOST_TEXT = 2_000


class _ShortTexts:
    """Base class of records that cut their texts, and the texts in their tuples, to MOST_TEXT characters."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            short = tuple(map(_cut, value)) if isinstance(value, tuple) else _cut(value)
            if short != value:
                object.__setattr__(self, name, short)


def _cut(value: Any) -> Any:
    is_long = isinstance(value, str) and len(value) > MOST_TEXT
    return value[: MOST_TEXT - 1] + "…" if is_long else value


class Outcome(StrEnum):
    """The possible outcomes of an exercise or of one of its checks."""

    PASSED = "PASSED"  # full points
    FAILED = "FAILED"  # evidence came back and is wrong, in all or in part
    MISSING = "MISSING"  # the answer is not there, or not solved yet
    TIMEOUT = "TIMEOUT"
    FAULT = "FAULT"  # the grader failed: no points are lost, and the grade is withheld


@dataclass(frozen=True, kw_only=True)
class CheckResult(_ShortTexts):
    """The result of one check of an exercise, over all its trials."""

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
    """An attention map of a public example, and the reference's map."""

    title: str
    got: tuple[tuple[float, ...], ...]  # the rows of the student's map
    expected: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Verdict(_ShortTexts):
    """The result of one exercise: outcome, points, and the messages for the student."""

    id: str
    name: str
    title: str
    outcome: Outcome
    points: float
    max_points: float
    message: str = ""
    excerpt: str = ""  # lines of the student's own code around the line that the message names
    mistake: str | None = None  # the declared mistake that it shows
    hint: str = ""  # what explains it, for the student
    diagnosis: str = ""  # the kind of explanation: "mistake", "structure", "relation", …; "" if there is none
    review: str = ""
    checks: tuple[CheckResult, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    notes: tuple[str, ...] = ()  # "two cells define attention; the last one counted"
    stand_ins: tuple[str, ...] = ()  # earlier exercises that failed and were replaced, here or in `other`
    other: "Verdict | None" = None  # the verdict that does not count: as submitted, or with the stand-ins


@dataclass(frozen=True, kw_only=True)
class Written:
    """A student's answer to a question that people grade."""

    id: str  # "1.Q1"
    title: str
    text: str  # "" for nothing


COST_POINTS = ("uses-builtin", "imports-course")  # flags whose exercise has 0 points


@dataclass(frozen=True, kw_only=True)
class Flag(_ShortTexts):
    """A remark for the instructor, who decides what follows. Only flags in COST_POINTS have already cost points."""

    kind: str
    exercise: str | None
    detail: str


@dataclass(frozen=True, kw_only=True)
class Grade(_ShortTexts):
    """The grade of one submission: graded, unreadable, or a fault of the grader.

    Its score is the automatic one. The student's final score is in the `GradebookEntry`.
    """

    student: str
    assignment: str
    status: str  # graded, unreadable, fault; what stands in for a grade in an entry: missing, recorded
    score: float | None  # None for a fault
    max_score: float
    verdicts: tuple[Verdict, ...] = ()
    flags: tuple[Flag, ...] = ()
    written: tuple[Written, ...] = ()  # one for each question of the lesson
    message: str = ""
    proven: bool = True  # of an unreadable one: the file's bytes prove it; if false, a recorded score stays
    isolation: str = ""
    device: str = ""
    seconds: float = 0.0
    submission_sha256: str = ""

    @property
    def fault(self) -> str:
        """The reason why the submission could not be graded; "" if the status is not "fault"."""
        return (self.message or "the grader failed") if self.status == "fault" else ""


# ---------------------------------------------------------------- what the gradebook says


@dataclass(frozen=True, kw_only=True)
class Student:
    """A student in the gradebook."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""  # the learning platform's own number, if the submission came from there

    @property
    def has_lms_id(self) -> bool:
        """Return True if the id is the learning platform's own number, and not one that only looks like it."""
        return bool(self.lms_id) and self.lms_id == self.id

    @property
    def name(self) -> str:
        """The first and last name; "" if neither is known."""
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True, kw_only=True)
class CellScore:
    """The score of one graded cell of a submission in the gradebook."""

    points: float | None  # those that count, extra credit included; None: nobody has scored the cell yet
    max_points: float
    by_hand: bool = False  # a person set the points, or gave extra credit
    needs_manual_grade: bool = False  # a person must look at it
    comment: str = ""  # what a person wrote

    @property
    def is_earlier(self) -> bool:
        """Return True if a person set the points for an earlier submission, which the student has since replaced."""
        return self.by_hand and self.needs_manual_grade


@dataclass(frozen=True, kw_only=True)
class Appeal:
    """A student's request to regrade one exercise. The decision's points and comment are in the exercise's cell."""

    number: int
    exercise: str  # or the question, or the grade id of a cell that the instructor added
    text: str
    submission_sha256: str  # of the version that the student means
    made: str  # the day, as in 2030-01-31
    outcome: str = ""  # "points": the instructor set them; "keep": they stay; "": nobody has decided
    decided: str = ""  # the day


@dataclass(frozen=True, kw_only=True)
class GradebookEntry:
    """One student's submission in the gradebook. Pages, reports and exports are made from such entries."""

    student: Student
    assignment: str
    # What the grader found, in the newest version that it could grade. The status is "missing" if the student
    # submitted nothing, and "recorded" if the grade is not this grader's but stock nbgrader's.
    grade: Grade
    fault: str = ""  # why the newest version could not be graded; "" if it was
    score: float | None  # the final score, less the penalty; None if no cell has a score
    raw_score: float = 0.0  # before the penalty
    max_score: float
    penalty: float = 0.0  # for a late submission
    seconds_late: float | None = None  # None if due date or time of submission is not known
    due: datetime | None = None  # in UTC, with the student's extension; None if the assignment has no due date
    # By id of exercise or question; the cells that the instructor added by their grade id.
    cells: Mapping[str, CellScore] = field(default_factory=dict)
    appeals: tuple[Appeal, ...] = ()

    @property
    def status(self) -> str:
        """Return "graded", "unreadable", "fault", "missing" or "recorded"."""
        return "fault" if self.fault else self.grade.status

    @property
    def message(self) -> str:
        """The reason why the newest submission was not graded; "" if it was."""
        return self.fault or self.grade.message

    @property
    def has_earlier_score(self) -> bool:
        """Return True if the score is that of an earlier submission, because the newest one could not be graded."""
        return self.status == "fault" and self.grade.status != "fault" and self.score is not None

    @property
    def needs_manual_grade(self) -> bool:
        """Return True if a person must look at one or more cells of the submission."""
        return any(cell.needs_manual_grade for cell in self.cells.values())

    @property
    def waits_for_person(self) -> bool:
        """Return True if the final score depends on a person, and not on another run after a fault."""
        return self.needs_manual_grade and not self.fault

    def points(self, verdict: Verdict) -> float | None:
        """Return the points of an exercise's cell, or the verdict's points if there is no cell.

        Return None if the cell has no score yet.
        """
        cell = self.cells.get(verdict.id)
        return cell.points if cell else verdict.points

    @classmethod
    def of(cls, grade: Grade) -> Self:
        """Return an entry for a grade that is not in a gradebook. It has the grade's score and no cells."""
        score = grade.score
        return cls(
            student=Student(id=grade.student),
            assignment=grade.assignment,
            grade=grade,
            fault=grade.fault,
            score=score,
            raw_score=score or 0.0,
            max_score=grade.max_score,
        )


# ---------------------------------------------------------------- judging one trial


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The judgement of one trial, as a check's judge returns it."""

    passed: bool
    message: str = ""  # for the student: what came back, and how it is wrong; empty when passed


@dataclass(frozen=True, kw_only=True)
class Case:
    """One trial, with all information that a check's judge may need."""

    inputs: Inputs
    got: Mapping[str, Value]  # the evidence: what the probe returned in the sandbox
    expected: Callable[[], Mapping[str, Value]]  # computes what the probe returns with the reference
    rtol: float  # multiplies the tolerance of dtype and device
    device: str = "cpu"  # where the submission ran


Judge = Callable[[Case], Finding]
