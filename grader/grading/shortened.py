"""Say in the executed notebook, and in a verdict, that a training was verified and not repeated."""

from collections.abc import Collection

import nbformat
from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import SHORT, Lesson

NOTE = (
    f"[Shortened for grading: {SHORT} steps. The rest of this training was verified from secret states in its middle and near "
    "its end, and the trained model with trained weights. What cells below show of it is the state after these "
    f"{SHORT} steps.]\n"
)


def say_shortened(notebook: NotebookNode, cells: Collection[str]) -> None:
    """Add a note to the outputs of each training cell that ran; change the notebook itself."""
    for cell in notebook.cells:
        if cell.id in cells and cell.execution_count:
            cell.outputs = [*cell.outputs, nbformat.v4.new_output("stream", name="stdout", text=NOTE)]


def not_run(lesson: Lesson, exercise: Exercise) -> tuple[str, ...]:
    """Return a note on each check of an exercise that is left out where trainings are verified."""
    asked = {check.name for check in exercise.checks}
    left_out = [check for check in lesson.exercise(exercise.id).checks if check.verified == ()]
    return tuple(
        f"Not run when grading: {check.title}. Your notebook shows whether it does."
        for check in left_out
        if check.name not in asked
    )
