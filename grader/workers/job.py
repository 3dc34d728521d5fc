"""One submission as a job: all that a worker needs travels with it, and no file is shared.

The worker has the grader installed, in the coordinator's version. The submission's code, the student notebook that it is
put into and the course secret travel with the job.
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
    """What grading needs beside the submissions."""

    root: Path
    settings: GradingSettings
    force: bool = False  # grade what is in the cache, too


@dataclass(frozen=True, kw_only=True)
class Job:
    """A submission, and everything that it is graded with."""

    file: SubmissionFile
    key: str  # what the grade depends on: its key in the cache
    content: bytes = field(default=b"", repr=False)  # the file as it was handed in, until it is parsed
    released: bytes = field(repr=False)  # the student notebook, packed
    code: str  # digest of the coordinator's grader, declaration and packages
    settings: GradingSettings
    attempts: int = 1  # how often it was given to a worker, this time included


def pack(notebook: bytes) -> bytes:
    """Compress a notebook for the way to a worker."""
    return zlib.compress(notebook, 9)


class JobMaker:
    """Read submissions and make jobs of them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._released: dict[str, tuple[bytes, str]] = {}  # student notebook and code digest, by assignment

    def __call__(self, file: SubmissionFile) -> Job:
        """Read a submission, without parsing it, and find the key of its grade."""
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
        if assignment not in self._released:
            path = notebook_path(self._course.root, assignment)
            raw = path.read_bytes() if path.is_file() else b""  # an unknown assignment has none
            self._released[assignment] = pack(raw), code_digest(raw)
        return self._released[assignment]


def parsed(job: Job) -> Job:
    """Parse a job's submission: what travels to the worker is its code, or the reason why it cannot be read."""
    file = job.file
    if not file.problem:
        try:
            file = replace(file, submission=parse(job.content))
        except Unreadable as error:
            file = replace(file, problem=str(error))
    return replace(job, file=file, content=b"")
