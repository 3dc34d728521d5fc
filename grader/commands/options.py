"""Options and arguments of the commands, with their help: those that several have, or that would make one too long."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Device(StrEnum):
    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class Isolation(StrEnum):
    auto = "auto"
    full = "full"
    partial = "partial"
    none = "none"


class Service(StrEnum):
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"
    csv = "csv"


class Annotations(StrEnum):
    github = "github"
    gitlab = "gitlab"


IsolationOption = Annotated[Isolation, typer.Option(help="The sandbox's tier; none must be asked for.")]
AssignmentOption = Annotated[str | None, typer.Option(help="Grade this assignment alone, as in 1-attention.")]
WorksheetOption = Annotated[
    Path | None, typer.Option(help="Moodle's grading worksheet: what is still a draft there is flagged.")
]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Submissions side by side; default: one per core.")]
SchedulerOption = Annotated[str | None, typer.Option(help="Address of a dask.distributed scheduler.")]
JsonOption = Annotated[Path | None, typer.Option(help="Write one JSON object per line and submission to this file.")]
HtmlOption = Annotated[
    Path | None, typer.Option(help="Write the feedback pages and the class report into this folder.")
]
GradebookOption = Annotated[
    str | None, typer.Option(help="The gradebook's URL; default: the course's own, gradebook.db.")
]
FullTrainingOption = Annotated[
    bool, typer.Option("--full-training", help="Repeat each training in whole, and do not only verify it.")
]
RunAllOption = Annotated[
    bool, typer.Option("--run-all", help="Run whole trainings, given cells that only draw, and the self-checks, too.")
]

FolderArgument = Annotated[Path, typer.Argument(help="A new folder.")]
LessonsOption = Annotated[list[str] | None, typer.Option(help="Copy this lesson, as 1-attention; may be repeated.")]
EmptyOption = Annotated[bool, typer.Option("--empty", help="Copy no lesson: for a course on another subject.")]

LatePerDayOption = Annotated[float, typer.Option(min=0.0, help="The points that each day after the due date costs.")]

ItemsOption = Annotated[
    Path | None, typer.Option(help="Write how hard and how telling each exercise and check is to this file, as CSV.")
]
PdfOption = Annotated[
    Path | None, typer.Option(help="Print every feedback page, and that of the class, as PDF into this folder.")
]

ColumnOption = Annotated[
    str, typer.Option(help="For canvas: the column there, as in 'Lab 1 (87568490)', or its number.")
]
FillOption = Annotated[
    Path | None, typer.Option(help="For canvas and moodle: the service's own file of the class, which is filled in.")
]
FeedbackOption = Annotated[
    Path | None, typer.Option(help="For canvas and moodle: write the feedback as the zip that the service takes back.")
]
SubmissionsOption = Annotated[
    list[Path] | None, typer.Option(help="With --feedback: the service's download, whose names the zip has.")
]
JsonLinesOption = Annotated[
    Path | None, typer.Option(help="Write it as JSON to this file, one object per line; - is standard output.")
]
FromOption = Annotated[
    list[Path] | None, typer.Option("--from", help="The zip or folder with the submission; default: submitted/.")
]
FailUnderOption = Annotated[float | None, typer.Option(min=0.0, help="Exit with status 1 below so many points.")]
JunitOption = Annotated[Path | None, typer.Option(help="Write a test case for each exercise to this file, as XML.")]
AnnotationsOption = Annotated[
    Annotations | None,
    typer.Option(help="Tell a platform what failed: GitHub by lines, GitLab by the file gl-code-quality-report.json."),
]
RosterArgument = Annotated[
    Path | None, typer.Argument(help="Canvas's gradebook export, or Moodle's grading worksheet.")
]
