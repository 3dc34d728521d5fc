"""`grader similar`: answers of a class that agree in what few write, for a person to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.results.recorded_answers import RecordedAnswers, recorded_answers
from grader.classes.results.worked_solutions import worked
from grader.commands.console import Terminal, wrong_assignment
from grader.commands.from_gradebook import entries_or_complain
from grader.commands.output_file import CannotWrite, write_result
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.records import GradebookEntry
from grader.report.similar import as_lines, similar_table
from grader.report.similar_page import similar_page
from grader.report.similarity.exercise import ComparedExercise, compare_exercise, given_fragments
from grader.report.similarity.fragments import Fragments
from grader.report.similarity.whole_answer import whole_answer
from grader.report.text import assignments, clean
from grader.submission.cells import Role, role

NOT_GIVEN = (Role.TOOLS, Role.CHECK)  # machinery that nobody copies from, and long


def run(
    *,
    root: Path,
    gradebook: str | None,
    assignment: str | None,
    html: Path | None,
    json: Path | None,
    terminal: Terminal,
) -> int:
    """Compare the recorded submissions of a class, and show what they share; return the exit status.

    Args:
        gradebook: the gradebook's URL; None for the course's own.
        assignment: the assignment that is compared; None for all.
        html: the file for the page with the sources side by side; None for no page.
        json: the file for one JSON object for each line and pair; None for no file.
    """
    if complaint := wrong_assignment(assignment, tuple(lessons())):
        terminal.complain(complaint)
        return 2
    entries = entries_or_complain(root, gradebook, assignment, terminal)
    if entries is None:
        return 2
    config = read_config(root)
    autograded = config.results_folder(gradebook or config.gradebook) / "autograded"
    compared: list[ComparedExercise] = []
    for name, group in assignments(entries).items():
        if name in lessons():
            compared += _compare_assignment(root, name, autograded, group, terminal)
    try:
        if html is not None:
            write_result(html, similar_page(compared, {entry.student.id: entry.student for entry in entries}))
        if json is not None:
            write_result(json, as_lines(compared))
    except CannotWrite as error:
        terminal.complain(error)
        return 2
    terminal.out.print(similar_table(compared))
    if html is not None:
        terminal.say(f"wrote {html}")
    return 0


def _compare_assignment(
    root: Path, assignment: str, autograded: Path, entries: Sequence[GradebookEntry], terminal: Terminal
) -> list[ComparedExercise]:
    """Compare the submissions of one assignment, exercise by exercise."""
    read = [*recorded_answers(autograded, entries)]
    if missing := [clean(each) for each in read if isinstance(each, str)]:
        terminal.complain(
            f"{assignment}: no notebook in {autograded} for {', '.join(missing[:20])}"
            f"{f' and {len(missing) - 20} more' if len(missing) > 20 else ''}. Grade the class again."
        )
    students = [each for each in read if isinstance(each, RecordedAnswers)]
    given = given_code(root, assignment)
    return [
        compare_exercise(
            assignment,
            exercise.id,
            exercise.title,
            wanted=exercise.defines,
            answers={
                each.student: whole_answer(each.answers[exercise.id], each.own)
                for each in students
                if exercise.id in each.answers
            },
            given=given[exercise.id],
        )
        for exercise in lessons()[assignment].exercises
    ]


def given_code(root: Path, assignment: str) -> Mapping[str, Sequence[Fragments]]:
    """Return for each exercise the fragments of its solution, and of all code that the student notebook holds."""
    cells = master_notebook(root, assignment).cells
    released = given_fragments(
        [cell.source for cell in cells if cell.cell_type == "code" and role(cell.id) not in NOT_GIVEN]
    )
    solutions = worked(assignment).answers
    return {
        exercise.id: [*released, *given_fragments([solutions.get(exercise.id, "")])]
        for exercise in lessons()[assignment].exercises
    }
