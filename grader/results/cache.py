"""The cache of grades: a rerun grades only submissions that changed.

`.grader/grades/<assignment>/<hash of the student>.json` holds a student's newest grade as two lines. The
second line is the whole grade. The first, which is all that a rerun parses, has the grade without its checks,
the cache key, and digests of the files that were written with the grade. A rerun takes the grade from the
cache only if key and notebook are unchanged; it makes a changed feedback page again from the cached grade.
You can delete the folder at any time: the next run then grades everything again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from grader.paths import is_stale_partial, write_atomically
from grader.records import Grade
from grader.report.jsonl import from_json, from_record, to_json, to_record

MOST_GRADES = 500_000
MOST_BYTES = 16 << 30  # a grade takes about 50 KB


@dataclass(frozen=True, kw_only=True)
class CachedGrade:
    """A grade in the cache."""

    without_checks: Grade  # the grade as the function `without_checks` reduces it
    line: str = field(repr=False)  # the whole grade, as `to_json` writes it
    # Digests of the files that were written with the grade, by the kinds that results/writer.py names.
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def grade(self) -> Grade:
        """Parse and return the whole grade."""
        return from_json(self.line)


def without_checks(grade: Grade) -> Grade:
    """Return a grade without checks, heatmaps and second verdicts (`other`), which are most of its size.

    The gradebook and the table in the terminal need none of them.
    """
    verdicts = tuple(replace(verdict, checks=(), heatmaps=(), other=None) for verdict in grade.verdicts)
    return replace(grade, verdicts=verdicts)


@dataclass(frozen=True)
class GradeCache:
    """The cached grades of a course. `trim` deletes the oldest beyond a limit."""

    folder: Path
    most_grades: int = MOST_GRADES
    most_bytes: int = MOST_BYTES

    def get(self, student: str, assignment: str, key: str) -> CachedGrade | None:
        """Return the cached grade if it was stored under this key.

        Return None, so that the submission is graded again, if the key is another, or if the file is missing,
        cut off or written by another version.
        """
        try:
            first, _, line = self._path(student, assignment).read_text("ascii").partition("\n")
            header = json.loads(first)
            if header.get("key") != key or not line.endswith("}\n"):
                return None
            return CachedGrade(
                without_checks=from_record(header["grade"]),
                line=line.rstrip("\n"),
                files=dict(header["files"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def newest(self, student: str, assignment: str) -> Grade | None:
        """Return the whole cached grade, faults too, whatever its key; None if there is none."""
        return _read_grade(self._path(student, assignment))

    def put(self, grade: Grade, key: str, files: Mapping[str, str]) -> str:
        """Write a grade in one atomic step and return its JSON line.

        A fault of the grader is stored under an empty key: `newest` and `all` return it, but `get` never
        does, so that the next run grades the submission again.

        Raises:
            OSError: the disk is full, or the folder is not writable.
        """
        header = {
            "key": key if grade.status != "fault" else "",
            "files": dict(files),
            "grade": to_record(without_checks(grade)),
        }
        line = to_json(grade)
        write_atomically(self._path(grade.student, grade.assignment), f"{json.dumps(header)}\n{line}\n")
        return line

    def empty(self) -> bool:
        """Tell whether the cache has no grade at all."""
        return next(self.folder.glob("*/*.json"), None) is None

    def all(self) -> Iterator[Grade]:
        """Yield every whole cached grade, sorted by assignment and student."""
        grades = filter(None, map(_read_grade, self.folder.glob("*/*.json")))
        yield from sorted(grades, key=lambda grade: (grade.assignment, grade.student))

    def trim(self) -> None:
        """Delete the oldest grades beyond the limits, and files that killed runs left half written."""
        grades = []
        for folder in self._assignment_folders():
            for entry in os.scandir(folder):
                with suppress(OSError):  # another run may delete it at the same time
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(".json"):
                        grades.append((status.st_mtime_ns, status.st_size, entry.path))
                    elif is_stale_partial(entry):
                        os.unlink(entry.path)
        grades.sort(reverse=True)
        total = 0
        for count, (_, size, path) in enumerate(grades):
            total += size
            if count >= self.most_grades or total > self.most_bytes:
                with suppress(OSError):
                    os.unlink(path)

    def _assignment_folders(self) -> list[Path]:
        return [folder for folder in self.folder.iterdir() if folder.is_dir()] if self.folder.is_dir() else []

    def _path(self, student: str, assignment: str) -> Path:
        name = sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return self.folder / assignment / f"{name}.json"


def _read_grade(path: Path) -> Grade | None:
    """Read the whole grade from the second line of a file; None if that is missing or damaged."""
    try:
        return from_json(path.read_text("ascii").partition("\n")[2])
    except (OSError, ValueError):
        return None
