"""Grades one submission inside Gradescope's container: `python -m grader.commands.gradescope /autograder`.

It reads source/settings.json and submission/, and writes results/results.json. `grader export
gradescope --autograder` makes the zip that installs this program there.
"""

import json
import sys
from functools import partial
from pathlib import Path

from grader.course import max_score
from grader.grading.grade import grade, master_notebook
from grader.grading.graded import again_if_starved, withheld
from grader.paths import course_root, write_atomically
from grader.records import Grade, GradebookEntry, GradingSettings
from grader.report.export import export
from grader.sandbox.server import Server
from grader.submission.file import IntakeError, Problem, SubmissionFile, Unreadable, assignment_in

STUDENT = "submission"  # the student's name in the grade; Gradescope itself knows who submitted it


def main(root: Path) -> int:
    """Grade the file in submission/ and write results.json, also after an error.

    Returns:
        the exit status: 1 after a grader error, otherwise 0.
    """
    assignment = ""
    try:
        settings = json.loads((root / "source" / "settings.json").read_text("utf-8"))
        assignment = settings["assignment"]
        graded = _grade(root / "submission", settings)
    except Exception as error:
        # Others than IntakeError are a fault of the grader: no score, and the instructor reads why.
        fault = Problem(f"{type(error).__name__}: {error}", "fault", proven=False)
        problem = error.problem if isinstance(error, IntakeError) else fault
        graded = withheld(SubmissionFile(STUDENT, assignment, Path(), ()), problem, max_score(assignment))
    # Instructors read standard output; students see results.json alone.
    print(f"status {graded.status}, isolation {graded.isolation or 'unknown'}, score {graded.score}")
    if graded.message:
        print(graded.message)
    path = root / "results" / "results.json"
    write_atomically(path, export("gradescope", [GradebookEntry.of(graded)]).text)
    return 1 if graded.status == "fault" else 0


def _grade(folder: Path, settings: dict) -> Grade:
    """Grade the notebook in the folder of uploads with a new fork server.

    Args:
        settings: the content of source/settings.json.
    """
    file = find_one(folder, settings["assignment"])
    with Server(isolation=settings["isolation"]) as server:
        grading = GradingSettings(secret=settings["secret"], device="cpu", tier=server.isolation)
        released = master_notebook(course_root(), file.assignment)
        once = partial(grade, file, server=server, settings=grading, released=released)
        return again_if_starved(once).grade


def find_one(folder: Path, assignment: str) -> SubmissionFile:
    """Return the notebook among the uploaded files that is named after the assignment.

    If no single notebook has that name, return the only notebook.

    Raises:
        Unreadable: no notebook was uploaded, or several from which the grader cannot choose.
    """
    notebooks = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".ipynb" and path.name[:2] != "._")
    named = [path for path in notebooks if assignment_in(path.stem, (assignment,))]
    chosen = named if len(named) == 1 else notebooks
    if len(chosen) != 1:
        count = f"{len(notebooks)} notebooks were" if notebooks else "no notebook was"
        raise Unreadable(f"{count} submitted. Submit one file, {assignment}.ipynb.")
    return SubmissionFile(STUDENT, assignment, folder, chosen[0].relative_to(folder).parts)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
