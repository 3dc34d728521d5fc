"""Grades with this grader when `nbgrader autograde` or formgrader's button starts grading.

nbgrader finds the submissions, keeps its folders and reports failures. It opens no submission and
runs none: `SubmissionExporter` passes an empty notebook to the preprocessor `GradeSubmission`,
which grades the submission, records the grade, and replaces the empty notebook by the executed one.
nbgrader makes one exporter for each run, and a new preprocessor for each notebook.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import remove, rmtree
from traitlets import Unicode

from grader.classes.gradebook.config import LatePenalty, penalty_plugin
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import GradeWriter, open_gradebook, submission_times
from grader.classes.results.folders import unreadable_notebook
from grader.classes.results.pages import with_mark_schemes
from grader.classes.results.writer import file_digest, handover
from grader.classes.workers import worker
from grader.classes.workers.grade_class import grade_one
from grader.classes.workers.job import Course, Job, JobMaker
from grader.course import lessons
from grader.paths import notebook_path
from grader.records import Grade, GradingSettings
from grader.sandbox.device import NoDevice, usable_device
from grader.sandbox.errors import IsolationError
from grader.sandbox.tiers import resolve_tier
from grader.secret import SecretError, course_secret
from grader.submission.file import SubmissionFile, name_problem

# The files that nbgrader needs beside a graded notebook: one shows whether the submission is new, the other
# whose feedback is whose.
KEPT = ("timestamp.txt", "submission_secret.txt")


@cache
def flush_last() -> None:
    """Make nbgrader add a submission to the database in one flush, so that SQLAlchemy prints no warnings.

    `Gradebook.add_submission` of nbgrader 0.9.6 makes objects that refer to stored ones, reads more
    of the database, and adds the objects to the session last. SQLAlchemy flushes before each read,
    and warns of each object that is not in the session yet. The stored values are the same in the
    end.
    """
    original = api.Gradebook.add_submission

    @wraps(original)
    def add_submission(self: api.Gradebook, *arguments: Any, **columns: Any) -> api.SubmittedAssignment:
        with self.db.no_autoflush:
            return original(self, *arguments, **columns)

    api.Gradebook.add_submission = add_submission


class NotGraded(Exception):
    """A grader error left a submission without a grade. nbgrader reports the submission as failed and continues."""


class SubmissionExporter(NotebookExporter):
    """Passes each submission of one run of `nbgrader autograde` to `GradeSubmission`.

    Its attributes belong to all submissions: course, settings, and the times of earlier
    submissions.
    """

    device = Unicode("auto", help="Where the notebooks run: auto, cpu or cuda.").tag(config=True)
    isolation = Unicode("auto", help="The sandbox's tier: auto, full, partial or none.").tag(config=True)

    def __init__(self, *arguments, parent: BaseConverter | None = None, **options) -> None:
        super().__init__(*arguments, parent=parent, **options)
        if parent is None:  # nbgrader made this instance only to list the settings of the class
            return
        flush_last()
        self.coursedir = parent.coursedir
        root = Path(self.coursedir.root)
        try:
            tier = resolve_tier(self.isolation)
            device = usable_device(self.device, tier, self.log.warning)
            settings = GradingSettings(secret=course_secret(root), device=device, tier=tier)
            self.course = Course(root=root, settings=settings)
            self.earlier_times = submission_times(self.coursedir.db_url, self.coursedir.course_id)
            self._remove_stale(parent)
        except (SecretError, NoDevice, IsolationError, RecordError, OSError) as error:
            self.log.error("grader: %s", error)
            raise NbGraderException(str(error)) from error

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_: Any
    ) -> tuple[str, dict[str, Any]]:
        """Grade a submission with the preprocessor. Return the executed notebook as text, and `resources`.

        This method does not open the submitted file: grader/submission reads it. The gradebook gets
        a digest of the executed notebook. A later run keeps the grade as long as that notebook is
        unchanged.
        """
        text, results = self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources)
        text = text.encode("utf-8", "replace").decode()  # a lone surrogate in an output cannot be encoded
        if "graded" in results:
            grade = results["graded"].grade
            with self.gradebook() as gradebook:
                gradebook.set_notebook(grade.student, grade.assignment, sha256(text.encode()).hexdigest())
        return text, results

    def gradebook(
        self, masters: Mapping[str, NotebookNode] | None = None, late_penalty: LatePenalty | None = None
    ) -> AbstractContextManager[GradeWriter]:
        """Open the course's gradebook. The arguments are those of `open_gradebook`."""
        course = self.coursedir.course_id
        return open_gradebook(self.coursedir.db_url, lessons(), masters, course, late_penalty)

    def submission_file(self, student: str, assignment: str, notebook: str) -> SubmissionFile:
        """Return the record of a submission in nbgrader's submitted folder, without opening the file."""
        folder = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, assignment))
        top = Path(self.coursedir.format_path(self.coursedir.submitted_directory, ".", "."))
        parts = (*folder.relative_to(top).parts, f"{notebook}.ipynb")
        return SubmissionFile(student, assignment, top, parts, problem=name_problem(student))

    def graded_folder(self, student: str, assignment: str) -> Path:
        """Return the folder where nbgrader writes the graded notebook."""
        return Path(self.coursedir.format_path(self.coursedir.autograded_directory, student, assignment))

    def _remove_stale(self, converter: BaseConverter) -> None:
        """Delete graded folders that are out of date or incomplete, because nbgrader skips all folders that exist."""
        pattern = self.coursedir.format_path(
            self.coursedir.submitted_directory, "(?P<student>.*)", "(?P<assignment>.*)", escape=True
        )
        make_job = JobMaker(self.course)
        matches = filter(None, (re.match(pattern, folder) for folder in converter.assignments))
        with self.gradebook() as gradebook:
            for student, assignment in (match.group("student", "assignment") for match in matches):
                graded = self.graded_folder(student, assignment)
                if assignment not in lessons() or not graded.is_dir():
                    continue
                job = make_job(self.submission_file(student, assignment, assignment))
                if job.file.problem and not job.file.problem.proven:
                    # nbgrader would delete the earlier notebook. It skips the submission, and says so.
                    self.log.error("grader: %s: %s", job.file.place, job.file.problem.message)
                    continue
                recorded = gradebook.recorded(student, assignment, job.key)
                digest = file_digest(graded / f"{assignment}.ipynb")
                if recorded is None or recorded.notebook_sha256 != digest:
                    rmtree(str(graded))


class GradeSubmission(NbGraderPreprocessor):
    """Grades and records a submission, and replaces the empty notebook by the executed one with its verdicts.

    After a grader error, it restores the time of the earlier submission and raises NotGraded, so
    that nbgrader reports the submission as failed.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        run: SubmissionExporter = self.parent
        student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
        if assignment not in lessons():
            raise NotGraded(
                f"{assignment!r} is no lesson of this course ({', '.join(lessons())}), and nothing else is run here: "
                "grade it by hand in formgrader, or declare it as a lesson"
            )
        file = run.submission_file(student, assignment, resources["nbgrader"]["notebook"])
        job, graded = grade_one(file, run.course, worker.run)
        resources["graded"] = graded
        if (grade := graded.grade).status == "unreadable":
            self.log.warning("%s/%s: unreadable: %s", student, assignment, grade.message)
            notebook = unreadable_notebook(grade.message)
        else:
            notebook = with_mark_schemes(graded.notebook or nb, assignment)
        self._record(run, job, grade)
        return notebook, resources

    def _record(self, run: SubmissionExporter, job: Job, grade: Grade) -> None:
        """Record the grade in the gradebook, and delete the files that nbgrader copied into the graded folder.

        Raises:
            NotGraded: the grade was withheld because of a grader error.
        """
        came_in = handover(job.file)
        is_fault = grade.status == "fault"
        path = notebook_path(run.course.root, grade.assignment)
        # A broken student notebook may have caused a fault: do not read it again then.
        masters = {} if is_fault else {grade.assignment: nbformat.read(path, as_version=4)}
        with run.gradebook(masters, penalty_plugin(self.config)) as gradebook:
            gradebook.record(grade, came_in, key=job.key)
            if is_fault:
                # nbgrader has stored the new submission's time already: the earlier score would look new.
                before = run.earlier_times.get((grade.student, grade.assignment), came_in.submitted)
                gradebook.set_timestamp(grade.student, grade.assignment, before)
        if is_fault:
            raise NotGraded(
                f"{grade.student}/{grade.assignment}: a grader error, for which the student loses no points: "
                f"{grade.message}. See `grader doctor`, then autograde it again."
            )
        for stray in run.graded_folder(grade.student, grade.assignment).iterdir():
            # nbgrader copies everything that a student submitted, the targets of links too, and would return
            # the copies to the student.
            if stray.name not in (*KEPT, f"{grade.assignment}.ipynb"):
                rmtree(str(stray)) if stray.is_dir() else remove(str(stray))
