"""A job, which contains everything that a worker needs to grade a submission, and `Workers`, which runs jobs.

The coordinator is the process that hands out jobs. It shares no files with the workers, but each
worker has the same version of the grader installed. A job contains the submission, the student
notebook in which the submission is rebuilt, the course secret, and the key of the grade. The key is
a digest of everything that the grade depends on; a rerun finds the grade by its key.
"""

import platform
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grader
from grader.paths import notebook_path, own_lessons
from grader.records import GradingSettings
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.intake import content
from grader.submission.notebook import parse


class WorkersLost(Exception):
    """The workers are gone, or do nothing. The message names the next step."""


class UnfitWorker(Exception):
    """A worker cannot grade: it has another version, does not reach the tier, or cannot read its lessons."""

    def __init__(self, message: str, worker: str = "") -> None:
        """Make the error from its reason and the address of the worker, "" outside a cluster."""
        super().__init__(message, worker)
        self.message, self.worker = message, worker

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, kw_only=True)
class Workers:
    """The functions that start and use an executor of jobs."""

    start: Callable[[], Executor]  # starts an executor; called again after a worker died and broke it
    grade: Callable[..., Any]  # grades a job: takes a Job, returns a Graded
    ahead: Callable[[], int]  # returns how many unfinished jobs the executor may have at a time
    warm_up: Callable[[], None] = lambda: None  # starts workers in the background, before the first job
    # Gives no further job to a worker that cannot grade; tells whether others are there.
    avoid: Callable[[UnfitWorker], bool] = lambda unfit: False
    # Called now and then while no job ends, with the seconds since the last one did. May raise WorkersLost.
    still_waiting: Callable[[float], None] = lambda seconds: None
    device: str = ""  # only for a cluster: cpu or cuda, never auto
    note: str = ""  # a remark to print before grading starts


# A grade depends on every module of grader/ and attention/ except these: they run before or after the
# grading, or only pass submissions and grades on. A new module is part of the key until somebody adds it to
# this list.
NOT_IN_A_GRADE = (
    "__main__.py",
    "build",  # it only makes the student notebook, whose bytes are part of the key
    "classes",
    "cli.py",
    "commands",
    "report",
    "secret.py",  # it only reads the secret, which is part of the key
    "serve",
    "shipped",  # copies for `grader init`
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")


def grade_key(submission_sha256: str, *others: str) -> str:
    """Return the key of a grade: a submission's digest, joined with a digest of `others`.

    Args:
        others: all other texts that the grade depends on.
    """
    return f"{submission_sha256}-{sha256(chr(31).join(others).encode()).hexdigest()}"


def code_digest(released: bytes) -> str:
    """Return a digest of all code that a grade depends on, and of a student notebook.

    The code is the grader, the lessons, the reference code and the packages on this machine.

    Args:
        released: the bytes of the student notebook.
    """
    return sha256(_installed_code(own_lessons()).encode() + released).hexdigest()


@cache
def _installed_code(lessons: Path | None) -> str:
    """Return a digest of the software that grades.

    It covers the versions of Python and PACKAGES, and the code of the grader, of `attention` and
    of the course's `lessons`.
    """
    import attention

    packages = [version(name) for name in PACKAGES]
    digest = sha256(f"{platform.python_version()}{packages}{grader.__version__}".encode())
    folders = (Path(grader.__file__).parent, Path(attention.__file__).parent, lessons)
    digest.update(source_digest(*filter(None, folders)).encode())
    return digest.hexdigest()


def source_digest(*folders: Path) -> str:
    """Return a digest of all modules below these folders that a grade depends on."""
    digest = sha256()
    for folder in folders:
        for file in graded_sources(folder):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def graded_sources(package: Path) -> Iterator[Path]:
    """Yield the modules of a package that a grade depends on: all modules except those in NOT_IN_A_GRADE."""
    for file in sorted(package.rglob("*.py")):
        if file.relative_to(package).parts[0] not in NOT_IN_A_GRADE:
            yield file


@dataclass(frozen=True, kw_only=True)
class Course:
    """Everything that grading a class needs except the submissions."""

    root: Path
    settings: GradingSettings
    force: bool = False  # grade again submissions whose grades are recorded


@dataclass(frozen=True, kw_only=True)
class Job:
    """A submission, and everything else that is needed to grade it."""

    file: SubmissionFile
    key: str  # under which a rerun finds the grade: a digest of all that the grade depends on
    # The file as the student handed it in; empty once `parsed` has put the submission into `file`.
    content: bytes = field(default=b"", repr=False)
    released: bytes = field(repr=False)  # the student notebook, compressed
    code: str  # digest of the coordinator's grader, declaration and packages
    settings: GradingSettings
    attempts: int = 1  # how often this job was handed to a worker, the current attempt included


class JobMaker:
    """Reads submissions and makes a job for each of them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._released: dict[str, tuple[bytes, str]] = {}  # student notebook and code digest, by assignment

    def __call__(self, file: SubmissionFile) -> Job:
        """Read a submission without parsing it, compute the key of its grade, and return the job.

        If the file cannot be read, the job's `file.problem` states the reason.
        """
        raw = b""
        try:
            raw = content(file)
            digest = sha256(raw).hexdigest()
        except IntakeError as error:
            file = replace(file, problem=error.problem)
            digest = sha256(str(error).encode("utf-8", "replace")).hexdigest()
        released, code = self._of_assignment(file.assignment)
        settings = self._course.settings
        texts = (settings.secret, settings.device, settings.tier, str(settings.run_all))
        key = grade_key(digest, code, *texts, *(["draft"] if file.draft else []))  # a flag goes with the grade
        return Job(file=file, key=key, content=raw, released=released, code=code, settings=settings)

    def _of_assignment(self, assignment: str) -> tuple[bytes, str]:
        """Return the compressed student notebook of an assignment, and the digest of the code that grades it.

        Both are computed only once for each assignment.
        """
        if assignment not in self._released:
            path = notebook_path(self._course.root, assignment)
            raw = path.read_bytes() if path.is_file() else b""  # an unknown assignment has none
            self._released[assignment] = zlib.compress(raw, 9), code_digest(raw)
        return self._released[assignment]


def parsed(job: Job) -> Job:
    """Return a copy of a job whose content is parsed into `file.submission`.

    If the content cannot be parsed, `file.problem` states the reason.
    """
    file = job.file
    if not file.problem:
        try:
            file = replace(file, submission=parse(job.content))
        except IntakeError as error:
            file = replace(file, problem=error.problem)
    return replace(job, file=file, content=b"")
