"""Writes each grade into the files, the cache and the gradebook, in an order that survives a killed run.

The order: the executed notebook, the cache, the feedback page, the gradebook. A run that is killed before it
wrote the cache grades this one submission again; a run that is killed later is completed from the cache by
the next run.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import datetime
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

# Digests that the cache keeps with a grade: of the notebook, of the page, and of the code that made the page.
NOTEBOOK, PAGE, PAGE_CODE = "autograded", "feedback", "looks"


class ResultsWriter:
    """Writes everything that belongs to a grade.

    Args:
        root: the course's folder.
        html: a folder that gets a second copy of each feedback page; None for no copy.
    """

    def __init__(self, root: Path, html: Path | None, cache: GradeCache, gradebook: GradeWriter) -> None:
        self._autograded = root / "autograded"
        self._page_roots = [root / "feedback", *([html] if html is not None else [])]
        self._cache, self._gradebook = cache, gradebook
        # The cached grades that `cached` returned and `record` has not yet completed, by student and
        # assignment.
        self._from_cache: dict[tuple[str, str], CachedGrade] = {}

    def cached(self, file: SubmissionFile, key: str) -> Grade | None:
        """Return the cached grade, without checks, if key and executed notebook are unchanged; else None.

        Remember the grade until `record` is called with it.
        """
        cached = self._cache.get(file.student, file.assignment, key)
        if cached is None or cached.files.get(NOTEBOOK) != file_digest(
            self._notebook_path(cached.without_checks)
        ):
            return None
        self._from_cache[file.student, file.assignment] = cached
        return cached.without_checks

    def record(self, job: Job, graded: Graded) -> str:
        """Write one grade into the files, the cache and the gradebook.

        Of a grade that `cached` returned, write only what is missing or changed. Of a grade for an unknown
        assignment write nothing, and return only the line.

        Returns:
            The grade's JSON line.

        Raises:
            RecordError: a file or the gradebook cannot be written.
            OSError: the cache cannot be written.
        """
        grade, file = graded.grade, job.file
        if grade.assignment not in lessons():
            return to_json(grade)
        cached = self._from_cache.pop((file.student, file.assignment), None)
        submitted = None if file.member else submitted_at(file.path)
        if cached is not None:
            write_timestamp(self._notebook_path(grade).parent, submitted)
        else:
            self._write_notebook(graded, submitted)
        if cached is not None and self._pages_are_current(cached):
            line = cached.line
        else:
            line = self._write_cache_and_pages(cached.grade if cached else grade, job.key)
        self._gradebook.record(grade, submitted)
        return line

    def _write_notebook(self, graded: Graded, submitted: datetime | None) -> None:
        """Write the executed notebook, or for an unreadable submission a notebook with the reason."""
        grade, notebook = graded.grade, graded.notebook
        if grade.status == "unreadable":
            notebook = unreadable_notebook(grade.message)
        if notebook is not None:  # None after a fault of the grader: the earlier submission's notebook stays
            write_autograded(self._autograded, grade.student, grade.assignment, notebook, submitted)

    def _write_cache_and_pages(self, grade: Grade, key: str) -> str:
        """Write a grade into the cache, then its feedback pages; return its JSON line."""
        page = feedback_page(grade)
        files = {
            NOTEBOOK: file_digest(self._notebook_path(grade)),
            PAGE: sha256(page.encode("utf-8", "replace")).hexdigest(),
            PAGE_CODE: _page_code_digest(),
        }
        line = self._cache.put(grade, key, files)
        for root in self._page_roots:
            write_feedback(root, grade.student, grade.assignment, page)
        return line

    def _pages_are_current(self, cached: CachedGrade) -> bool:
        """Tell whether a cached grade's pages, and the code that makes pages, are unchanged."""
        student, assignment = cached.without_checks.student, cached.without_checks.assignment
        pages = [root / student / assignment / f"{assignment}.html" for root in self._page_roots]
        return cached.files.get(PAGE_CODE) == _page_code_digest() and all(
            file_digest(page) == cached.files.get(PAGE) for page in pages
        )

    def _notebook_path(self, grade: Grade) -> Path:
        return self._autograded / grade.student / grade.assignment / f"{grade.assignment}.ipynb"


def summary_of(grade: Grade) -> Grade:
    """Reduce a grade to what table and class page show, so that thousands of grades fit into memory."""
    return replace(grade, verdicts=tuple(_summary_of(verdict) for verdict in grade.verdicts))


def _summary_of(verdict: Verdict) -> Verdict:
    # `intern` makes students with the same mistake share one copy of each text.
    return replace(
        verdict,
        id=sys.intern(verdict.id),
        name=sys.intern(verdict.name),
        title=sys.intern(verdict.title),
        hint=sys.intern(verdict.hint),
        review=sys.intern(verdict.review),
        mistake=sys.intern(verdict.mistake) if verdict.mistake else None,
        message="",
        checks=(),
        heatmaps=(),
        notes=(),
        stand_ins=(),
        other=None,
    )


def file_digest(path: Path) -> str:
    """Return a digest of a file; "" if it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _page_code_digest() -> str:
    """Return a digest of the code, templates and styles that make the feedback page."""
    digest = sha256()
    for file in sorted((Path(grader.__file__).parent / "report").rglob("*")):
        if file.suffix in (".py", ".j2", ".css"):
            digest.update(file.read_bytes())
    return digest.hexdigest()
