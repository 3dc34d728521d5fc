"""`grader similar`: lists answers of a class that share rare code, for a person to review."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.results.pages import RecordedAnswers, recorded_answers, worked
from grader.commands.console import Terminal, check_assignment
from grader.commands.from_gradebook import recorded_entries
from grader.commands.given_file import write_lines, write_result
from grader.commands.options import SimilarOptions
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.records import GradebookEntry
from grader.report.similar import as_lines, similar_page, similar_table
from grader.report.similarity.fragments import Fragments
from grader.report.similarity.pairs import ComparedExercise, compare_exercise, given_fragments, whole_answer
from grader.report.text import assignments, some
from grader.submission.cells import Role, role

NOT_GIVEN = (Role.TOOLS, Role.CHECK)  # machinery that nobody copies from, and long


def run(options: SimilarOptions, terminal: Terminal) -> None:
    """Compare the recorded submissions of a class, and show the rare code that they share."""
    root = options.root
    check_assignment(options.assignment, tuple(lessons()))
    config = read_config(root, options.gradebook)
    entries = recorded_entries(config, options.assignment)
    autograded = config.results / "autograded"
    compared: list[ComparedExercise] = []
    for name, group in assignments(entries).items():
        if name in lessons():
            compared += _compare_assignment(root, name, autograded, group, terminal)
    if options.html:
        write_result(options.html, similar_page(compared, {entry.student.id: entry.student for entry in entries}))
    if options.json:
        write_lines(options.json, as_lines(compared), terminal.out.file)
    terminal.out.print(similar_table(compared))
    if options.html:
        terminal.say(f"wrote {options.html}")


def _compare_assignment(
    root: Path, assignment: str, autograded: Path, entries: Sequence[GradebookEntry], terminal: Terminal
) -> list[ComparedExercise]:
    """Compare the submissions of one assignment, and return the result for each exercise."""
    read = [*recorded_answers(autograded, entries)]
    if missing := [each for each in read if isinstance(each, str)]:
        terminal.complain(f"{assignment}: {autograded} contains no notebook of {some(missing)}. Grade the class again.")
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
    """Map each exercise to the fragments of the code that students were given, and of its solution.

    The given code is that of the student notebook. A fragment is a short run of words of code.
    """
    cells = master_notebook(root, assignment).cells
    released = given_fragments(
        [cell.source for cell in cells if cell.cell_type == "code" and role(cell.id) not in NOT_GIVEN]
    )
    solutions = worked(assignment).answers
    return {
        exercise.id: [*released, *given_fragments([solutions.get(exercise.id, "")])]
        for exercise in lessons()[assignment].exercises
    }
