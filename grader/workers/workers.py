"""The interface of all places where jobs run: this process, processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Workers:
    """A place where jobs run."""

    start: Callable[[], Executor]  # starts an executor; called again when one broke
    grade: Callable[..., Any]  # grades a job: takes a Job, returns a Graded
    ahead: Callable[[], int]  # returns how many jobs may be handed out at a time
    warm_up: Callable[[], None] = lambda: None  # starts workers in the background, before the first job
    device: str = ""  # of a cluster: cpu or cuda, also where `auto` was asked for
    note: str = ""  # what the operator should know
