"""Command lines about a lesson and a class: its proof, the zip for students, who they are, how late they were, where to hand in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from grader.commands.console import Terminal
from grader.commands.options import Device, GradebookOption, Isolation, IsolationOption, RosterArgument, SchedulerOption
from grader.commands.serve_part import NotInstalled, serve_part

StudentArgument = Annotated[str, typer.Argument(help="The student's id, as the gradebook has it.")]
ExerciseArgument = Annotated[str | None, typer.Argument(help="This exercise alone, as in 1.4.")]
HoursArgument = Annotated[float, typer.Argument(min=0.0, help="Hours after the due date; 0: it counts as in time.")]
AssignmentOption = Annotated[str | None, typer.Option(help="The assignment, if there are several.")]
LinksOption = Annotated[Path | None, typer.Option(help="Write each student's personal link to this file, as CSV.")]
InstructorOption = Annotated[
    list[str] | None, typer.Option(help="Print a link to the page of the class for this person; may be repeated.")
]
PlatformOption = Annotated[
    list[str] | None, typer.Option(help="Print the address that registers this server at this platform, by LTI 1.3.")
]
RevokeOption = Annotated[list[str] | None, typer.Option(help="This person's link works no more; may be repeated.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Submissions graded side by side.")]
ZipOption = Annotated[Path | None, typer.Option("--out", help="The zip to write; default: in dist/.")]
WRONG_USE = 2


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

    _add_handing_in(app, root, terminal)


def _add_handing_in(app: typer.Typer, root: Callable[[], Path], terminal: Terminal) -> None:
    """Add the commands about the class list and the place to hand in."""

    @app.command()
    def roster(
        file: RosterArgument = None,
        links: LinksOption = None,
        instructor: InstructorOption = None,
        platform: PlatformOption = None,
        revoke: RevokeOption = None,
        gradebook: GradebookOption = None,
    ) -> None:
        """Take the students' names from the platform's own list; write the links with which they sign in to hand in."""
        from grader.commands.roster import run

        wanted = dict(to=links, instructors=instructor or [], platforms=platform or [], revoked=revoke or [])
        if file is None and not any(wanted.values()):
            terminal.complain("name the platform's file, or pass --links, --instructor, --platform or --revoke")
            raise typer.Exit(WRONG_USE)
        status = 0 if file is None else run(file, root=root(), gradebook=gradebook, terminal=terminal)
        if not status and any(wanted.values()):
            status = _serve_part("link_command", terminal).run(root(), gradebook, terminal, **wanted)
        raise typer.Exit(status)

    @app.command()
    def serve(
        jobs: JobsOption = 1,
        device: Annotated[Device, typer.Option(help="Where the notebooks run.")] = Device.auto,
        isolation: IsolationOption = Isolation.auto,
        scheduler: SchedulerOption = None,
        gradebook: GradebookOption = None,
    ) -> None:
        """The place to hand in: a web server that grades what students upload; serve.toml says how."""
        asked = dict(
            device=device.value, jobs=jobs, scheduler=scheduler, isolation=isolation.value, gradebook=gradebook
        )
        raise typer.Exit(_serve_part("command", terminal).run(terminal, root=root(), **asked))


def _serve_part(name: str, terminal: Terminal) -> ModuleType:
    """Import a module of grader/serve; exit with status 2 where the extra is missing."""
    try:
        return serve_part(name)
    except NotInstalled as error:
        terminal.complain(error)
        raise typer.Exit(WRONG_USE) from error
