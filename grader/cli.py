"""The command line: the commands of `grader`, their options and their exit status. `grader --help` lists them."""

import errno
import gc
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

import grader
from grader.commands import options as records
from grader.commands import stopping
from grader.commands.console import Terminal
from grader.commands.uncaught import show_from_lessons
from grader.complaint import Complaint
from grader.declare.errors import DeclarationError

WRONG_USE = 2
# What the extra `serve` installs.
SERVE_PACKAGES = "starlette uvicorn sse_starlette multipart python_multipart itsdangerous joserfc pydantic".split()


class Commands(TyperGroup):
    """The group of subcommands. It turns each expected error of a subcommand into one line and an exit status."""

    def invoke(self, ctx: Any) -> object:
        """Run the subcommand. Exit with status 2 after a Complaint or OSError, and with 128 + signal after a stop."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # now, where an error can still be said
        except KeyboardInterrupt as stop:
            terminal.complain("stopped.")
            raise typer.Exit(stopping.status_of(stop)) from None
        except (Complaint, DeclarationError) as error:  # the latter: most commands import the lessons
            _stop(str(error))
        except OSError as error:
            if error.errno == errno.EPIPE:  # as in `| head`: nobody reads on, and typer ends quietly
                raise
            _drop_output()
            # One that we raise ourselves, about a notebook that was never built, has no number, and says all.
            _stop(f"{error.filename or 'standard output'}: {error.strerror}" if error.errno else str(error))


def _drop_output() -> None:
    """Discard all further standard output.

    Otherwise Python would try to write the rest of it when the process ends, and fail.
    """
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, epilog="Run grader docs to read the manual."
)
appeals = typer.Typer(no_args_is_help=True, help="Record, list and decide students' appeals.")
terminal = Terminal(out=Console(highlight=False), err=Console(stderr=True, highlight=False))


def _version(wanted: bool) -> None:
    """Print the version and exit, if the option --version is given."""
    if wanted:
        terminal.say(f"grader {grader.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Output to a pipe or a file is UTF-8."""
    # Imported modules are never garbage. The garbage collector would take half a second to look through them,
    # and nearly one second more when the process ends.
    gc.set_threshold(100_000, 50, 50)
    # A terminal says what it can show; what is piped is UTF-8, as files are.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    try:
        app()
    except Exception:
        sys.excepthook = show_from_lessons  # typer sets its own as it begins
        raise
    finally:
        gc.freeze()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Build a course's notebooks and grade submissions."""


def _grade(options: records.GradeOptions, terminal: Terminal) -> int:
    from grader.commands.head_start import head_start

    if options.scheduler and options.jobs:
        raise Complaint("--jobs is for this machine and --scheduler for a cluster. Pass only one of them.")
    with ExitStack() as stack:
        early = head_start(
            options.root, options.device, options.isolation, gradebook=options.gradebook, force=options.force
        )
        server = None if options.scheduler else stack.enter_context(early)
        # This import brings torch, which takes as long as the fork server's start: both happen at the same
        # time.
        from grader.commands.grade import run

        return run(options, terminal, server)


def _check(options: records.CheckOptions, terminal: Terminal) -> int:
    from grader.commands.head_start import head_start

    with head_start(options.root, options.device, options.isolation, gradebook=None, force=True) as server:
        from grader.commands.check import run  # brings torch, as in `grade`

        return run(options, terminal, server)


def _roster(options: records.RosterOptions, terminal: Terminal) -> None:
    links = options.links or options.instructor or options.platform or options.revoke
    if options.file is None and not links:
        raise Complaint("nothing to do. Pass the platform's file, --links, --instructor, --platform or --revoke.")
    if options.file is not None:
        _function("commands.students:take_names")(options.file, options, terminal)
    if links:
        serve_part("command").run_links(options, terminal)


def _serve(options: records.ServeOptions, terminal: Terminal) -> None:
    serve_part("command").run(options, terminal)


class NotInstalled(Complaint):
    """The extra `serve` is not installed. The message shows the command that installs it."""


def serve_part(name: str) -> ModuleType:
    """Import a module of grader/serve by its name. No other module of grader imports these modules.

    Raises:
        NotInstalled: a package that the module needs is missing.
    """
    try:
        return import_module(f"grader.serve.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SERVE_PACKAGES:
            raise
        raise NotInstalled(f"{error.name} is missing. Run: pip install 'attention-course[serve]'") from error


def _function(name: str) -> Callable[..., int | None]:
    """Return a function that imports "module:function" of grader and calls it.

    The import is late because most of these modules import torch, and some import nbgrader.
    """
    module, _, function = name.partition(":")
    return lambda *arguments: getattr(import_module(f"grader.{module}"), function)(*arguments)


def _add(group: typer.Typer, name: str, record: type, run: Callable[..., int | None]) -> None:
    """Add a command whose options are the fields of a record. The record's docstring is its help text."""
    group.command(name, help=record.__doc__)(records.takes(record)(lambda options: run(options, terminal)))


_add(app, "init", records.InitOptions, _function("commands.init:run"))
_add(app, "build", records.BuildOptions, _function("commands.build:run"))
_add(app, "grade", records.GradeOptions, _grade)
_add(app, "check", records.CheckOptions, _check)
_add(app, "regrade", records.RegradeOptions, _function("commands.regrade:run"))
_add(app, "report", records.ReportOptions, _function("commands.report:run"))
_add(app, "similar", records.SimilarOptions, _function("commands.similar:run"))
_add(app, "export", records.ExportOptions, _function("commands.export:run"))
_add(app, "doctor", records.DoctorOptions, _function("commands.doctor:run"))
_add(app, "docs", records.DocsOptions, _function("commands.manual:run"))
app.add_typer(appeals, name="appeal")
_add(appeals, "add", records.AppealOptions, _function("commands.decisions:record_appeal"))
_add(appeals, "list", records.AppealsOptions, _function("commands.decisions:list_appeals"))
_add(appeals, "decide", records.DecisionOptions, _function("commands.decisions:decide_on_appeal"))
_add(app, "prove", records.ProveOptions, _function("commands.build:run_prove"))
_add(app, "students", records.StudentsOptions, _function("commands.students:write_zip"))
_add(app, "site", records.SiteOptions, _function("commands.site:run"))
_add(app, "late", records.LateOptions, _function("commands.decisions:set_late"))
_add(app, "roster", records.RosterOptions, _roster)
_add(app, "serve", records.ServeOptions, _serve)


def _stop(message: str) -> NoReturn:
    """Print one line on standard error, and exit with status 2, which means wrong use."""
    terminal.complain(message)
    raise typer.Exit(WRONG_USE)


if __name__ == "__main__":
    main()
