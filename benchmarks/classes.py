"""Classes for the benchmarks, made of the right and wrong answers of the tests; and how they are graded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

from corpus.answers import answers
from corpus.tools import tools_on_path
from examples.make import Example, content
from grader.course import lessons
from grader.paths import course_root

MOST_SECONDS = 1800.0  # of another program; `otter run` was once seen to hang
WRONG = (2, 5, 7, 9)  # of each ten


def right(assignment: str, count: int) -> Iterator[dict[str, str]]:
    """Yield for each student the answers that are other than the solution's: five variants, all right."""
    ids = {exercise.id for exercise in lessons()[assignment].exercises}
    others = cycle((one.exercise, one.source) for one in answers("variants") if one.exercise in ids)
    for _ in range(count):
        yield dict(islice(others, 5))


def mixed(assignment: str, count: int) -> Iterator[dict[str, str]]:
    """Yield the same with a wrong answer for four in ten."""
    ids = {exercise.id for exercise in lessons()[assignment].exercises if exercise.points}
    corpus = [one for one in answers() if not one.right and one.exercise in ids]
    wrong = cycle(corpus[:: max(len(corpus) // count, 1)])
    for number, own in enumerate(right(assignment, count)):
        if number % 10 in WRONG:
            one = next(wrong)
            own |= {one.exercise: one.source}
        yield own


def make_course(folder: Path, classes: Mapping[str, Iterable[Mapping[str, str]]]) -> Path:
    """A course's folder with the notebooks, and classes in submitted/; no two submissions have the same content.

    Args:
        classes: by assignment, for each student the answers that are other than the solution's.
    """
    make_empty_course(folder)
    for assignment, students in classes.items():
        for number, own in enumerate(students):
            name = f"s{number:05}"
            own_cell = [("setup", f"# handed in by {name}")]
            example = Example(name, assignment, None, "", answers=dict(own), own=own_cell)
            submit(folder, name, assignment, content(example).decode())
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


def grader(folder: Path, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen:
    """`grader grade` of the class in the folder, started; on the CPU, unless the arguments say otherwise.

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
        raise RuntimeError(f"{graded} of {students} were graded:\n{(folder / 'log.txt').read_text('utf-8')[-2000:]}")


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
