"""One grade after the other into the files, the store and the gradebook: by one writer, so that a killed run loses nothing.

The order is what makes it safe: the executed notebook, the store, the feedback page, the gradebook. A run that is
killed before the store grades this one submission anew; after it, the rerun writes what is missing from the store.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import grader
from grader.course import lessons
from grader.gradebook.timestamp import submitted_at
from grader.gradebook.writer import GradeWriter
from grader.grading.grade import Graded
from grader.records import Grade, Verdict
from grader.report.jsonl import to_json
from grader.report.page import feedback_page
from grader.results.cache import CachedGrade, GradeCache
from grader.results.folders import unreadable_notebook, write_autograded, write_feedback, write_timestamp
from grader.submission.file import SubmissionFile
from grader.workers.job import Job

NOTEBOOK, PAGE, LOOKS = "autograded", "feedback", "looks"  # the last: what the page was made with


class ResultsWriter:
    """Writes what belongs to a grade.

    Args:
        root: the course's folder.
        html: where the feedback pages go, too.
    """

    def __init__(self, root: Path, html: Path | None, cache: GradeCache, writer: GradeWriter) -> None:
        self._autograded = root / "autograded"
        self._pages = [root / "feedback", *([html] if html is not None else [])]
        self._cache, self._writer = cache, writer
        self._whole: dict[tuple[str, str], CachedGrade] = {}  # of those found by `known` and not yet recorded

    def cached(self, one: SubmissionFile, key: str) -> Grade | None:
        """The grade, in brief, that was given under this key, if the notebook that was written with it still stands."""
        held = self._cache.get(one.student, one.assignment, key)
        if held is None or held.files.get(NOTEBOOK) != file_digest(self._notebook(held.brief)):
            return None
        self._whole[one.student, one.assignment] = held
        return held.brief

    def record(self, job: Job, graded: Graded) -> str:
        """Write one grade; what stands already is left alone. Its JSON line comes back.

        Raises:
            RecordError: a file or the gradebook cannot be written.
            OSError: the store cannot be written.
        """
        grade, one = graded.grade, job.file
        if grade.assignment not in lessons():
            return to_json(grade)
        held = self._whole.pop((one.student, one.assignment), None)
        when = None if one.member else submitted_at(one.path)
        if held is not None:
            write_timestamp(self._notebook(grade).parent, when)
        else:
            if grade.status == "unreadable":
                notebook = unreadable_notebook(grade.message)
            else:
                notebook = graded.notebook
            if notebook is not None:  # else a fault: what stands there is of an earlier submission
                write_autograded(self._autograded, grade.student, grade.assignment, notebook, when)
        pages = [root / grade.student / grade.assignment / f"{grade.assignment}.html" for root in self._pages]
        if held is not None and self._pages_stand(held, pages):
            line = held.line
        else:
            grade = held.grade if held else grade
            page = feedback_page(grade)
            files = {
                NOTEBOOK: file_digest(self._notebook(grade)),
                PAGE: sha256(page.encode("utf-8", "replace")).hexdigest(),
                LOOKS: _looks(),
            }
            line = self._cache.put(grade, job.key, files)
            for root in self._pages:
                write_feedback(root, grade.student, grade.assignment, page)
        self._writer.record(grade, when)
        return line

    def _pages_stand(self, held: CachedGrade, pages: list[Path]) -> bool:
        return held.files.get(LOOKS) == _looks() and all(
            file_digest(page) == held.files.get(PAGE) for page in pages
        )

    def _notebook(self, grade: Grade) -> Path:
        return self._autograded / grade.student / grade.assignment / f"{grade.assignment}.ipynb"


def summary_of(grade: Grade) -> Grade:
    """What the table and the class page show of a grade: a class of thousands is kept as these."""
    return replace(grade, verdicts=tuple(_short(verdict) for verdict in grade.verdicts))


def _short(verdict: Verdict) -> Verdict:
    # One text for all who made the mistake.
    names = {name: sys.intern(getattr(verdict, name)) for name in ("id", "name", "title", "hint", "review")}
    mistake = sys.intern(verdict.mistake) if verdict.mistake else None
    return replace(
        verdict,
        **names,
        mistake=mistake,
        message="",
        checks=(),
        heatmaps=(),
        notes=(),
        stand_ins=(),
        other=None,
    )


def file_digest(path: Path) -> str:
    """A digest of a file that was written with a grade; empty where there is none."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _looks() -> str:
    """A digest of what the pages are made with."""
    digest = sha256()
    for file in sorted((Path(grader.__file__).parent / "report").rglob("*")):
        if file.suffix in (".py", ".j2", ".css"):
            digest.update(file.read_bytes())
    return digest.hexdigest()
