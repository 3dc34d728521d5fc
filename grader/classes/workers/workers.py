"""The interface to whatever runs jobs: this process, processes of this machine, or a cluster."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any


class WorkersLost(Exception):
    """The workers are gone, or do nothing; the message says what to do."""


class UnfitWorker(Exception):
    """A worker cannot grade: another version, a tier that it does not reach, lessons that it cannot read."""

    def __init__(self, message: str, worker: str = "") -> None:
        """Say why, and which worker of a cluster it is."""
        super().__init__(message, worker)
        self.message, self.worker = message, worker

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, kw_only=True)
class Workers:
    """How to start what runs jobs, and how to use it."""

    start: Callable[[], Executor]  # starts an executor; called again after a worker died and broke it
    grade: Callable[..., Any]  # grades a job: takes a Job, returns a Graded
    ahead: Callable[[], int]  # returns how many unfinished jobs the executor may have at a time
    warm_up: Callable[[], None] = lambda: None  # starts workers in the background, before the first job
    # Gives no further job to a worker that cannot grade; tells whether others are there.
    avoid: Callable[[UnfitWorker], bool] = lambda unfit: False
    # Called now and then while no job ends, with the seconds since the last one did. May raise WorkersLost.
    still_waiting: Callable[[float], None] = lambda seconds: None
    device: str = ""  # set for a cluster alone: cpu or cuda, never auto
    note: str = ""  # a remark to print before grading starts
