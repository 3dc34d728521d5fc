"""Classes for the benchmarks: copies of the lesson 1 examples, each with a content of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

from grader.paths import course_root, tools_on_path

NAME = "1-attention"
MOST_SECONDS = 1800.0  # of another program; `otter run` was once seen to hang
# A mixed sample: right, wrong in one place, wrong in many, other styles, not begun. The endless loop is left out, as
# it takes its time limit in every program, and so are the two that no program can read.
EXAMPLES = (
    "full-marks",
    "mask-inverted",
    "no-scaling",
    "other-style",
    "own-helper",
    "softmax-over-queries",
    "syntax-error",
    "untouched",
    "uses-the-builtin",
    "keys-from-text",
)


def make_course(folder: Path, submissions: int) -> Path:
    """A course's folder with the notebooks and a class of so many in submitted/."""
    make_empty_course(folder)
    for student, notebook in submitted(submissions):
        submit(folder, student, NAME, json.dumps(notebook))
    return folder


def make_empty_course(folder: Path) -> None:
    """A course's folder with the notebooks of this one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("solutions", "notebooks"):
        (folder / name).symlink_to(course_root() / name, target_is_directory=True)


def submit(course: Path, student: str, assignment: str, text: str) -> None:
    """Write one submission."""
    place = course / "submitted" / student / assignment
    place.mkdir(parents=True)
    (place / f"{assignment}.ipynb").write_text(text, "utf-8")


def submitted(count: int) -> Iterator[tuple[str, dict]]:
    """Students and their notebooks; no two have the same content, so that none is known by another."""
    examples = course_root() / "examples" / "submitted"
    books = [(examples / name / NAME / f"{NAME}.ipynb").read_text("utf-8") for name in EXAMPLES]
    for number, text in enumerate(islice(cycle(books), count)):
        notebook = json.loads(text)
        cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
        notebook["cells"].append({**cell, "source": f"# handed in by student {number}"})
        yield f"s{number:05}", notebook


def grader(folder: Path, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen:
    """`grader grade` of the class in the folder, started, on the CPU.

    It writes grades.jsonl and log.txt there. The command `before` gets it as its arguments.
    """
    command = [*before, sys.executable, "-m", "grader", "grade", str(folder / "submitted"), "--device", "cpu"]
    command += ["--json", str(folder / "grades.jsonl"), *arguments]
    environment = {**os.environ, "GRADER_COURSE": str(folder), "GRADER_SECRET": "benchmark"}
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def check_all_graded(folder: Path, students: int) -> None:
    """A fast run that graded nothing is no result.

    Raises:
        RuntimeError: not every submission was graded.
    """
    path = folder / "grades.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    graded = sum(line["status"] == "graded" for line in lines)
    if graded != students:
        raise RuntimeError(
            f"{graded} of {students} were graded:\n{(folder / 'log.txt').read_text('utf-8')[-2000:]}"
        )


def run(command: Sequence[str], folder: Path, seconds: float = MOST_SECONDS) -> None:
    """Another program, to its end; one that hangs is stopped, with all that it started.

    Raises:
        RuntimeError: it failed, or took longer than `seconds`; with what it said.
    """
    said = folder / "said.txt"
    with tools_on_path(), said.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        try:
            failed = "failed" if process.wait(seconds) else ""
        except subprocess.TimeoutExpired:
            failed = f"took more than {seconds:g} s, and was stopped"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if failed:
        raise RuntimeError(f"{' '.join(command)} {failed}:\n{said.read_text('utf-8')[-2000:]}")
