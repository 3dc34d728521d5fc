"""Grade whole notebooks with students' habits: no right one may lose points, be flagged, or be refused by its self-checks.

    python -m benchmarks.notebooks [LESSON…] [--folder FOLDER] [--only NAME] [--kernel]

With --kernel each notebook also runs in a kernel, without the cells that only draw or train, and a self-check that refuses a
right answer, or accepts what the grade refuses, is a loss.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import nbformat

from benchmarks import publish
from corpus.in_kernel import RIGHT, self_checks
from corpus.notebooks import HERE, WholeNotebook, notebook_of, whole_notebooks
from grader.course import lessons
from grader.grading.grade import get_ready, grade, master_notebook
from grader.paths import shipped_root
from grader.records import Grade, GradingSettings, Outcome
from grader.sandbox.server import Server
from grader.submission.file import SubmissionFile

# Flags that say how an answer was made. Those about the file or the machine are none of a habit's.
HARMLESS = ("renamed", "draft", "ran-on-cpu", "same-as-carry-on")


def graded(case: WholeNotebook, server: Server, folder: Path) -> Grade:
    """Grade one notebook."""
    path = folder / f"{case.name}.ipynb"
    path.write_text(nbformat.writes(notebook_of(case)), "utf-8")
    file = SubmissionFile(case.name, case.assignment, folder, (path.name,))
    settings = GradingSettings(secret="whole notebooks", device="cpu", tier=server.isolation)
    released = master_notebook(shipped_root(), case.assignment)
    return grade(file, server=server, settings=settings, released=released).grade


def losses(case: WholeNotebook, found: Grade) -> list[str]:
    """Return what is wrong with a grade: points that a right notebook lost, or that a wrong answer kept, and false flags."""
    if found.status != "graded":
        return [f"{found.status}: {found.message}"]
    lines = []
    for verdict in found.verdicts:
        passed = verdict.outcome is Outcome.PASSED
        if verdict.id == case.wrong and passed:
            lines.append(f"{verdict.id} is wrong, and accepted")
        elif verdict.id != case.wrong and not passed:
            lines.append(f"{verdict.id} {verdict.points:g}/{verdict.max_points:g}: {verdict.message} {verdict.hint}")
    flags = [flag for flag in found.flags if flag.kind not in HARMLESS and flag.exercise != (case.wrong or "-")]
    return [*lines, *(f"flag {flag.kind} {flag.exercise or ''}: {flag.detail}" for flag in flags)]


def refused_in_kernel(case: WholeNotebook) -> list[str]:
    """Return each right answer that its self-check refuses."""
    said = self_checks(case)
    refused = {id: text for id, text in said.items() if id != case.wrong and not text.startswith(RIGHT)}
    # Unlike the grade, a notebook has no stand-in for an answer that others build on.
    return [f"self-check {id}: {text[:300]}" for id, text in refused.items() if "it builds on" not in text]


def main() -> None:
    """Grade the notebooks, print those with losses, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lessons", nargs="*", default=list(lessons()))
    parser.add_argument("--folder", type=Path, default=HERE)
    parser.add_argument("--only", default="", help="a part of the names")
    parser.add_argument("--kernel", action="store_true")
    options = parser.parse_args()
    cases = [case for name in options.lessons for case in whole_notebooks(name, options.folder)]
    cases = [case for case in cases if options.only in case.name]
    lost = wrong = 0
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        for name in {case.assignment for case in cases}:
            get_ready(lessons()[name])
        for case in cases:
            started = time.monotonic()
            found = losses(case, graded(case, server, Path(folder)))
            found += refused_in_kernel(case) if options.kernel else []
            lost += bool(found and not case.wrong)
            wrong += bool(found and case.wrong)
            print(
                f"{case.assignment} {case.name}: {'; '.join(found) or 'ok'} ({time.monotonic() - started:.1f} s)",
                flush=True,
            )
    right = sum(not case.wrong for case in cases)
    publish(
        "notebooks",
        {"right": right, "right_with_losses": lost, "wrong": len(cases) - right, "wrong_with_losses": wrong},
    )


if __name__ == "__main__":
    main()
