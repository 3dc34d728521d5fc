"""The command line: each command of `grader`, its options, and what ends it; `grader --help` lists them."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

import grader
from grader.commands import stopping
from grader.commands.appeal_line import appeals
from grader.commands.class_lines import add_class_commands
from grader.commands.console import Terminal
from grader.commands.options import (
    AnnotationsOption,
    AssignmentOption,
    ColumnOption,
    Device,
    EmptyOption,
    FailUnderOption,
    FeedbackOption,
    FillOption,
    FolderArgument,
    FromOption,
    FullTrainingOption,
    GradebookOption,
    HtmlOption,
    Isolation,
    IsolationOption,
    ItemsOption,
    JobsOption,
    JsonLinesOption,
    JsonOption,
    JunitOption,
    LatePerDayOption,
    LessonsOption,
    PdfOption,
    RunAllOption,
    SchedulerOption,
    Service,
    SubmissionsOption,
    WorksheetOption,
)
from grader.declare.errors import DeclarationError
from grader.paths import course_root, shipped_root


class Commands(TyperGroup):
    """The subcommands. What may happen to each of them is one line here, and an exit status."""

    def invoke(self, ctx: Any) -> object:
        """Run the subcommand."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # now, where an error can still be said
        except KeyboardInterrupt as stop:
            terminal.complain("stopped.")
            raise typer.Exit(stopping.status_of(stop)) from None
        except DeclarationError as error:  # any command may import the lessons
            _stop(str(error))
        except OSError as error:
            if error.errno == errno.EPIPE:  # as in `| head`: nobody reads on, and typer ends quietly
                raise
            _drop_output()
            _stop(f"{error.filename or 'standard output'}: {error.strerror}")


def _drop_output() -> None:
    """Throw away what standard output still holds: Python would try, and fail, to write it as it ends."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=f"The manual: {shipped_root() / 'docs' / 'instructors.md'}",
)
terminal = Terminal(out=Console(highlight=False), err=Console(stderr=True, highlight=False))

WRONG_USE = 2


def _version(wanted: bool) -> None:
    """Print the version and exit, if it is wanted."""
    if wanted:
        terminal.say(f"grader {grader.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    # Imported modules are never garbage. The garbage collector would take half a second to look through them,
    # and nearly one second more when the process ends.
    gc.set_threshold(100_000, 50, 50)
    # A terminal says what it can show; what is piped is UTF-8, as files are.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    try:
        app()
    finally:
        gc.freeze()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version, and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Build the course's notebooks, and grade what students hand in."""


@app.command()
def init(
    folder: FolderArgument,
    lesson: LessonsOption = None,
    empty: EmptyOption = False,
    late_per_day: LatePerDayOption = 0.0,
) -> None:
    """Make a course of your own: its lessons, secret and gradebook in one folder."""
    from grader.commands.init import run

    raise typer.Exit(run(folder, chosen=lesson or (), empty=empty, late_per_day=late_per_day, terminal=terminal))


@app.command()
def build(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a notebook is out of date.")] = False,
) -> None:
    """Make the solution and student notebooks from solutions/*.py and the declaration."""
    from grader.build import build as notebooks
    from grader.build.errors import BuildError

    root = _root()
    try:
        if check:
            lines = notebooks.drift(root)
            for line in lines:
                terminal.note(line)
            raise typer.Exit(1 if lines else 0)
        for path in notebooks.build(root):
            terminal.say(f"wrote {path.relative_to(root)}")
    except (BuildError, DeclarationError) as error:
        _stop(str(error))


@app.command()
def grade(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="A notebook, a folder in nbgrader's submitted/ layout, or an LMS zip."),
    ],
    assignment: AssignmentOption = None,
    device: Annotated[Device, typer.Option(help="Where the notebooks run.")] = Device.auto,
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    isolation: IsolationOption = Isolation.auto,
    json: JsonOption = None,
    html: HtmlOption = None,
    gradebook: GradebookOption = None,
    force: Annotated[bool, typer.Option("--force", help="Grade anew what was graded already.")] = False,
    full_training: FullTrainingOption = False,
    run_all: RunAllOption = False,
    worksheet: WorksheetOption = None,
) -> None:
    """Grade submissions; record them in the gradebook, autograded/ and feedback/."""
    from grader.commands.head_start import head_start

    if scheduler and jobs:
        _stop("--jobs is for this machine, --scheduler for a cluster; give one of them")
    root = _root()
    with ExitStack() as stack:
        early = head_start(root, device.value, isolation.value, gradebook=gradebook, force=force)
        server = None if scheduler else stack.enter_context(early)
        # This import brings torch, which takes as long as the fork server's start: both happen at the same
        # time.
        from grader.commands.grade import GradeOptions, run

        options = GradeOptions(
            paths=paths,
            root=root,
            assignment=assignment,
            device=device.value,
            jobs=jobs,
            scheduler=scheduler,
            isolation=isolation.value,
            json=json,
            html=html,
            gradebook=gradebook,
            force=force,
            full_training=full_training,
            run_all=run_all,
            worksheet=worksheet,
        )
        code = run(options, terminal, server)
    raise typer.Exit(code)


@app.command()
def check(
    notebook: Annotated[Path, typer.Argument(help="A notebook.")],
    assignment: Annotated[str | None, typer.Option(help="What it is a submission of.")] = None,
    device: Annotated[Device, typer.Option(help="Where the notebook runs.")] = Device.auto,
    isolation: IsolationOption = Isolation.auto,
    full_training: FullTrainingOption = False,
    run_all: RunAllOption = False,
    json: JsonLinesOption = None,
    fail_under: FailUnderOption = None,
    junit: JunitOption = None,
    annotations: AnnotationsOption = None,
) -> None:
    """Grade one notebook and show the verdicts; nothing is recorded."""
    from grader.commands.head_start import head_start

    root = _root()
    with head_start(root, device.value, isolation.value, gradebook=None, force=True) as server:
        from grader.commands.check import CheckOptions, run  # brings torch, as in `grade`

        options = CheckOptions(
            notebook=notebook,
            root=root,
            assignment=assignment,
            device=device.value,
            isolation=isolation.value,
            full_training=full_training,
            run_all=run_all,
            json=json,
            fail_under=fail_under,
            junit=junit,
            annotations=annotations and annotations.value,
        )
        code = run(options, terminal, server)
    raise typer.Exit(code)


@app.command()
def regrade(
    student: Annotated[str, typer.Argument(help="The student's id, as the gradebook has it.")],
    assignment: Annotated[str | None, typer.Option(help="This assignment alone.")] = None,
    came_from: FromOption = None,
    device: Annotated[Device, typer.Option(help="Where the notebooks run.")] = Device.auto,
    isolation: IsolationOption = Isolation.auto,
    gradebook: GradebookOption = None,
    full_training: FullTrainingOption = False,
    run_all: RunAllOption = False,
) -> None:
    """Grade one student anew, whatever was graded before, and say what changed."""
    from grader.commands.grade import GradeOptions
    from grader.commands.grade import run as grade_class
    from grader.commands.regrade import RegradeOptions, run

    root = _root()

    def grade_again(paths: Sequence[Path]) -> int:
        options = GradeOptions(
            paths=paths,
            root=root,
            assignment=assignment,
            device=device.value,
            jobs=1,
            isolation=isolation.value,
            gradebook=gradebook,
            force=True,
            full_training=full_training,
            run_all=run_all,
            student=student,
        )
        return grade_class(options, terminal)

    options = RegradeOptions(
        student=student, root=root, paths=came_from or (), assignment=assignment, gradebook=gradebook
    )
    raise typer.Exit(run(options, grade_again, terminal))


@app.command()
def report(
    html: Annotated[Path | None, typer.Option(help="Write the class report to this file.")] = None,
    items: ItemsOption = None,
    gradebook: GradebookOption = None,
    json: JsonLinesOption = None,
    pdf: PdfOption = None,
) -> None:
    """The class: scores, the exercises' pass rates, the commonest mistakes."""
    from grader.commands.report import run

    raise typer.Exit(
        run(root=_root(), gradebook=gradebook, html=html, items=items, json=json, pdf=pdf, terminal=terminal)
    )


@app.command()
def similar(
    assignment: Annotated[str | None, typer.Option(help="This assignment alone.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the answers side by side to this file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write one JSON object per line and pair to this file.")] = None,
    gradebook: GradebookOption = None,
) -> None:
    """Answers that agree in what few of the class write, for a person to look at; no points depend on it."""
    from grader.commands.similar import run

    raise typer.Exit(
        run(root=_root(), gradebook=gradebook, assignment=assignment, html=html, json=json, terminal=terminal)
    )


@app.command()
def export(
    service: Annotated[Service, typer.Argument(help="Whose format.")],
    to: Annotated[Path | None, typer.Option("--out", help="The file to write; default: standard output.")] = None,
    assignment: Annotated[str | None, typer.Option(help="This assignment alone.")] = None,
    gradebook: GradebookOption = None,
    column: ColumnOption = "",
    fill: FillOption = None,
    feedback: FeedbackOption = None,
    submissions: SubmissionsOption = None,
    json: JsonLinesOption = None,
    autograder: Annotated[
        Path | None, typer.Option(help="For gradescope: write the zip that grades there; it holds the course secret.")
    ] = None,
    isolation: Annotated[
        Isolation, typer.Option(help="With --autograder: the tier there; none must be asked for.")
    ] = Isolation.auto,
) -> None:
    """The grades as a file that a learning management system reads."""
    from grader.commands.export import ExportOptions, run, write_autograder

    if autograder is not None:
        if service is not Service.gradescope:
            _stop(f"--autograder is for gradescope, not for {service.value}")
        raise typer.Exit(
            write_autograder(
                autograder, root=_root(), assignment=assignment, isolation=isolation.value, terminal=terminal
            )
        )
    options = ExportOptions(
        service=service.value,
        root=_root(),
        gradebook=gradebook,
        to=to,
        assignment=assignment,
        column=column,
        fill=fill,
        feedback=feedback,
        submissions=submissions or (),
        json=json,
    )
    raise typer.Exit(run(options, terminal))


@app.command()
def doctor(json: JsonLinesOption = None) -> None:
    """Isolation tier, device and versions; what is missing, and how to get it."""
    from grader.commands.doctor import run

    raise typer.Exit(run(terminal, json))


def _root() -> Path:
    """Return the course's folder; exit with status 2 if there is none."""
    try:
        return course_root()
    except FileNotFoundError as error:
        _stop(str(error))


def _stop(message: str) -> NoReturn:
    """Print one line on standard error, and exit with status 2: wrong use."""
    terminal.complain(message)
    raise typer.Exit(WRONG_USE)


app.add_typer(appeals(_root, terminal), name="appeal")
add_class_commands(app, _root, terminal)

if __name__ == "__main__":
    main()
