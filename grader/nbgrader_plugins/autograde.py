"""`nbgrader autograde`, and formgrader's button: this grader, sandbox and all, in the place of nbgrader's own.

nbgrader finds the submissions, keeps its folders and says what failed. It opens no submission and runs none:
the exporter hands on an empty notebook, the first preprocessor puts the graded one in its place, and the second
one records the grade. nbgrader makes an exporter for each run, and preprocessors for each notebook.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import remove, rmtree
from traitlets import Unicode

from grader.course import lessons
from grader.execution.device import NoDevice, resolve_device
from grader.execution.errors import IsolationError
from grader.execution.tiers import resolve_tier
from grader.gradebook.config import penalty_plugin
from grader.gradebook.errors import RecordError
from grader.gradebook.timestamp import submitted_at
from grader.gradebook.writer import handed_in, open_gradebook
from grader.grading.grade import Graded
from grader.paths import cache_path, notebook_path
from grader.records import GradingSettings
from grader.results.cache import GradeCache
from grader.results.folders import unreadable_notebook
from grader.results.writer import NOTEBOOK, file_digest
from grader.secret import SecretError, course_secret
from grader.submission.file import SubmissionFile, name_problem
from grader.workers import worker
from grader.workers.grade_class import grade_one
from grader.workers.job import Course, Job, JobMaker

# What nbgrader itself keeps beside a graded notebook: it tells by them what is new and whose feedback is whose.
KEPT = ("timestamp.txt", "submission_secret.txt")


class NotGraded(Exception):
    """A submission without a grade, by no fault of its own. nbgrader marks it as failed and goes on."""


class SubmissionExporter(NotebookExporter):
    """One run of `nbgrader autograde`; what its preprocessors share."""

    device = Unicode("auto", help="Where the notebooks run: auto, cpu or cuda.").tag(config=True)
    isolation = Unicode("auto", help="The sandbox's tier: auto, full, partial or none.").tag(config=True)

    def __init__(self, *arguments, parent: BaseConverter | None = None, **options) -> None:
        super().__init__(*arguments, parent=parent, **options)
        if parent is None:  # nbgrader lists the settings of a class by making one
            return
        self.coursedir = parent.coursedir
        root = Path(self.coursedir.root)
        try:
            self.course = Course(
                root=root,
                settings=GradingSettings(
                    secret=course_secret(root),
                    device=resolve_device(self.device),
                    tier=resolve_tier(self.isolation),
                ),
            )
            self.cache = GradeCache(cache_path(root))
            self.earlier = handed_in(self.coursedir.db_url, self.coursedir.course_id)
            self._remove_stale(parent)
        except (SecretError, NoDevice, IsolationError, RecordError, OSError) as error:
            self.log.error("grader: %s", error)
            raise NbGraderException(str(error)) from error

    def from_filename(self, filename: str, resources: ResourcesDict | None = None, **_):
        """What the preprocessors make of a submission; the file itself is for the intake alone to open."""
        text, resources = self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources)
        text = text.encode("utf-8", "replace").decode()  # a lone surrogate in an output is no text
        if "graded" in resources:  # as `grader grade` keeps it: valid as long as the notebook stands
            job, graded = resources["job"], resources["graded"]
            self.cache.put(graded.grade, job.key, {NOTEBOOK: sha256(text.encode()).hexdigest()})
        return text, resources

    def found(self, student: str, assignment: str, notebook: str) -> SubmissionFile:
        """Where a submission lies."""
        folder = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, assignment))
        top = Path(self.coursedir.format_path(self.coursedir.submitted_directory, ".", "."))
        parts = (*folder.relative_to(top).parts, f"{notebook}.ipynb")
        return SubmissionFile(student, assignment, top, parts, problem=name_problem(student))

    def graded(self, student: str, assignment: str) -> Path:
        """The folder that nbgrader puts the graded notebook into."""
        return Path(self.coursedir.format_path(self.coursedir.autograded_directory, student, assignment))

    def _remove_stale(self, converter: BaseConverter) -> None:
        """Have nbgrader do again what was broken off, and what changed since: it skips any folder that is there."""
        name = self.coursedir.format_path(
            self.coursedir.submitted_directory, "(?P<student>.*)", "(?P<assignment>.*)", escape=True
        )
        for folder in converter.assignments:
            student, assignment = re.match(name, folder).group("student", "assignment")
            there = self.graded(student, assignment)
            if assignment in lessons() and there.is_dir():
                key = JobMaker(self.course)(self.found(student, assignment, assignment)).key
                held = self.cache.get(student, assignment, key)
                if held is None or held.files.get(NOTEBOOK) != file_digest(there / f"{assignment}.ipynb"):
                    rmtree(str(there))


class GradeSubmission(NbGraderPreprocessor):
    """The submission, graded: its executed notebook, each verdict beside its exercise."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        run: SubmissionExporter = self.parent
        student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
        if assignment not in lessons():
            raise NotGraded(
                f"{assignment!r} is no lesson of this course ({', '.join(lessons())}), and nothing else is run here: "
                "grade it by hand in formgrader, or declare it in grader/course"
            )
        found = run.found(student, assignment, resources["nbgrader"]["notebook"])
        job, graded = grade_one(found, run.course, worker.run)
        resources["job"], resources["graded"] = job, graded
        if (grade := graded.grade).status == "unreadable":
            self.log.warning("%s/%s: unreadable: %s", student, assignment, grade.message)
            return unreadable_notebook(grade.message), resources
        return graded.notebook or nb, resources


class RecordGrade(NbGraderPreprocessor):
    """The grade into the gradebook. A fault of ours is raised there, so that nbgrader counts it as none."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        run: SubmissionExporter = self.parent
        job: Job = resources["job"]
        graded: Graded = resources["graded"]
        grade, when = graded.grade, submitted_at(job.file.path)
        masters = {}
        if grade.status != "fault":  # which may be the master copy's own
            path = notebook_path(run.course.root, grade.assignment)
            masters[grade.assignment] = nbformat.read(path, as_version=4)
        with open_gradebook(
            resources["nbgrader"]["db_url"],
            lessons(),
            masters,
            course=run.coursedir.course_id,
            late_penalty=penalty_plugin(self.config),
        ) as gradebook:
            gradebook.record(grade, when)
            if grade.status == "fault":
                # nbgrader has dated it anew already, and the score that stands there would look new.
                before = run.earlier.get((grade.student, grade.assignment), when)
                gradebook.date(grade.student, grade.assignment, before)
        if grade.status == "fault":
            run.cache.put(grade, job.key, {})
            raise NotGraded(
                f"{grade.student}/{grade.assignment}: a fault of the grader, which costs the student nothing: "
                f"{grade.message}. See `grader doctor`, then autograde it again."
            )
        for stray in run.graded(grade.student, grade.assignment).iterdir():
            # nbgrader copies whatever a student handed in, links' targets too, and would hand it out again.
            if stray.name not in (*KEPT, f"{grade.assignment}.ipynb"):
                rmtree(str(stray)) if stray.is_dir() else remove(str(stray))
        return nb, resources
