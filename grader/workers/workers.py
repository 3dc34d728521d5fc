"""A place where jobs run, behind one interface: this process, processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Workers:
    """A place where jobs run."""

    start: Callable[[], Executor]  # once more where the executor broke
    grade: Callable[..., Any]  # what each job is handed to: takes a Job, returns a Graded
    ahead: Callable[[], int]  # how many jobs to hand out at a time
    warm_up: Callable[[], None] = lambda: None  # start now what will be needed, and do not wait for it
    device: str = ""  # a cluster's: what `auto` came to
    note: str = ""  # for the operator
