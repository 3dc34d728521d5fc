"""Grades that were already given, by what they depend on: a rerun grades only what changed.

`.grader/grades/<assignment>/<hash of the student>.json` holds a student's newest grade on its second line. The first,
which is all that a rerun has to read, says it in brief, with the key under which it was given, and digests of the
files that were written with it: only where these still stand is the grade taken from here. The folder can be
deleted at any time; everything is then graded anew.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from grader.records import Grade
from grader.report.jsonl import from_json, from_record, to_json, to_record

MOST_GRADES = 500_000
MOST_BYTES = 16 << 30  # a grade takes about 50 KB
STALE = 3600.0  # seconds after which a half-written grade is a killed run's


@dataclass(frozen=True, kw_only=True)
class CachedGrade:
    """A grade as it is kept."""

    brief: Grade  # as `brief` makes it
    line: str = field(repr=False)  # the whole grade, as `to_json` has it
    files: Mapping[str, str] = field(default_factory=dict)  # digests of what was written with it, by kind

    @property
    def grade(self) -> Grade:
        return from_json(self.line)


def brief(grade: Grade) -> Grade:
    """A grade as the gradebook and the table need it: without checks and heatmaps, most of its size."""
    short = (replace(one, checks=(), heatmaps=(), other=None) for one in grade.verdicts)
    return replace(grade, verdicts=tuple(short))


@dataclass(frozen=True)
class GradeCache:
    """The grades of a course. The oldest are dropped beyond a limit."""

    folder: Path
    most_grades: int = MOST_GRADES
    most_bytes: int = MOST_BYTES

    def get(self, student: str, assignment: str, key: str) -> CachedGrade | None:
        """The stored grade, if it was given under this key."""
        try:
            first, _, line = self._path(student, assignment).read_text("ascii").partition("\n")
            held = json.loads(first)
            if held.get("key") != key or not line.endswith("}\n"):
                return None
            return CachedGrade(
                brief=from_record(held["brief"]), line=line.rstrip("\n"), files=dict(held["files"])
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing, cut off or of another version: graded anew

    def newest(self, student: str, assignment: str) -> Grade | None:
        """The stored grade, whatever it was given under."""
        return _grade_in(self._path(student, assignment))

    def put(self, grade: Grade, key: str, files: Mapping[str, str]) -> str:
        """Keep a grade, in one atomic step; its JSON line. A fault is kept for the report, and never found by `get`.

        Raises:
            OSError: there is no room, or no right to write.
        """
        path = self._path(grade.student, grade.assignment)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        held = {
            "key": key if grade.status != "fault" else "",
            "files": dict(files),
            "brief": to_record(brief(grade)),
        }
        line = to_json(grade)
        try:
            partial.write_text(f"{json.dumps(held)}\n{line}\n", "ascii")
            os.replace(partial, path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
        return line

    def empty(self) -> bool:
        """Whether no grade is held."""
        return next(self.folder.glob("*/*.json"), None) is None

    def all(self) -> Iterator[Grade]:
        """Every stored grade, by assignment and student."""
        grades = filter(None, map(_grade_in, self.folder.glob("*/*.json")))
        yield from sorted(grades, key=lambda grade: (grade.assignment, grade.student))

    def trim(self) -> None:
        """Drop the oldest grades beyond the limit, and what killed runs left half written."""
        grades = []
        for folder in self._folders():
            for entry in os.scandir(folder):
                with suppress(OSError):  # another run may drop it, too
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(".json"):
                        grades.append((status.st_mtime_ns, status.st_size, entry.path))
                    elif entry.name.endswith(".tmp") and time.time() - status.st_mtime > STALE:
                        os.unlink(entry.path)
        grades.sort(reverse=True)
        size = 0
        for count, (_, more, path) in enumerate(grades):
            size += more
            if count >= self.most_grades or size > self.most_bytes:
                with suppress(OSError):
                    os.unlink(path)

    def _folders(self) -> list[Path]:
        return [place for place in self.folder.iterdir() if place.is_dir()] if self.folder.is_dir() else []

    def _path(self, student: str, assignment: str) -> Path:
        name = sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return self.folder / assignment / f"{name}.json"


def _grade_in(path: Path) -> Grade | None:
    try:
        return from_json(path.read_text("ascii").partition("\n")[2])
    except (OSError, ValueError):
        return None
