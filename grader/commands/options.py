"""The options and arguments of each command, as the fields of a record. They are defined only here.

`takes` gives a command the options of a record. A field without an option is for Python code that
calls the command.
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
    """Return a decorator that makes a command from a function. The fields of the record become its options.

    The function takes the record, and returns the exit status or None for 0.
    """
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

AnyAssignment = Annotated[str | None, Option(help="Only this assignment.")]
AnyDevice = Annotated[Device, Option(help="The device on which the notebooks run.")]
AnyIsolation = Annotated[
    Isolation, Option(help="The sandbox's tier. auto chooses the best one that works, but never none.")
]
AnyScheduler = Annotated[str | None, Option(help="The address of a dask.distributed scheduler.")]
Gradebook = Annotated[str | None, Option(help="The gradebook's URL. Default: gradebook.db of the course.")]
RunAll = Annotated[
    bool, Option("--run-all", help="Also run complete training runs, cells that only draw, and the self-checks.")
]
JsonLines = Annotated[
    Path | None, Option(help="Write the result to this file, as one JSON object per line; - is standard output.")
]
Student = Annotated[str, Argument(help="The student's id in the gradebook.")]

# ---------------------------------------------------------------- the commands, as `grader --help` lists them


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """The options of a command. Each subclass is a frozen dataclass whose fields are passed by name."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class InCourse(Options):
    """The options of a command that runs in a course."""

    root: Path  # the course's folder


class InitOptions(Options):
    """Create a course of your own: a folder with its lessons, secret and gradebook."""

    folder: Annotated[Path | None, Argument(help="The folder to create. Do not pass one together with --exercise.")] = (
        None
    )
    lesson: Annotated[list[str] | None, Option(help="Copy this lesson, such as 1-attention. Can be repeated.")] = None
    empty: Annotated[bool, Option("--empty", help="Copy no lessons, for a course on another subject.")] = False
    late_per_day: Annotated[float, Option(min=0.0, help="The late penalty, in points per day.")] = 0.0
    exercise: Annotated[
        str | None,
        Option(
            help="Add a small exercise that works, such as '1.4 Means', to the course in this folder. You then "
            "change it."
        ),
    ] = None


class BuildOptions(InCourse):
    """Generate the notebooks from the lesson scripts and declarations."""

    check: Annotated[bool, Option("--check", help="Write nothing, and fail if a notebook is out of date.")] = False
    points: Annotated[
        bool | None,
        Option(
            help="Also run each solution that was built, and print its points. Default: only for your own "
            "lessons, because "
            "the solutions of the supplied lessons train models for minutes."
        ),
    ] = None
    watch: Annotated[
        bool, Option("--watch", help="Build again after each change, and print the cells as students see them.")
    ] = False


class GradeOptions(InCourse):
    """Grade submissions, and write the gradebook, autograded/ and feedback/."""

    paths: Annotated[
        list[Path],
        Argument(
            metavar="PATH...", help="A notebook, a folder in nbgrader's submitted/ layout, or a zip from a platform."
        ),
    ]
    assignment: Annotated[str | None, Option(help="Grade only this assignment, such as 1-attention.")] = None
    names: Annotated[
        str | None,
        Option(
            metavar="PATTERN",
            help="A regular expression for the whole path of each file in the folder or zip. It needs the named group "
            "student, and can have the groups name and attempt.",
        ),
    ] = None
    device: AnyDevice = "auto"
    jobs: Annotated[int | None, Option(min=1, help="The number of parallel jobs. Default: one per core.")] = None
    scheduler: AnyScheduler = None
    isolation: AnyIsolation = "auto"
    json: Annotated[Path | None, Option(help="Write one JSON object per submission to this file.")] = None
    html: Annotated[Path | None, Option(help="Write the feedback pages and the class report into this folder.")] = None
    gradebook: Gradebook = None
    force: Annotated[bool, Option("--force", help="Grade all submissions again.")] = False
    run_all: RunAll = False
    worksheet: Annotated[
        Path | None, Option(help="Moodle's grading worksheet. Submissions that it lists as drafts get a flag.")
    ] = None
    student: str | None = None  # grade only this student


class CheckOptions(InCourse):
    """Grade one notebook and show the verdicts, without recording them."""

    notebook: Annotated[Path, Argument(help="The notebook to grade.")]
    assignment: Annotated[
        str | None, Option(help="The assignment, if neither the name nor the cells of the notebook show it.")
    ] = None
    device: Annotated[Device, Option(help="The device on which the notebook runs.")] = "auto"
    isolation: AnyIsolation = "auto"
    run_all: RunAll = False
    json: JsonLines = None
    fail_under: Annotated[float | None, Option(min=0.0, help="Exit with status 1 if the score is below this.")] = None
    junit: Annotated[Path | None, Option(help="Write a JUnit test case for each exercise to this file.")] = None
    annotations: Annotated[
        Annotations | None,
        Option(
            help="Report failures to GitHub (as annotations on lines) or to GitLab (in the file "
            "gl-code-quality-report.json)."
        ),
    ] = None


class RegradeOptions(InCourse):
    """Grade one student again, and show what changed."""

    student: Student
    assignment: AnyAssignment = None
    paths: Annotated[
        list[Path] | None, Option("--from", help="The zip or folder with the submission. Default: submitted/.")
    ] = None
    device: AnyDevice = "auto"
    isolation: AnyIsolation = "auto"
    gradebook: Gradebook = None
    run_all: RunAll = False


class ReportOptions(InCourse):
    """Report on the class: scores, pass rates of exercises, and frequent mistakes."""

    html: Annotated[Path | None, Option(help="Write the class report to this file.")] = None
    items: Annotated[
        Path | None, Option(help="Write the difficulty and discrimination of each exercise and check to this CSV file.")
    ] = None
    gradebook: Gradebook = None
    json: JsonLines = None
    pdf: Annotated[
        Path | None, Option(help="Print the feedback pages and the class report as PDF files into this folder.")
    ] = None


class SimilarOptions(InCourse):
    """Find answers that share unusual code, for a person to review. This does not change points."""

    assignment: AnyAssignment = None
    html: Annotated[Path | None, Option(help="The file for a page that shows the answers side by side.")] = None
    json: Annotated[Path | None, Option(help="Write one JSON object per pair to this file.")] = None
    gradebook: Gradebook = None


class ExportOptions(InCourse):
    """Write the grades as a file for a learning platform."""

    service: Annotated[Service, Argument(help="The platform.")]
    to: Annotated[Path | None, Option("--out", help="The file to write. Default: standard output.")] = None
    assignment: AnyAssignment = None
    gradebook: Gradebook = None
    column: Annotated[
        str, Option(help="The column on the platform, such as 'Lab 1 (87568490)' on Canvas, or its number.")
    ] = ""
    fill: Annotated[
        Path | None, Option(help="The platform's own list of the class. The scores are filled into a copy of it.")
    ] = None
    feedback: Annotated[
        Path | None, Option(help="Write the feedback to this zip, for upload to the platform. Needs --submissions.")
    ] = None
    submissions: Annotated[
        list[Path] | None, Option(help="The zip that you downloaded from the platform. Needs --feedback.")
    ] = None
    force: Annotated[bool, Option("--force", help="Replace existing files.")] = False
    json: JsonLines = None
    autograder: Annotated[
        Path | None, Option(help="Write the autograder for Gradescope to this zip. It contains the course secret.")
    ] = None
    isolation: Annotated[
        Isolation, Option(help="The tier on Gradescope. auto chooses the best one that works, but never none.")
    ] = "auto"


class DoctorOptions(Options):
    """Show what this machine supports: isolation tier, device, versions, and what is missing."""

    json: JsonLines = None


class DocsOptions(Options):
    """Open the manual in a browser, and print its address."""

    page: Annotated[str, Argument(help="The page, such as serve or security.")] = "instructors"
    print_address: Annotated[bool, Option("--print", help="Only print the address; do not open a browser.")] = False
    out: Annotated[
        Path | None, Option(help="Write the pages to this folder. Default: a folder in the user's cache.")
    ] = None


class ProveOptions(InCourse):
    """Prove that the reference passes the checks and that each declared mistake fails."""

    exercise: Annotated[str | None, Argument(help="Only this exercise, such as 1.4.")] = None


class StudentsOptions(InCourse):
    """Write the zip for students: notebooks, figures, and a page that explains how to begin."""

    to: Annotated[Path | None, Option("--out", help="The zip to write. Default: in dist/.")] = None
    server: Annotated[
        str, Option(help="The address of your submission server. The last cell of each notebook submits there.")
    ] = ""


class SiteOptions(InCourse):
    """Write the course as static pages: the lessons with their figures, the documentation, and a search."""

    out: Annotated[Path, Option(help="The folder to write.")] = Path("dist/site")
    solved: Annotated[bool, Option("--solved", help="Also write the solutions. Do not publish these pages.")] = False


class LateOptions(InCourse):
    """Record how late a submission was, if the platform does not show it."""

    student: Student
    hours: Annotated[float, Argument(min=0.0, help="Hours after the due date; 0 means on time.")]
    assignment: Annotated[str | None, Option(help="The assignment, if the student submitted several.")] = None
    gradebook: Gradebook = None


class RosterOptions(InCourse):
    """Add students from a platform's list, and create the links for `grader serve`."""

    file: Annotated[
        Path | None, Argument(help="The platform's list of the class, such as Canvas's gradebook export.")
    ] = None
    links: Annotated[Path | None, Option(help="Write each student's personal link to this CSV file.")] = None
    instructor: Annotated[
        list[str] | None, Option(help="Print this instructor's link to the page of the class. Can be repeated.")
    ] = None
    platform: Annotated[
        list[str] | None,
        Option(
            help="Print how to register this server on a platform with LTI 1.3. Pass the platform's address, "
            "or pass --school "
            "and one of canvas, blackboard, brightspace, moodle, sakai, schoology, openedx, ilias and openolat."
        ),
    ] = None
    school: Annotated[str | None, Option(help="Your school's address on the platform.")] = None
    client_id: Annotated[
        str | None, Option(help="The client id that the platform shows; it is written to serve.toml.")
    ] = None
    deployment: Annotated[
        list[str] | None, Option(help="The deployment that the platform shows, or * for any. Can be repeated.")
    ] = None
    tool: Annotated[
        str | None,
        Option(help="The number at the end of the platform's token address. Only Sakai and Open edX need it."),
    ] = None
    revoke: Annotated[
        list[str] | None, Option(help="Revoke this person's link and end all their sessions. Can be repeated.")
    ] = None
    gradebook: Gradebook = None


class ServeOptions(InCourse):
    """Run the submission server: students upload notebooks and get feedback."""

    jobs: Annotated[int, Option(min=1, help="The number of parallel grading jobs.")] = 1
    device: AnyDevice = "auto"
    isolation: AnyIsolation = "auto"
    scheduler: AnyScheduler = None
    gradebook: Gradebook = None


# ---------------------------------------------------------------- grader appeal …

Exercise = Annotated[str, Argument(help="The exercise or question, such as 1.4.")]


class AppealOptions(InCourse):
    """Record a student's appeal."""

    submission: Annotated[str, Argument(help="The first digits of “submission” on the feedback page.")]
    exercise: Exercise
    text: Annotated[str, Argument(help="The student's reason.")]
    student: Annotated[str, Option(help="The student's id, if two students submitted the same file.")] = ""
    gradebook: Gradebook = None


class AppealsOptions(InCourse):
    """List the open appeals."""

    everything: Annotated[bool, Option("--all", help="Also list decided appeals.")] = False
    json: Annotated[
        Path | None, Option(help="Write one JSON object per appeal to this file; - is standard output.")
    ] = None
    gradebook: Gradebook = None


class DecisionOptions(InCourse):
    """Decide an appeal, and write points and comment to the gradebook and the feedback page."""

    number: Annotated[int, Argument(help="The number of the appeal.")]
    comment: Annotated[str, Option(help="The comment for the student (required).")] = ""
    points: Annotated[float | None, Option(help="The new points of the exercise.")] = None
    keep: Annotated[bool, Option("--keep", help="Keep the points.")] = False
    gradebook: Gradebook = None
