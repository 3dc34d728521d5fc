"""Grade one job in this process, which is a worker or the coordinator itself."""

import platform
import zlib
from contextlib import nullcontext, suppress
from functools import lru_cache

import nbformat
from nbformat import NotebookNode

from grader.classes.workers.affinity import reserve_core
from grader.classes.workers.cluster import this_worker
from grader.classes.workers.grade_key import code_digest
from grader.classes.workers.job import RIGHT_SO_FAR, Job
from grader.classes.workers.servers import thread_server
from grader.classes.workers.workers import UnfitWorker
from grader.grading import grade as grading
from grader.grading.graded import Graded
from grader.grading.judge_run import Tell
from grader.paths import own_lessons
from grader.records import Outcome, Verdict
from grader.submission.file import SubmissionFile


def run(job: Job) -> Graded:
    """Grade a job in this process.

    Raises:
        UnfitWorker: this machine has another version of the grader, course or packages, does not reach the tier of the
            settings, or cannot read its lessons.
    """
    try:
        return _run(job)
    except Exception as error:  # not the submission's: what grades it raises none
        raise UnfitWorker(f"{type(error).__name__}: {error}", this_worker()) from error


class OtherVersion(Exception):
    """This worker's grader is not the coordinator's, and would give other grades."""


def _run(job: Job) -> Graded:
    """Do what `run` does, but raise the errors themselves."""
    if _digest(job.released) != job.code:
        here = own_lessons()
        lessons = f"the lessons of {here}" if here else "the lessons that come with the grader"
        raise OtherVersion(
            f"{platform.node()} has another grader, other lessons or other Python packages than the machine that hands "
            f"out the work. Install the same on both. This worker has {lessons}: for a course with lessons of its own, "
            "start the workers with GRADER_COURSE set to a copy of it"
        )
    settings = job.settings
    server = thread_server(settings.tier, settings.device)
    with reserve_core() if settings.device == "cpu" else nullcontext():  # a GPU's driver needs more cores
        tell = _beside(job.file) if job.tells else None
        return grading.grade(job.file, server=server, settings=settings, released=_notebook(job.released), tell=tell)


def _beside(file: SubmissionFile) -> Tell:
    """Return what writes each exercise that is right beside the submission; on another machine than its own, nothing."""
    path = file.path.with_name(RIGHT_SO_FAR)
    with suppress(OSError):
        path.unlink(missing_ok=True)  # a run that was killed has left it

    def tell(verdict: Verdict) -> None:
        if verdict.outcome is Outcome.PASSED:
            with suppress(OSError), path.open("a") as lines:
                lines.write(f"{verdict.id}\n")

    return tell


@lru_cache(8)
def _notebook(released: bytes) -> NotebookNode | None:
    """Decompress and parse the student notebook of a job; None if the assignment is unknown."""
    raw = zlib.decompress(released)
    return nbformat.reads(raw.decode("utf-8"), as_version=4) if raw else None


@lru_cache(8)
def _digest(released: bytes) -> str:
    """Compute the digest of this machine's code, with the student notebook of a job."""
    return code_digest(zlib.decompress(released))
