"""A class of submissions: found, graded side by side, in any order that they finish."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from grader import grading
from grader.execution.interpreter import Server
from grader.exercise import Grade
from grader.grading import Graded
from grader.store import Store, environment
from grader.submission.found import Found, Unreadable
from grader.submission.intake import read

WORKER_BYTES = 3 << 30  # what one job may take at most times: a fork server, a submission and its judge


@dataclass(frozen=True, kw_only=True)
class Course:
    """What grading needs beside the submissions."""

    root: Path
    secret: str
    device: str  # cpu or cuda
    isolation: str  # the tier that was asked for
    jobs: int = 1
    force: bool = False
    run_all: bool = False  # given cells that only draw, too


def default_jobs(submissions: int) -> int:
    """One per core, as far as memory and work reach."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // WORKER_BYTES, submissions))


def grade_class(found: Sequence[Found], course: Course, tier: str) -> Iterator[tuple[Found, Graded, bool]]:
    """Grade a class; each submission once, as soon as it is done.

    Args:
        tier: the isolation tier that `course.isolation` comes to on this machine.

    Yields:
        The submission, its grade, and whether the grade was there already.
    """
    store = Store(course.root / ".grader" / "grades")
    todo, keys = [], {}
    for one in found:
        key = _key(one, course, tier)
        known = None if course.force or not key else store.get(one.student, one.assignment, key)
        if known is not None:
            yield one, Graded(grade=known), True
        else:
            todo.append(one)
            keys[one] = key
    for one, graded in _grade_all(todo, course):
        store.put(graded.grade, keys[one])
        yield one, graded, False


def _key(one: Found, course: Course, tier: str) -> str:
    """What the grade depends on; empty where the submission cannot be read."""
    with suppress(Unreadable):
        sha = read(one).sha256
        return f"{sha}-{environment(course.root, one.assignment, course.secret, course.device, tier)}"
    return ""


def _grade_all(todo: Sequence[Found], course: Course) -> Iterator[tuple[Found, Graded]]:
    if not todo:
        return
    if course.jobs == 1:
        with Server(isolation=course.isolation, device=course.device) as server:
            for one in todo:
                yield one, _grade(one, course, server)
        return
    # Fresh processes, not forks: this one may have used torch's threads.
    with ProcessPoolExecutor(
        course.jobs, get_context("spawn"), initializer=_start, initargs=(course,)
    ) as pool:
        waiting: dict[Future, Found] = {}
        rest = iter(todo)
        exhausted = False
        while waiting or not exhausted:
            # A few ahead of the workers, not the whole class: the coordinator's memory does not grow with it.
            while not exhausted and len(waiting) < 2 * course.jobs:
                one = next(rest, None)
                exhausted = one is None
                if one is not None:
                    waiting[pool.submit(_work, one)] = one
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                one = waiting.pop(future)
                error = future.exception()
                yield one, _lost(one, error) if error else future.result()


def _grade(one: Found, course: Course, server: Server) -> Graded:
    return grading.grade(
        one,
        server=server,
        secret=course.secret,
        root=course.root,
        device=course.device,
        run_all=course.run_all,
    )


def _lost(one: Found, error: BaseException) -> Graded:
    text = f"a grading process was lost ({type(error).__name__}: {error}); run this again"
    return Graded(
        grade=Grade(
            student=one.student,
            assignment=one.assignment,
            status="fault",
            score=None,
            max_score=0.0,
            message=text,
        )
    )


_worker: tuple[Course, Server] | None = None  # of this process, where it is a worker


def _start(course: Course) -> None:
    global _worker
    import torch

    torch.set_num_threads(1)
    _worker = course, Server(isolation=course.isolation, device=course.device)


def _work(one: Found) -> Graded:
    course, server = _worker
    return _grade(one, course, server)
