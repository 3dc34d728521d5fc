"""Reserve a CPU core for each job.

The grader and its sandbox take turns about a hundred times in a submission. The sandbox runs on the core of
the thread that grades: on one core, both find their data in its cache, and neither waits until another core
leaves its idle state.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@contextmanager
def reserve_core() -> Iterator[None]:
    """Pin this thread, while the context is open, to a core that no other job of this machine has reserved.

    Do not pin it if all cores are reserved, if only one core is allowed, or if the system cannot pin threads.
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
    """Reserve a core by binding an abstract socket with its name; return None if another job has it.

    Closing the socket ends the reservation; the kernel closes it if this process ends.
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
    """Return the sort key of a core: first hardware threads come before second ones of physical cores."""
    path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    siblings = path.read_text() if path.is_file() else ""
    first = siblings.replace("-", ",").partition(",")[0].strip()
    return first.isdigit() and int(first) != core, core
