"""The interface to whatever runs jobs: this process, processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Workers:
    """How to start what runs jobs, and how to use it."""

    start: Callable[[], Executor]  # starts an executor; called again after a worker died and broke it
    grade: Callable[..., Any]  # grades a job: takes a Job, returns a Graded
    ahead: Callable[[], int]  # returns how many unfinished jobs the executor may have at a time
    warm_up: Callable[[], None] = lambda: None  # starts workers in the background, before the first job
    device: str = ""  # set for a cluster alone: cpu or cuda, never auto
    note: str = ""  # a remark to print before grading starts
