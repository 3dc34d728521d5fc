"""`grader export`: the kept grades in a service's format."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from grader.report.export import export
from grader.store import Store


def run(
    service: str, *, root: Path, to: Path | None, assignment: str | None, out: Console, err: Console
) -> int:
    """Write the export; returns the exit status."""
    grades = [
        grade for grade in Store(root / ".grader" / "grades").all() if assignment in (None, grade.assignment)
    ]
    if not grades:
        err.print("grader: no grade is kept here yet; run: grader grade PATH", markup=False, soft_wrap=True)
        return 2
    text = export(service, grades)
    if to is None:
        out.file.write(text)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, "utf-8", newline="")
        err.print(f"wrote {to}", markup=False, soft_wrap=True)
    return 0
