"""Turn a submission into a job, which holds all that a worker needs.

The coordinator, the process that hands out jobs, shares no file with the worker, but the worker has the same
version of the grader installed. A job holds the submission, the student notebook in which it is rebuilt, and
the course secret.
"""

import zlib
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from grader.classes.workers.grade_key import code_digest, grade_key
from grader.paths import notebook_path
from grader.records import GradingSettings
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.intake import content
from grader.submission.notebook import parse


@dataclass(frozen=True, kw_only=True)
class Course:
    """What grading a class needs beside the submissions."""

    root: Path
    settings: GradingSettings
    force: bool = False  # grade again submissions whose grades are recorded


@dataclass(frozen=True, kw_only=True)
class Job:
    """A submission, and everything that is needed to grade it."""

    file: SubmissionFile
    key: str  # under which a rerun finds the grade: a digest of all that the grade depends on
    # The file as the student handed it in; empty once `parsed` has put the submission into `file`.
    content: bytes = field(default=b"", repr=False)
    released: bytes = field(repr=False)  # the student notebook, compressed
    code: str  # digest of the coordinator's grader, declaration and packages
    settings: GradingSettings
    attempts: int = 1  # how often this job was handed to a worker, the current attempt included


class JobMaker:
    """Reads submissions and makes jobs of them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._released: dict[str, tuple[bytes, str]] = {}  # student notebook and code digest, by assignment

    def __call__(self, file: SubmissionFile) -> Job:
        """Read a submission without parsing it, compute the key of its grade, and return the job.

        If the file cannot be read, the job's `file.problem` says why.
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
        """Return an assignment's compressed student notebook, and its code digest; compute each once."""
        if assignment not in self._released:
            path = notebook_path(self._course.root, assignment)
            raw = path.read_bytes() if path.is_file() else b""  # an unknown assignment has none
            self._released[assignment] = zlib.compress(raw, 9), code_digest(raw)
        return self._released[assignment]


def parsed(job: Job) -> Job:
    """Copy a job, with its content parsed into `file.submission`, or the reason why not in `file.problem`."""
    file = job.file
    if not file.problem:
        try:
            file = replace(file, submission=parse(job.content))
        except IntakeError as error:
            file = replace(file, problem=error.problem)
    return replace(job, file=file, content=b"")
