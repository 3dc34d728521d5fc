"""What each command takes: a record whose fields are the options and arguments of its command line, said nowhere else.

`takes` gives a command the options of a record. A field without an option is for who calls the command from Python.
"""

import functools
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform, get_type_hints

from typer import Argument, Exit, Option
from typer.models import ArgumentInfo, OptionInfo

from grader.paths import course_root

Record = TypeVar("Record")


def takes(record: type[Record]) -> Callable[[Callable[[Record], int | None]], Callable[..., None]]:
    """Decorate a command that takes a record and returns its exit status, or None for 0."""
    hints = get_type_hints(record, include_extras=True)
    own = {each.name: each.default for each in fields(record)}  # type: ignore[arg-type]  # it is a dataclass
    defaults = {name: Parameter.empty if value is MISSING else value for name, value in own.items()}

    def decorate(command: Callable[[Record], int | None]) -> Callable[..., None]:
        @functools.wraps(command)
        def called(**given: Any) -> None:
            if "root" in hints:
                given["root"] = course_root()  # its error says what a course is
            raise Exit(command(record(**given)) or 0)

        asked = [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=hint, default=defaults[name])
            for name, hint in hints.items()
            if _is_option(hint)
        ]
        called.__signature__ = Signature(asked)  # type: ignore[attr-defined]  # typer reads it
        called.__annotations__ = {}
        return called

    return decorate


def _is_option(hint: Any) -> bool:
    return any(isinstance(each, OptionInfo | ArgumentInfo) for each in getattr(hint, "__metadata__", ()))


Device = Literal["auto", "cpu", "cuda"]
Isolation = Literal["auto", "full", "partial", "none"]
Service = Literal["canvas", "moodle", "blackboard", "brightspace", "sakai", "openolat", "gradescope", "csv"]
Annotations = Literal["github", "gitlab"]

# ---------------------------------------------------------------- what several commands take

AnyAssignment = Annotated[str | None, Option(help="This assignment alone.")]
AnyDevice = Annotated[Device, Option(help="Where the notebooks run.")]
AnyIsolation = Annotated[Isolation, Option(help="The sandbox's tier; none must be asked for.")]
AnyScheduler = Annotated[str | None, Option(help="Address of a dask.distributed scheduler.")]
Gradebook = Annotated[str | None, Option(help="The gradebook's URL; default: the course's own, gradebook.db.")]
RunAll = Annotated[
    bool, Option("--run-all", help="Run whole trainings, given cells that only draw, and the self-checks, too.")
]
JsonLines = Annotated[
    Path | None, Option(help="Write it as JSON to this file, one object per line; - is standard output.")
]
Student = Annotated[str, Argument(help="The student's id, as the gradebook has it.")]

# ---------------------------------------------------------------- the commands, as `grader --help` lists them


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """What a command takes. Each kind is a frozen dataclass, whose fields are given by name."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class InCourse(Options):
    """What a command takes that runs in a course."""

    root: Path  # the course's folder


class InitOptions(Options):
    """Make a course of your own: its lessons, secret and gradebook in one folder."""

    folder: Annotated[Path | None, Argument(help="A new folder; left out with --exercise.")] = None
    lesson: Annotated[list[str] | None, Option(help="Copy this lesson, as 1-attention; may be repeated.")] = None
    empty: Annotated[bool, Option("--empty", help="Copy no lesson: for a course on another subject.")] = False
    late_per_day: Annotated[float, Option(min=0.0, help="The points that each day after the due date costs.")] = 0.0
    exercise: Annotated[
        str | None,
        Option(help="In a course of your own: add an exercise that works and that you then change, as in '1.4 Means'."),
    ] = None


class BuildOptions(InCourse):
    """Make the solution and student notebooks from solutions/*.py and the declaration."""

    check: Annotated[bool, Option("--check", help="Write nothing; fail if a notebook is out of date.")] = False
    points: Annotated[
        bool | None,
        Option(
            help="Also run each solution that was built, and print its points. Default: for lessons of your own. The "
            "solutions of the grader's lessons train models for minutes, and tests grade them."
        ),
    ] = None
    watch: Annotated[
        bool, Option("--watch", help="Build again after each change, and print the cells as students see them.")
    ] = False


class GradeOptions(InCourse):
    """Grade submissions; record them in the gradebook, autograded/ and feedback/."""

    paths: Annotated[
        list[Path],
        Argument(metavar="PATH...", help="A notebook, a folder in nbgrader's submitted/ layout, or an LMS zip."),
    ]
    assignment: Annotated[str | None, Option(help="Grade this assignment alone, as in 1-attention.")] = None
    names: Annotated[
        str | None,
        Option(
            metavar="PATTERN",
            help="How a folder or zip names its files: a regular expression for a whole path, with the named groups "
            "student, and if there are such, name and attempt.",
        ),
    ] = None
    device: AnyDevice = "auto"
    jobs: Annotated[int | None, Option(min=1, help="Submissions side by side; default: one per core.")] = None
    scheduler: AnyScheduler = None
    isolation: AnyIsolation = "auto"
    json: Annotated[Path | None, Option(help="Write one JSON object per line and submission to this file.")] = None
    html: Annotated[Path | None, Option(help="Write the feedback pages and the class report into this folder.")] = None
    gradebook: Gradebook = None
    force: Annotated[bool, Option("--force", help="Grade anew what was graded already.")] = False
    run_all: RunAll = False
    worksheet: Annotated[
        Path | None, Option(help="Moodle's grading worksheet: what is still a draft there is flagged.")
    ] = None
    student: str | None = None  # grade this student alone


class CheckOptions(InCourse):
    """Grade one notebook and show the verdicts; nothing is recorded."""

    notebook: Annotated[Path, Argument(help="A notebook.")]
    assignment: Annotated[str | None, Option(help="What it is a submission of.")] = None
    device: Annotated[Device, Option(help="Where the notebook runs.")] = "auto"
    isolation: AnyIsolation = "auto"
    run_all: RunAll = False
    json: JsonLines = None
    fail_under: Annotated[float | None, Option(min=0.0, help="Exit with status 1 below so many points.")] = None
    junit: Annotated[Path | None, Option(help="Write a test case for each exercise to this file, as XML.")] = None
    annotations: Annotated[
        Annotations | None,
        Option(help="Tell a platform what failed: GitHub by lines, GitLab by the file gl-code-quality-report.json."),
    ] = None


class RegradeOptions(InCourse):
    """Grade one student anew, whatever was graded before, and say what changed."""

    student: Student
    assignment: AnyAssignment = None
    paths: Annotated[
        list[Path] | None, Option("--from", help="The zip or folder with the submission; default: submitted/.")
    ] = None
    device: AnyDevice = "auto"
    isolation: AnyIsolation = "auto"
    gradebook: Gradebook = None
    run_all: RunAll = False


class ReportOptions(InCourse):
    """The class: scores, the exercises' pass rates, the commonest mistakes."""

    html: Annotated[Path | None, Option(help="Write the class report to this file.")] = None
    items: Annotated[
        Path | None, Option(help="Write how hard and how telling each exercise and check is to this file, as CSV.")
    ] = None
    gradebook: Gradebook = None
    json: JsonLines = None
    pdf: Annotated[
        Path | None, Option(help="Print every feedback page, and that of the class, as PDF into this folder.")
    ] = None


class SimilarOptions(InCourse):
    """Answers that agree in what few of the class write, for a person to look at; no points depend on it."""

    assignment: AnyAssignment = None
    html: Annotated[Path | None, Option(help="Write a page with the answers side by side to this file.")] = None
    json: Annotated[Path | None, Option(help="Write one JSON object per line and pair to this file.")] = None
    gradebook: Gradebook = None


class ExportOptions(InCourse):
    """The grades as a file that a learning management system reads."""

    service: Annotated[Service, Argument(help="Whose format.")]
    to: Annotated[Path | None, Option("--out", help="The file to write; default: standard output.")] = None
    assignment: AnyAssignment = None
    gradebook: Gradebook = None
    column: Annotated[
        str, Option(help="The column on the platform, as in 'Lab 1 (87568490)' on Canvas, or its number.")
    ] = ""
    fill: Annotated[
        Path | None, Option(help="The platform's own file of the class: take its rows and fill in the scores.")
    ] = None
    feedback: Annotated[
        Path | None, Option(help="Write the feedback as the zip that the platform takes back; it needs --submissions.")
    ] = None
    submissions: Annotated[
        list[Path] | None, Option(help="With --feedback: the platform's download, whose names the zip has.")
    ] = None
    force: Annotated[bool, Option("--force", help="Replace files that exist.")] = False
    json: JsonLines = None
    autograder: Annotated[
        Path | None, Option(help="For gradescope: write the zip that grades there; it holds the course secret.")
    ] = None
    isolation: Annotated[Isolation, Option(help="With --autograder: the tier there; none must be asked for.")] = "auto"


class DoctorOptions(Options):
    """Isolation tier, device and versions; what is missing, and how to get it."""

    json: JsonLines = None


class ProveOptions(InCourse):
    """Show that each mistake that a lesson declares fails its checks, and that the reference passes."""

    exercise: Annotated[str | None, Argument(help="This exercise alone, as in 1.4.")] = None


class StudentsOptions(InCourse):
    """The zip that students get: notebooks, figures, and how to begin."""

    to: Annotated[Path | None, Option("--out", help="The zip to write; default: in dist/.")] = None
    server: Annotated[str, Option(help="Where the notebooks' last cell hands in: the address of `grader serve`.")] = ""


class SiteOptions(InCourse):
    """The course as static pages: lessons with their figures, the documentation, a search."""

    out: Annotated[Path, Option(help="The folder to write.")] = Path("dist/site")
    solved: Annotated[bool, Option("--solved", help="Also write the solutions: for you, and not for students.")] = False


class LateOptions(InCourse):
    """Say how late a student was, where the platform does not; 0 hours: in time, whatever it says."""

    student: Student
    hours: Annotated[float, Argument(min=0.0, help="Hours after the due date; 0: it counts as in time.")]
    assignment: Annotated[str | None, Option(help="The assignment, if there are several.")] = None
    gradebook: Gradebook = None


class RosterOptions(InCourse):
    """Take the students' names from the platform's own list; write the links with which they sign in to hand in."""

    file: Annotated[
        Path | None, Argument(help="The platform's own list of the class, as Canvas's gradebook export.")
    ] = None
    links: Annotated[Path | None, Option(help="Write each student's personal link to this file, as CSV.")] = None
    instructor: Annotated[
        list[str] | None, Option(help="Print a link to the page of the class for this person; may be repeated.")
    ] = None
    platform: Annotated[
        list[str] | None,
        Option(
            help="A platform for LTI 1.3: its address, or canvas, blackboard, brightspace, moodle, sakai, schoology, "
            "openedx, ilias or openolat with --school. Print how it registers this server."
        ),
    ] = None
    school: Annotated[str | None, Option(help="Your school's address on that platform.")] = None
    client_id: Annotated[str | None, Option(help="The client id that the platform shows. Write it to serve.toml.")] = (
        None
    )
    deployment: Annotated[
        list[str] | None, Option(help="The deployment that the platform shows; * for any; may be repeated.")
    ] = None
    tool: Annotated[
        str | None, Option(help="The number of the tool at the end of Sakai's or Open edX's token address.")
    ] = None
    revoke: Annotated[
        list[str] | None, Option(help="Revoke this person's link, and end all sessions; may be repeated.")
    ] = None
    gradebook: Gradebook = None


class ServeOptions(InCourse):
    """The place to hand in: a web server that grades what students upload; serve.toml says how."""

    jobs: Annotated[int, Option(min=1, help="Submissions graded side by side.")] = 1
    device: AnyDevice = "auto"
    isolation: AnyIsolation = "auto"
    scheduler: AnyScheduler = None
    gradebook: Gradebook = None


# ---------------------------------------------------------------- grader appeal …

Exercise = Annotated[str, Argument(help="The exercise or question, as in 1.4.")]


class AppealOptions(InCourse):
    """Record what a student asks for."""

    submission: Annotated[str, Argument(help="The first digits of “submission” on the student's page.")]
    exercise: Exercise
    text: Annotated[str, Argument(help="What the student writes.")]
    student: Annotated[str, Option(help="Whose it is, if two handed in the same file.")] = ""
    gradebook: Gradebook = None


class AppealsOptions(InCourse):
    """The appeals that wait for you."""

    everything: Annotated[bool, Option("--all", help="Those that were decided, too.")] = False
    json: Annotated[
        Path | None, Option(help="Write one JSON object per appeal to this file; - is standard output.")
    ] = None
    gradebook: Gradebook = None


class DecisionOptions(InCourse):
    """Decide an appeal: points and comment go into the gradebook, and onto the student's page."""

    number: Annotated[int, Argument(help="The appeal's number.")]
    comment: Annotated[str, Option(help="What the student reads; it must be given.")] = ""
    points: Annotated[float | None, Option(help="The points of the exercise from now on.")] = None
    keep: Annotated[bool, Option("--keep", help="The points stay as they are.")] = False
    gradebook: Gradebook = None
