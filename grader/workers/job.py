"""One submission as a job, with all that a worker needs: worker and coordinator share no file.

The worker has the same version of the grader installed. A job holds the submission's code, the student notebook that it
is put into, and the course secret.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from grader.paths import notebook_path
from grader.records import GradingSettings
from grader.results.cache_key import cache_key, code_digest
from grader.submission.file import SubmissionFile, Unreadable
from grader.submission.intake import content
from grader.submission.notebook import parse


@dataclass(frozen=True, kw_only=True)
class Course:
    """What grading a class needs beside the submissions."""

    root: Path
    settings: GradingSettings
    force: bool = False  # grade again what is in the cache


@dataclass(frozen=True, kw_only=True)
class Job:
    """A submission, and everything that is needed to grade it."""

    file: SubmissionFile
    key: str  # of the grade in the cache: a digest of all that the grade depends on
    content: bytes = field(
        default=b"", repr=False
    )  # the file as the student handed it in, until it is parsed
    released: bytes = field(repr=False)  # the student notebook, compressed
    code: str  # digest of the coordinator's grader, declaration and packages
    settings: GradingSettings
    attempts: int = 1  # how often a worker was handed this job, this time included


def pack(notebook: bytes) -> bytes:
    """Compress a notebook, as a job holds it."""
    return zlib.compress(notebook, 9)


class JobMaker:
    """Reads submissions and makes jobs of them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._released: dict[str, tuple[bytes, str]] = {}  # student notebook and code digest, by assignment

    def __call__(self, file: SubmissionFile) -> Job:
        """Read a submission, without parsing it, and compute the key of its grade."""
        raw = b""
        try:
            raw = content(file)
            digest = sha256(raw).hexdigest()
        except Unreadable as error:
            file = replace(file, problem=str(error))
            digest = sha256(file.problem.encode("utf-8", "replace")).hexdigest()
        released, code = self._of_assignment(file.assignment)
        settings = self._course.settings
        key = cache_key(digest, code, settings.secret, settings.device, settings.tier, str(settings.run_all))
        return Job(file=file, key=key, content=raw, released=released, code=code, settings=settings)

    def _of_assignment(self, assignment: str) -> tuple[bytes, str]:
        """Return an assignment's compressed student notebook and code digest; they are read once."""
        if assignment not in self._released:
            path = notebook_path(self._course.root, assignment)
            raw = path.read_bytes() if path.is_file() else b""  # an unknown assignment has none
            self._released[assignment] = pack(raw), code_digest(raw)
        return self._released[assignment]


def parsed(job: Job) -> Job:
    """Replace a job's file content by the parsed submission, or by the reason why it cannot be read."""
    file = job.file
    if not file.problem:
        try:
            file = replace(file, submission=parse(job.content))
        except Unreadable as error:
            file = replace(file, problem=str(error))
    return replace(job, file=file, content=b"")
