"""A core for each job.

The two sides of a job, this process and its sandbox, take turns a hundred times in a submission. On one core they find
their data in its cache, and neither waits for another core to wake up.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@contextmanager
def reserve_core() -> Iterator[None]:
    """This thread on a core that no other job of this machine has, meanwhile; where all are taken, wherever it likes."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    held = next(filter(None, map(_take, sorted(before, key=_rank))), None) if len(before) > 1 else None
    if held is None:
        yield
        return
    core, claim = held
    with claim:
        os.sched_setaffinity(0, {core})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)


def _take(core: int) -> tuple[int, socket.socket] | None:
    """A claim on a core: a name that one process of the machine can have, and that goes with it."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0attention-course-core-{core}")
    except OSError:
        claim.close()
        return None
    return core, claim


@cache
def _rank(core: int) -> tuple[bool, int]:
    """Two hardware threads of one core come one after the other: the second of each once all first ones are taken."""
    place = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    siblings = place.read_text() if place.is_file() else ""
    first = siblings.replace("-", ",").partition(",")[0].strip()
    return first.isdigit() and int(first) != core, core
