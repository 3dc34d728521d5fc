"""Grades one job in this process, a worker or the coordinator itself, on a CPU core reserved for the job.

The grader and its sandbox take turns about a hundred times in a submission. The sandbox runs on the
same core as the thread that grades. So both find their data in the core's cache, and neither waits
until another core leaves its idle state.
"""

import os
import platform
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.classes.workers.cluster import this_worker
from grader.classes.workers.job import Job, UnfitWorker, code_digest
from grader.classes.workers.local import thread_server
from grader.grading import grade as grading
from grader.grading.graded import Graded
from grader.paths import own_lessons


class OtherVersion(Exception):
    """This worker's grader differs from the coordinator's grader, and would give other grades."""


def run(job: Job) -> Graded:
    """Grade a job in this process.

    Raises:
        UnfitWorker: this machine has another version of the grader, the course or the packages,
            does not reach the tier of the settings, or cannot read its lessons.
    """
    file, settings = job.file, job.settings
    try:
        if _digest(job.released) != job.code:
            here = own_lessons()
            lessons = f"the lessons of {here}" if here else "the lessons that come with the grader"
            raise OtherVersion(
                f"{platform.node()} has another grader, other lessons or other Python packages than the machine that "
                f"hands out the work. Install the same on both. This worker has {lessons}: for a course with lessons "
                "of its own, start the workers with GRADER_COURSE set to a copy of it"
            )
        server = thread_server(settings.tier, settings.device)
        with reserve_core() if settings.device == "cpu" else nullcontext():  # a GPU's driver needs more cores
            return grading.grade(file, server=server, settings=settings, released=_notebook(job.released))
    except Exception as error:  # not the submission's: what grades it raises none
        raise UnfitWorker(f"{type(error).__name__}: {error}", this_worker()) from error


@lru_cache(8)
def _notebook(released: bytes) -> NotebookNode | None:
    """Return the student notebook that a job contains in compressed form, or None if the assignment is unknown."""
    raw = zlib.decompress(released)
    return nbformat.reads(raw.decode("utf-8"), as_version=4) if raw else None


@lru_cache(8)
def _digest(released: bytes) -> str:
    """Return the digest of this machine's code together with the student notebook of a job."""
    return code_digest(zlib.decompress(released))


@contextmanager
def reserve_core() -> Iterator[None]:
    """Reserve a core for the job, and pin this thread to it until the context ends.

    No other job on this machine gets the same core. The thread is not pinned if all cores are
    reserved, if only one core is allowed, or if the system cannot pin threads.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    cores = sorted(allowed, key=_rank) if len(allowed) > 1 else []
    reservation = next(filter(None, map(_reserve, cores)), None)
    if reservation is None:
        yield
        return
    core, name = reservation
    with name:
        os.sched_setaffinity(0, {core})
        try:
            yield
        finally:
            os.sched_setaffinity(0, allowed)


def _reserve(core: int) -> tuple[int, socket.socket] | None:
    """Reserve a core by binding an abstract socket with its name. Return None if another job has reserved it.

    Closing the socket ends the reservation. The kernel closes it if this process ends.
    """
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0attention-course-core-{core}")
    except OSError:
        name.close()
        return None
    return core, name


@cache
def _rank(core: int) -> tuple[bool, int]:
    """Return the sort key of a core: the first hardware thread of each physical core sorts before the others."""
    path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    siblings = path.read_text() if path.is_file() else ""
    first = siblings.replace("-", ",").partition(",")[0].strip()
    return first.isdigit() and int(first) != core, core
