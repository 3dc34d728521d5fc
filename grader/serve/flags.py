"""Collects the flags of all attempts at an assignment, so that a later attempt cannot hide an earlier flag.

A flag marks something suspicious in a submission for the instructor.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from grader.records import Flag, GradebookEntry
from grader.serve.attempts import Attempt

MOST_SHOWN = 30  # flags of a student at an assignment: one student cannot fill the page
Key = tuple[str, str]  # assignment and student


@dataclass(frozen=True, kw_only=True)
class Flagged:
    """A flag, and the numbers of the attempts that have it."""

    flag: Flag
    attempts: tuple[int, ...]  # their numbers; none for the flag of a submission that was not uploaded here
    counts: bool  # True if the attempt that counts has the flag

    @property
    def where(self) -> str:
        """The numbers of the attempts in words, or "" if the submission was not uploaded to this server."""
        if not self.attempts:
            return ""
        numbers = ", ".join(map(str, self.attempts))
        return f"{'attempt' if len(self.attempts) == 1 else 'attempts'} {numbers}"


def as_text(flags: Iterable[Flag]) -> str:
    """Return flags as JSON text, or "" if there are no flags."""
    written = [asdict(flag) for flag in flags]
    return json.dumps(written) if written else ""


def from_text(text: str) -> list[Flag]:
    """Return the flags in a text that `as_text` has written."""
    return [Flag(**fields) for fields in json.loads(text or "[]")]


def flags_of(attempts: Sequence[Attempt], entry: GradebookEntry | None) -> list[Flagged]:
    """Return the flags of a student's attempts at an assignment and of the gradebook, each flag once.

    Flags of the attempt that counts are first. The other flags are in the order of the attempts.
    """
    numbers: dict[Flag, list[int]] = {flag: [] for flag in (entry.grade.flags if entry else ())}
    counting = set(numbers)
    for attempt in sorted(attempts, key=lambda attempt: attempt.nth):
        for flag in from_text(attempt.flags):
            numbers.setdefault(flag, []).append(attempt.nth)
            if attempt.counts:
                counting.add(flag)
    found = [Flagged(flag=flag, attempts=tuple(n), counts=flag in counting) for flag, n in numbers.items()]
    return sorted(found, key=lambda flagged: not flagged.counts)


def with_all_flags(entries: Iterable[GradebookEntry], flagged: Mapping[Key, Sequence[Flagged]]) -> list[GradebookEntry]:
    """Return copies of gradebook entries whose grades have the flags of all attempts.

    If a flag is not from the attempt that counts, its detail names the attempts that have it.
    """
    made = []
    for entry in entries:
        others = [
            replace(other.flag, detail=f"{other.where}: {other.flag.detail}")
            for other in flagged.get((entry.assignment, entry.student.id), ())
            if not other.counts
        ]
        flags = (*entry.grade.flags, *others[:MOST_SHOWN])
        made.append(replace(entry, grade=replace(entry.grade, flags=flags)))
    return made
