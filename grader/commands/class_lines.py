"""Command lines about a lesson and a class: its proof, the zip for students, who they are, and how late they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from grader.commands.console import Terminal
from grader.commands.options import GradebookOption, RosterArgument

StudentArgument = Annotated[str, typer.Argument(help="The student's id, as the gradebook has it.")]
ExerciseArgument = Annotated[str | None, typer.Argument(help="This exercise alone, as in 1.4.")]
HoursArgument = Annotated[float, typer.Argument(min=0.0, help="Hours after the due date; 0: it counts as in time.")]
AssignmentOption = Annotated[str | None, typer.Option(help="The assignment, if there are several.")]
ZipOption = Annotated[Path | None, typer.Option("--out", help="The zip to write; default: in dist/.")]


def add_class_commands(app: typer.Typer, root: Callable[[], Path], terminal: Terminal) -> None:
    """Add the commands to the command line.

    Args:
        root: returns the course's folder, or ends the command.
    """

    @app.command()
    def prove(exercise: ExerciseArgument = None) -> None:
        """Show that each mistake that a lesson declares fails its checks, and that the reference passes."""
        from grader.commands.prove import run

        root()
        raise typer.Exit(run(exercise, terminal))

    @app.command()
    def students(to: ZipOption = None) -> None:
        """The zip that students get: notebooks, figures, and how to begin."""
        from grader.commands.students import run

        raise typer.Exit(run(root(), to, terminal))

    @app.command()
    def roster(file: RosterArgument, gradebook: GradebookOption = None) -> None:
        """Take the students' names from the platform's own list, and add who handed in nothing."""
        from grader.commands.roster import run

        raise typer.Exit(run(file, root=root(), gradebook=gradebook, terminal=terminal))

    @app.command()
    def late(
        student: StudentArgument,
        hours: HoursArgument,
        assignment: AssignmentOption = None,
        gradebook: GradebookOption = None,
    ) -> None:
        """Say how late a student was, where the platform does not; 0 hours: in time, whatever it says."""
        from grader.commands.late import LateOptions, run

        options = LateOptions(student=student, hours=hours, root=root(), assignment=assignment, gradebook=gradebook)
        raise typer.Exit(run(options, terminal))
