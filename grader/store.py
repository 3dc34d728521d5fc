"""Grades that were already given, by what they depend on: a rerun grades only what changed.

`.grader/grades/<assignment>/<hash of the student>.json` holds a student's newest grade and the key under which it
was given. The folder can be deleted at any time; everything is then graded anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import grader
from grader.exercise import Grade
from grader.report.jsonl import from_record, to_record

# What can change a grade, beside the submission and the secret.
SOURCES = ("course", "checks", "submission", "execution", "evidence")
PACKAGES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipython", "papermill")


def environment(root: Path, assignment: str, secret: str, device: str, isolation: str) -> str:
    """A digest of everything but the submission that a grade depends on."""
    return sha256("\x1f".join([_code(root, assignment), secret, device, isolation]).encode()).hexdigest()


@cache
def _code(root: Path, assignment: str) -> str:
    digest = sha256(f"{sys.version}{[version(name) for name in PACKAGES]}{grader.__version__}".encode())
    here = Path(grader.__file__).parent
    import attention

    folders = [here / name for name in SOURCES] + [Path(attention.__file__).parent]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    for file in [
        *files,
        here / "exercise.py",
        here / "grading.py",
        root / "notebooks" / assignment / f"{assignment}.ipynb",
    ]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Store:
    """The grades of a course."""

    folder: Path

    def get(self, student: str, assignment: str, key: str) -> Grade | None:
        """The stored grade, if it was given under this key."""
        try:
            held = json.loads(self._path(student, assignment).read_text("utf-8"))
            return from_record(held["grade"]) if held.get("key") == key else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing, cut off or of another version: graded anew

    def put(self, grade: Grade, key: str) -> None:
        """Keep a grade, in one atomic step. A fault is kept for the report, and never found by `get`."""
        path = self._path(grade.student, grade.assignment)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        held = {"key": key if grade.status != "fault" else "", "grade": to_record(grade)}
        partial.write_text(json.dumps(held, ensure_ascii=True), "utf-8")
        os.replace(partial, path)

    def all(self) -> Iterator[Grade]:
        """Every stored grade, by assignment and student."""
        grades = []
        for path in self.folder.glob("*/*.json"):
            try:
                grades.append(from_record(json.loads(path.read_text("utf-8"))["grade"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue
        yield from sorted(grades, key=lambda grade: (grade.assignment, grade.student))

    def _path(self, student: str, assignment: str) -> Path:
        name = sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return self.folder / assignment / f"{name}.json"
