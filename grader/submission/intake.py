"""Finds the submissions at a path and reads them as data. An IntakeError gives the reason if this fails."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from grader.complaint import Complaint
from grader.submission.cells import answer_cell, marked_exercises
from grader.submission.choose import ReadAssignment, Wanted, choose, renamed
from grader.submission.file import (
    IntakeError,
    NoSubmission,
    NoSuchPath,
    Submission,
    SubmissionFile,
    Unavailable,
    Unreadable,
    name_problem,
)
from grader.submission.folder_or_zip import assignment_of, list_folder, list_zip, read_file, read_member, student_of
from grader.submission.notebook import parse
from grader.submission.people import Entry, people, prefixes


class DuplicateSubmission(Complaint):
    """Two files are one student's submission of the same assignment."""


def find_all(
    paths: Iterable[Path],
    assignments: tuple[str, ...],
    only: str | None = None,
    exercises: Mapping[str, str] | None = None,
    names: re.Pattern[str] | None = None,
) -> tuple[list[SubmissionFile], list[SubmissionFile]]:
    """Find the submissions at several paths, as `find` does at one path.

    Returns:
        The submissions; and, for each path in which none can be found, a record with the problem of the path.

    Raises:
        NoSuchPath: a path does not exist, or none of the paths contains a submission.
        WrongPattern: a notebook does not match `names`.
        DuplicateSubmission: two files are one student's submission of the same assignment.
    """
    files: dict[tuple[str, str], SubmissionFile] = {}
    failed, errors = [], list[IntakeError]()
    for path in paths:
        try:
            for file in find(path, assignments, only, exercises, names):
                other = files.setdefault((file.student, file.assignment), file)
                if other is not file:
                    twice = f"{file.student} submitted {file.assignment} twice: {other.place} and {file.place}"
                    raise DuplicateSubmission(f"{twice}. Pass only one of them.")
        except IntakeError as error:
            errors.append(error)
            failed.append(SubmissionFile(path.stem, only or "", path.parent, (path.name,), problem=error.problem))
    if errors and not files and all(isinstance(error, NoSubmission) for error in errors):
        raise NoSuchPath(errors[0].problem.message)
    return list(files.values()), failed


def find(
    path: Path,
    assignments: tuple[str, ...],
    only: str | None = None,
    exercises: Mapping[str, str] | None = None,
    names: re.Pattern[str] | None = None,
) -> Iterator[SubmissionFile]:
    """Find the submissions at a path: a notebook, a folder, or a zip of a learning platform or of folders.

    Args:
        assignments: the names of all assignments of the course.
        only: find only the submissions of this assignment. A single notebook is accepted as its submission,
            whatever the notebook's name is.
        exercises: exercise id → assignment. If no name contains the assignment, the exercises in the cells decide.
        names: the pattern of `--names`, by which the students are read from the paths in a folder or zip.

    Raises:
        NoSuchPath: the path does not exist.
        WrongPattern: a notebook does not match `names`.
        NoSubmission: the path contains no submission.
        Unreadable: the zip is refused, or the assignment of a single notebook cannot be determined.
        Unavailable: the machine cannot read the path.
    """
    mode = _mode(path)
    is_folder = stat.S_ISDIR(mode)

    def read_assignment(file: SubmissionFile) -> str | None:
        return _assignment_in_cells(file, exercises or {}) if exercises else None

    if not is_folder and path.suffix.lower() != ".zip":
        yield _one_notebook(path, assignments, only, read_assignment)
        return
    entries = list_folder(path) if is_folder else list_zip(path)

    def place(entry: Entry) -> SubmissionFile:
        if is_folder:
            return SubmissionFile("", "", path, entry.parts[1:])
        return SubmissionFile("", "", path.parent, (path.name,), member="/".join(entry.parts))

    hints = [name for name in prefixes(entries)[-1] if name in assignments]
    wanted = Wanted(assignments=assignments, only=only, hint=hints[-1] if hints else None)
    try:
        everybody = people(entries, assignments, int(is_folder), lambda entry: _text(place(entry)), names)
    except ValueError as error:
        raise Unreadable(f"{path}: {error}. Download it again.") from error
    found = choose(everybody, wanted, place, read_assignment)
    if not found:
        raise _no_submission(path, only or assignments[0])
    yield from found


def _text(file: SubmissionFile) -> str:
    """Return the text of a file that a platform wrote, or "" if the file cannot be read."""
    try:
        return content(file).decode("utf-8-sig", "replace")
    except IntakeError:
        return ""


def _no_submission(path: Path, assignment: str) -> NoSubmission:
    """Return the error for a path that contains no submission."""
    return NoSubmission(
        f"{path} contains no submission. Expected: the names of a learning platform's download, nbgrader's layout "
        f"<student>/{assignment}/{assignment}.ipynb, or <student>.ipynb. If the notebooks' names do not contain "
        "the assignment, pass --assignment. For other names, pass --names."
    )


def _one_notebook(
    path: Path, assignments: tuple[str, ...], only: str | None, read_assignment: ReadAssignment
) -> SubmissionFile:
    """Return the record of a single notebook.

    Raises:
        Unreadable: the assignment cannot be determined.
        Unavailable: the machine cannot read the file.
    """
    assignment, note = only or assignment_of(path, assignments), ""
    if assignment is None:
        assignment = read_assignment(SubmissionFile(path.stem, "", path.parent, (path.name,)))
        note = renamed(path.name, assignment or "")
    if assignment is None:
        raise Unreadable(
            f"{path}: cannot determine the assignment. The file's name contains none of {', '.join(assignments)}. "
            "Pass --assignment " + assignments[0]
        )
    student = student_of(path, assignment)
    problem = name_problem(student)
    return SubmissionFile(student, assignment, path.parent, (path.name,), problem=problem, note=note)


def _mode(path: Path) -> int:
    """Return the `st_mode` of a path. For a link to a file, this is the mode of the link itself.

    Raises:
        NoSuchPath: the path does not exist.
        Unavailable: the path cannot be read, or is a link to a folder.
    """
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode) and stat.S_ISDIR(os.stat(path).st_mode):
            raise Unavailable(f"{path} is a link; links are never followed. Pass the folder: {os.path.realpath(path)}")
        return mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoSuchPath(f"{path} does not exist. Pass a notebook, a folder of submissions, or a zip.") from error
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read ({getattr(error, 'strerror', error)}).") from error


def _assignment_in_cells(file: SubmissionFile, exercises: Mapping[str, str]) -> str | None:
    """Return the assignment that the exercises in a notebook's cells belong to.

    Return None if the cells answer exercises of no assignment or of several, or if the notebook is unreadable.
    """
    try:
        cells = read(file).cells
    except Unreadable:
        return None
    by_grade_id = {answer_cell(exercise): exercise for exercise in exercises}
    answered = {by_grade_id.get(cell.grade_id, "") for cell in cells}
    answered |= {exercise for cell in cells for exercise in marked_exercises(cell.source)}
    found = {exercises[exercise] for exercise in answered if exercise in exercises}
    return min(found) if len(found) == 1 else None


def read(file: SubmissionFile) -> Submission:
    """Return a submission's code cells and texts. Read the file only if `file.submission` is None.

    Raises:
        Unreadable: the file is not a notebook that can be graded. The message gives the reason.
        Unavailable: the machine cannot read the file.
    """
    return file.submission or parse(content(file))


def content(file: SubmissionFile) -> bytes:
    """Return the bytes of a submission's notebook.

    Raises:
        Unreadable: the file must not be read. The message gives the reason.
        Unavailable: the machine cannot read the file.
    """
    if problem := file.problem:
        if problem.status == "fault":
            raise Unavailable(problem.message)
        raise Unreadable(problem.message, problem.proven)
    return read_member(file) if file.member else read_file(file)
