"""A queue of attempts that tests take turns in, without the time that grading takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from grader.serve import attempts, grading
from grader.serve.attempts import Attempt
from grader.serve.grading import AttemptWriter, Queue
from grader.serve.site import Site
from tests.classes.gradebook.small_course import NAME
from tests.serve.people import student

OTHERS = ("2-heads", "3-vlm", "4-modern")  # assignments besides NAME


@dataclass
class Clock:
    """A clock that tests set."""

    moment: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.moment

    def passes(self, **time: float) -> None:
        self.moment += timedelta(**time)


@dataclass
class Turns:
    """Takes attempts out of the queue as the grading process does, and ends them with no points."""

    site: Site
    clock: Clock

    def __post_init__(self) -> None:
        self.queue = Queue(self.site, wait=False)

    def begin(self) -> Attempt | None:
        """Take the next attempt; None if none may begin now."""
        file = next(self.queue, None)
        return None if file is None else self.queue.taken[file.parts]

    def end(self, attempt: Attempt) -> None:
        """Let an attempt be graded."""
        self.queue.taken.pop(attempts.submission_of(self.site.folder, attempt).parts)
        nothing: Any = None  # `_keep` is replaced, and looks at none of them
        AttemptWriter(self.site, nothing).finish(attempt, nothing, nothing)

    def dies(self) -> None:
        """Let the grading process die, and another one begin."""
        self.queue = Queue(self.site, wait=False)
        attempts.begin(self.site.store)

    def rest(self, **lasts: float) -> list[str]:
        """Grade until none may begin; return whose attempts had a turn, in their order."""
        students = []
        while (attempt := self.begin()) is not None:
            self.clock.passes(**(lasts or {"seconds": 1}))
            self.end(attempt)
            students.append(attempt.student)
        return students


@contextmanager
def turns_of(site: Site) -> Iterator[Turns]:
    """Empty the queue, and let a test take turns in it with a clock of its own."""
    site.store.change("UPDATE attempt SET state = ? WHERE state IN (?, ?)", attempts.GRADED, "waiting", "grading")
    clock = Clock()

    def keep(self: AttemptWriter, attempt: Attempt, *rest: object) -> Attempt:
        return replace(attempt, state=attempts.GRADED, score=0.0, max_score=100.0, worth=0.0)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(attempts, "now", clock)
        patched.setattr(grading, "now", clock, raising=False)
        patched.setattr(AttemptWriter, "_keep", keep)
        yield Turns(site, clock)


def uploads(site: Site, who: str, *names: str, remark: str = "") -> None:
    """Let a student hand in something at each of some assignments."""
    for name in names or (NAME,):
        answer = student(site, who).hands_in(f'{{"of": "{who} {name} {remark}"}}'.encode(), name)
        assert answer.status_code == 303, answer.text


def states(site: Site, who: str) -> list[str]:
    """Return the states of a student's attempts, the oldest first."""
    return [one.state for one in reversed(attempts.attempts_of(site.store, who))]
