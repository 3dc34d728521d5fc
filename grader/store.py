"""Grades that were already given, by what they depend on: a rerun grades only what changed.

`.grader/grades/<assignment>/<hash of the student>.json` holds a student's newest grade, the key under which it was
given, and digests of the files that were written with it: only where these still stand is the grade taken from
here. The folder can be deleted at any time; everything is then graded anew.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import grader
from grader.exercise import Grade
from grader.report.jsonl import from_record, to_record

# What can change a grade, beside the submission and the secret.
SOURCES = (
    "course",
    "checks",
    "submission",
    "execution",
    "evidence",
    "exercise.py",
    "follow.py",
    "grading.py",
    "names.py",
    "needed.py",
)
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")
MOST_GRADES = 500_000
MOST_BYTES = 16 << 30  # a grade takes about 50 KB
STALE = 3600.0  # seconds after which a half-written grade is a killed run's


def code_digest(released: bytes) -> str:
    """A digest of the grader, the declaration, the reference, the packages, and an assignment's student notebook."""
    return sha256(_sources().encode() + released).hexdigest()


@cache
def _sources() -> str:
    packages = [version(name) for name in PACKAGES]
    digest = sha256(f"{platform.python_version()}{packages}{grader.__version__}".encode())
    import attention

    here = Path(grader.__file__).parent
    places = [*(here / name for name in SOURCES), Path(attention.__file__).parent]
    for place in places:
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def key_of(submission_sha256: str, *others: str) -> str:
    """The key of a grade: the submission, and everything else that it depends on."""
    return f"{submission_sha256}-{sha256(chr(31).join(others).encode()).hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class Held:
    """A grade as it is kept."""

    grade: Grade
    files: Mapping[str, str] = field(default_factory=dict)  # digests of what was written with it, by kind


@dataclass(frozen=True)
class Store:
    """The grades of a course. The oldest are dropped beyond a limit."""

    folder: Path
    most_grades: int = MOST_GRADES
    most_bytes: int = MOST_BYTES

    def get(self, student: str, assignment: str, key: str) -> Held | None:
        """The stored grade, if it was given under this key."""
        try:
            held = json.loads(self._path(student, assignment).read_bytes())
            if held.get("key") != key:
                return None
            return Held(grade=from_record(held["grade"]), files=dict(held["files"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing, cut off or of another version: graded anew

    def newest(self, student: str, assignment: str) -> Grade | None:
        """The stored grade, whatever it was given under."""
        try:
            return from_record(json.loads(self._path(student, assignment).read_bytes())["grade"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, grade: Grade, key: str, files: Mapping[str, str]) -> None:
        """Keep a grade, in one atomic step. A fault is kept for the report, and never found by `get`.

        Raises:
            OSError: there is no room, or no right to write.
        """
        path = self._path(grade.student, grade.assignment)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        held = {
            "key": key if grade.status != "fault" else "",
            "files": dict(files),
            "grade": to_record(grade),
        }
        try:
            partial.write_text(json.dumps(held, ensure_ascii=True), "utf-8")
            os.replace(partial, path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def empty(self) -> bool:
        """Whether no grade is held."""
        return next(self.folder.glob("*/*.json"), None) is None

    def all(self) -> Iterator[Grade]:
        """Every stored grade, by assignment and student."""
        grades = []
        for path in self.folder.glob("*/*.json"):
            try:
                grades.append(from_record(json.loads(path.read_bytes())["grade"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue
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
