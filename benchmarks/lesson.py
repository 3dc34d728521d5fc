"""How long each lesson takes from the first cell to the last, with its solutions in it.

    python -m benchmarks.lesson [--rounds 3] [--assignment 1-attention]

Each solution notebook is run by papermill with its stock engine and a real kernel, on the CPU, in an empty folder.
The kernel's start and all imports count. The shortest of the rounds is reported: it is the one least disturbed.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path
from time import perf_counter

import papermill

from benchmarks import publish
from grader.paths import course_root

LIMITS = {
    "1-attention": 25.0,
    "2-heads": 45.0,
    "3-vlm": 75.0,
    "4-modern": 120.0,
    "5-real": 240.0,
    "6-explain": 200.0,
}  # seconds on two quiet cores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--assignment", action="append", choices=list(LIMITS), help="this lesson alone")
    options = parser.parse_args()
    logging.getLogger("papermill").setLevel(logging.ERROR)
    figures, rows = {}, []
    for name in options.assignment or LIMITS:
        seconds = [run(course_root() / "solutions" / name / f"{name}.ipynb") for _ in range(options.rounds)]
        figures[f"{name}_s"] = min(seconds)
        rows.append({"lesson": name, "seconds": min(seconds), "slowest round": max(seconds), "limit": LIMITS[name]})
    publish("lesson", figures, rows)


def run(notebook: Path, output: Path | None = None) -> float:
    """Seconds that one notebook takes; what comes out stands in `output`, if that is given.

    Raises:
        papermill.PapermillExecutionError: a cell raised.
    """
    with tempfile.TemporaryDirectory() as folder:
        started = perf_counter()
        papermill.execute_notebook(
            notebook,
            output or Path(folder, "out.ipynb"),
            parameters={"device": "cpu"},
            kernel_name="python3",
            progress_bar=False,
            cwd=folder,
            execution_timeout=300,  # of one cell
        )
        return perf_counter() - started


if __name__ == "__main__":
    main()
