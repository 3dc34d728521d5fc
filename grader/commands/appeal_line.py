"""The command line of `grader appeal`, which has subcommands of its own: add, list, decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from grader.commands.console import Terminal

Submission = Annotated[str, typer.Argument(help="The first digits of “submission” on the student's page.")]
Exercise = Annotated[str, typer.Argument(help="The exercise or question, as in 1.4.")]
Words = Annotated[str, typer.Argument(help="What the student writes.")]
Student = Annotated[str, typer.Option(help="Whose it is, if two handed in the same file.")]
Everything = Annotated[bool, typer.Option("--all", help="Those that were decided, too.")]
Json = Annotated[Path | None, typer.Option(help="Write one JSON object per appeal to this file; - is standard output.")]
Number = Annotated[int, typer.Argument(help="The appeal's number.")]
Comment = Annotated[str, typer.Option(help="What the student reads.")]
Points = Annotated[float | None, typer.Option(help="The points of the exercise from now on.")]
Keep = Annotated[bool, typer.Option("--keep", help="The points stay as they are.")]
Gradebook = Annotated[str | None, typer.Option(help="The gradebook's URL; default: the course's own.")]
WRONG_USE = 2


def appeals(root: Callable[[], Path], terminal: Terminal) -> typer.Typer:
    """Return the subcommands.

    Args:
        root: returns the course's folder, or ends the command.
    """
    app = typer.Typer(no_args_is_help=True, help="What students ask you to look at again, and what you decide.")

    @app.command()
    def add(
        submission: Submission, exercise: Exercise, text: Words, student: Student = "", gradebook: Gradebook = None
    ) -> None:
        """Record what a student asks for."""
        from grader.commands import appeal

        options = appeal.AppealOptions(root=root(), gradebook=gradebook)
        raise typer.Exit(appeal.add(options, submission, exercise, text, student, terminal))

    @app.command(name="list")
    def show(everything: Everything = False, json: Json = None, gradebook: Gradebook = None) -> None:
        """The appeals that wait for you."""
        from grader.commands import appeal

        options = appeal.AppealOptions(root=root(), gradebook=gradebook)
        raise typer.Exit(appeal.show(options, everything, json, terminal))

    @app.command()
    def decide(
        number: Number, comment: Comment, points: Points = None, keep: Keep = False, gradebook: Gradebook = None
    ) -> None:
        """Decide an appeal: points and comment go into the gradebook, and onto the student's page."""
        from grader.commands import appeal

        if (points is None) != keep:
            terminal.complain("pass either --points or --keep")
            raise typer.Exit(WRONG_USE)
        options = appeal.AppealOptions(root=root(), gradebook=gradebook)
        raise typer.Exit(appeal.decide(options, number, points, comment, terminal))

    return app
