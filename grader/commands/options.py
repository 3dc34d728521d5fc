"""Options of the commands that hand grades back, with their help; `grader/cli.py` has those of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ColumnOption = Annotated[
    str, typer.Option(help="For canvas: the column there, as in 'Lab 1 (87568490)', or its number.")
]
FillOption = Annotated[
    Path | None,
    typer.Option(help="For canvas and moodle: the service's own file of the class, which is filled in."),
]
FeedbackOption = Annotated[
    Path | None,
    typer.Option(help="For canvas and moodle: write the feedback as the zip that the service takes back."),
]
SubmissionsOption = Annotated[
    list[Path] | None, typer.Option(help="With --feedback: the service's download, whose names the zip has.")
]
JsonLinesOption = Annotated[
    Path | None,
    typer.Option(help="Write it as JSON to this file, one object per line; - is standard output."),
]
FromOption = Annotated[
    list[Path] | None,
    typer.Option("--from", help="The zip or folder with the submission; default: submitted/."),
]
RosterArgument = Annotated[
    Path, typer.Argument(help="Canvas's gradebook export, or Moodle's grading worksheet.")
]
