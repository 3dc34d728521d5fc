"""`grader report`: the class, from the grades that are kept."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from grader.report.class_page import class_page
from grader.report.terminal import table
from grader.store import Store


def run(*, root: Path, html: Path | None, out: Console, err: Console) -> int:
    """Show the class on the terminal, or write its page; returns the exit status."""
    grades = list(Store(root / ".grader" / "grades").all())
    if not grades:
        err.print("grader: no grade is kept here yet; run: grader grade PATH", markup=False, soft_wrap=True)
        return 2
    if html is None:
        out.print(table(grades))
        return 0
    html.parent.mkdir(parents=True, exist_ok=True)
    html.write_text(class_page(grades), "utf-8")
    out.print(f"wrote {html}", markup=False, soft_wrap=True)
    return 0
