"""Killed at any moment, out of disk, or with a gradebook that is held: a rerun goes on, and ends as if nothing had been.

The runs are forks of a process that has everything imported, so that a kill hits grading and not imports.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME = "1-attention"
QUICK = 60  # submissions that are read and recorded at once, but for two in their midst that are run
SLOW = ("s020", "s040")

FORK = get_context("forkserver")
FORK.set_forkserver_preload(["grader.commands.grade", "grader.report.page"])


def course(folder: Path) -> Path:
    """A course with a class of its own."""
    (folder / "solutions").mkdir(parents=True)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    short = json.loads((ROOT / "notebooks" / NAME / f"{NAME}.ipynb").read_text("utf-8"))
    # Without the given cells a notebook runs in a moment: what is killed is the same.
    first = [one for one in short["cells"] if "parameters" in one["metadata"].get("tags", ())]
    short["cells"] = first + [one for one in short["cells"] if one["metadata"].get("nbgrader")][:2]
    (folder / "notebooks" / NAME / f"{NAME}.ipynb").write_text(json.dumps(short), "utf-8")
    for number in range(QUICK):
        student = f"s{number:03}"
        place = folder / "submitted" / student / NAME
        place.mkdir(parents=True)
        source = f"# @exercise 1.1\ndef attention_scores(query, key):\n    return query @ key.T + {number}"
        book = {"nbformat": 4, "cells": [{"cell_type": "code", "source": source, "metadata": {}}]}
        text = json.dumps(book) if student in SLOW else '{"cells": ['
        (place / f"{NAME}.ipynb").write_text(text, "utf-8")
    return folder


def grade(folder: Path, jobs: int = 1, before: Callable[[], None] | None = None, head_start: bool = False) -> None:
    """What a fork does: `grader grade`, with what it says in a file."""
    from rich.console import Console

    from grader.commands.console import Terminal
    from grader.commands.grade import run
    from grader.commands.options import GradeOptions
    from grader.complaint import Complaint
    from grader.sandbox.process import ServerProcess
    from grader.sandbox.tiers import resolve_tier

    os.environ["GRADER_SECRET"] = "test"
    if before is not None:
        before()
    with open(folder / "said.txt", "a", encoding="utf-8") as said:
        console = Console(file=said, width=200)
        paths = [folder / "submitted"]
        options = GradeOptions(paths=paths, root=folder, assignment=NAME, device="cpu", jobs=jobs)
        server = ServerProcess(resolve_tier("auto"), wait=False) if head_start else None
        terminal = Terminal(out=console, err=console)
        try:
            code = run(options, terminal, server)
        except Complaint as error:  # as the command line ends
            terminal.complain(error)
            code = 2
    os._exit(10 + code)


def start(folder: Path, **options: object):
    process = FORK.Process(target=grade, args=(folder,), kwargs=options)
    process.start()
    return process


def finish(folder: Path, **options: object) -> tuple[int, str]:
    """Run to the end: the exit status, and what was said."""
    (folder / "said.txt").unlink(missing_ok=True)
    process = start(folder, **options)
    process.join(300)
    assert process.exitcode is not None, "it hangs"
    return process.exitcode - 10, (folder / "said.txt").read_text("utf-8")


def gradebook(folder: Path) -> list[tuple]:
    """All that the gradebook says, without the ids of its rows."""
    with closing(sqlite3.connect(folder / "gradebook.db")) as base, base:
        rows = base.execute(
            "select a.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade, n.late_submission_penalty "
            "from grade g join submitted_notebook n on n.id = g.notebook_id "
            "join submitted_assignment a on a.id = n.assignment_id join base_cell c on c.id = g.cell_id"
        ).fetchall()
        rows += base.execute(
            "select a.student_id, c.name, o.auto_comment from comment o "
            "join submitted_notebook n on n.id = o.notebook_id "
            "join submitted_assignment a on a.id = n.assignment_id join base_cell c on c.id = o.cell_id"
        ).fetchall()
        rows += base.execute("select student_id, timestamp from submitted_assignment").fetchall()
        rows += base.execute("select id from student").fetchall()
    base.close()
    return sorted(rows, key=repr)


def workers_of(process) -> list[psutil.Process]:
    """The workers of a run: forks of it, or of a process that it started for that."""
    run = psutil.Process(process.pid)
    workers = []
    for child in run.children():
        with suppress(psutil.NoSuchProcess):  # some are over in a moment
            command = child.cmdline()
            if command == run.cmdline():
                workers.append(child)
            elif "forkserver" in " ".join(command):
                workers += child.children()
    return workers


def sandboxes() -> set[int]:
    """Processes of fork servers and their children, of anybody on this machine."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        if any("guest/" in part for part in process.info["cmdline"] or ()):
            found.add(process.pid)
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tuple], float]:
    """The gradebook of a run that nothing disturbs, and how long that takes."""
    folder = course(tmp_path_factory.mktemp("undisturbed"))
    started = time.monotonic()
    code, said = finish(folder)
    assert code == 1, said  # most cannot be read, and each is named
    assert "2 graded" in said
    return gradebook(folder), time.monotonic() - started


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_gradebook.py::test_a_locked_gradebook_is_tried_again_and_then_named"
)
def test_two_runs_at_one_gradebook_record_what_one_records(undisturbed, tmp_path: Path) -> None:
    folder = course(tmp_path / "two")
    runs = [start(folder) for _ in range(2)]
    for run in runs:
        run.join(300)
    assert [run.exitcode for run in runs] == [11, 11], (folder / "said.txt").read_text("utf-8")
    assert gradebook(folder) == undisturbed[0]


@pytest.mark.fast_cases("2")
@pytest.mark.parametrize("kills", [2, 20])
def test_killed_at_random_moments_and_run_again_the_gradebook_is_the_same(
    kills: int, tmp_path: Path, undisturbed: tuple[list[tuple], float]
) -> None:
    expected, takes = undisturbed
    folder, seed = course(tmp_path / "killed"), time.time_ns()
    chance = random.Random(seed)
    for kill in range(kills):
        if kill % 5 == 0 and kill:  # most of a course survives a kill; now and then it begins again
            shutil.rmtree(folder)
            course(folder)
        process = start(folder)
        process.join(chance.uniform(0, takes))
        process.kill()
        process.join()
    code, said = finish(folder)
    assert code == 1, said
    assert gradebook(folder) == expected, f"seed {seed}"
    for student in ("s000", SLOW[0], SLOW[1]):
        assert (folder / "autograded" / student / NAME / f"{NAME}.ipynb").is_file()
        assert (folder / "feedback" / student / NAME / f"{NAME}.html").is_file()


def test_no_sandbox_outlives_a_killed_grader(tmp_path: Path) -> None:
    folder = course(tmp_path / "course")
    endless = "# @exercise 1.1\nwhile True: pass\ndef attention_scores(query, key): pass"
    book = {"nbformat": 4, "cells": [{"cell_type": "code", "source": endless, "metadata": {}}]}
    for student in SLOW:
        (folder / "submitted" / student / NAME / f"{NAME}.ipynb").write_text(json.dumps(book), "utf-8")
    command = [sys.executable, "-m", "grader", "grade", "submitted", "--assignment", NAME, "--jobs", "2"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "GRADER_COURSE": str(folder), "GRADER_SECRET": "test"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    family: set[int] = set()
    deadline = time.monotonic() + 240
    # A fork server, of two processes, and two submissions, of two or more.
    while len(family & sandboxes()) < 6:
        assert time.monotonic() < deadline
        assert process.poll() is None
        family |= {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
        time.sleep(0.2)
    family |= {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60
    while left := [pid for pid in family if psutil.pid_exists(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


@pytest.mark.slow(held_by="tests/classes/results/test_writer.py::test_a_worker_that_dies_costs_only_time")
@pytest.mark.parametrize("head_start", [True, False])
def test_a_worker_process_that_is_killed_costs_nothing_but_time(
    head_start: bool, tmp_path: Path, undisturbed: tuple[list[tuple], float]
) -> None:
    folder = course(tmp_path / "course")
    process = start(folder, jobs=2, head_start=head_start)
    deadline = time.monotonic() + 240
    while True:
        workers = workers_of(process)
        if len(workers) == 2:
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    workers[0].kill()
    process.join(300)
    assert process.exitcode == 11, (folder / "said.txt").read_text("utf-8")
    assert gradebook(folder) == undisturbed[0]


def small_files() -> None:
    """As on a disk that is full: no file can grow beyond 150 kB, and a gradebook is larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def hurry() -> None:
    from grader.classes.gradebook import connection

    connection.PAUSE, connection.LOCK_SECONDS = 0.01, 0


@pytest.mark.slow(held_by="tests/classes/gradebook/test_gradebook.py::test_a_full_disk_is_named")
def test_a_full_disk_is_named_and_a_rerun_completes_the_class(
    tmp_path: Path, undisturbed: tuple[list[tuple], float]
) -> None:
    folder = course(tmp_path / "course")
    code, said = finish(folder, before=small_files)
    assert (code, "Traceback" in said) == (2, False), said  # nothing was graded
    assert said.splitlines()[-1].startswith("grader: "), said
    assert "gradebook.db" in said
    finish(folder)
    assert gradebook(folder) == undisturbed[0]


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_gradebook.py::test_a_locked_gradebook_is_tried_again_and_then_named"
)
def test_a_gradebook_that_somebody_holds_is_named_and_a_rerun_completes_the_class(
    tmp_path: Path, undisturbed: tuple[list[tuple], float]
) -> None:
    folder = course(tmp_path / "course")
    process = start(folder)
    process.join(undisturbed[1] / 4)
    process.kill()
    process.join()
    holder = sqlite3.connect(folder / "gradebook.db", isolation_level=None)
    holder.execute("begin exclusive")
    code, said = finish(folder, before=hurry)
    holder.close()
    assert (code, "Traceback" in said) == (2, False), said  # nothing was graded
    assert "locked" in said
    finish(folder)
    assert gradebook(folder) == undisturbed[0]
