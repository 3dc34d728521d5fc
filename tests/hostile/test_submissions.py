"""The hostile corpus, end to end: nobody gains, nothing stops, nothing is read from outside, nothing is left behind."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import neighbours
import pytest
import torch
from borrowed import FIND, GIVEN_CELLS, REACHES_INSIDE, borrowed
from submissions import ASSIGNMENT, CORPUS, DESERVED, LOST, Hostile, code, content, place

from grader.course import lessons
from grader.declare.builtin_names import operators
from grader.grading import grade as grading
from grader.grading import judge_run
from grader.records import GIVEN, Grade, GradingSettings, Limits, Request
from grader.sandbox.server import Server
from grader.sandbox.tiers import tier_problem
from grader.submission.file import Unreadable
from grader.submission.intake import find

ROOT = Path(__file__).parents[2]


def _own_cells(bundle: str):
    """An edit of a notebook: the bundle's cells come after 1.1."""

    def edit(notebook: dict) -> dict:
        own = [code(source, f"own-{n}") for n, source in enumerate(neighbours.cells(bundle))]
        at = next(n for n, cell in enumerate(notebook["cells"]) if "# @exercise 1.1\n" in "".join(cell["source"]))
        return {**notebook, "cells": [*notebook["cells"][: at + 1], *own, *notebook["cells"][at + 1 :]]}

    return edit


CORPUS += [Hostile(name=name, group=neighbours.GROUP, edit=_own_cells(name)) for name in neighbours.BUNDLES]
TIER = os.environ.get("HOSTILE_TIER", "full")  # everywhere.py sets it
SECRET = "the-planted-secret-e7aa"
# The course's limits, smaller: the same walls, reached sooner.
LIMITS = Limits(memory_bytes=1200 << 20, processes=80, scratch_bytes=100 << 20, scratch_files=3000, cell_seconds=3)


# In the fast half: of each group what is quickly graded.
FEW = (
    "resource-segfault", "resource-raw flood", "resource-loop in the cell of 1.1",
    "secrets-the repository", "secrets-environment", "interpreter-comparison patched", "interpreter-forged frames",
    "format-points edited", "format-cut off", "paths-a symlink to a notebook", "paths-a FIFO",
    "archives-members that climb out", "archives-a bomb", "tensors-pickles", "cheating-zeros",
    "cheating-the built-in through an alias", "neighbours-objects of the kernel",
)  # fmt: skip
BORROWED_FEW = (
    "a function: torch's masked softmax-", "from within: frames-", "from a cell: its module-",
    "an operator: an operator of its own-", "a helper: a fork behind a pipe-",
    "given code, changed: another compiler-", "given code, used: with other globals-",
)  # fmt: skip
BORROWED = [
    # What changes the lesson's code stands above it.
    (
        Hostile(
            name=name, group="borrowed", answers={"1.3": answer}, **{"first" if "changed" in name else "middle": cell}
        ),
        works,
    )
    for name, cell, answer, works in borrowed()
]


@pytest.fixture(scope="module")
def master() -> dict:
    return json.loads((ROOT / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8"))


@pytest.fixture(scope="module", autouse=True)
def tight():
    """The lesson under small limits and with fewer trials of each check: it is the walls that are tested here."""
    lesson = lessons()[ASSIGNMENT]
    exercises = tuple(
        replace(one, checks=tuple(replace(c, seconds=3.0, trials=c.trials[:2], examples=()) for c in one.checks))
        for one in lesson.exercises
    )
    return replace(lesson, limits=LIMITS, exercises=exercises, cell_seconds={})


@pytest.fixture(autouse=True)
def time_of_its_own(request, tight, monkeypatch):
    """The whole submission's time is the hostile one's own, because few use it up."""
    hostile = request.node.callspec.params.get("hostile") if hasattr(request.node, "callspec") else None
    limits = replace(LIMITS, seconds=hostile.seconds if hostile else Hostile.seconds)
    monkeypatch.setattr(grading, "lessons", lambda: {ASSIGNMENT: replace(tight, limits=limits)})


@pytest.fixture(scope="module")
def server():
    if reason := tier_problem(TIER):
        pytest.skip(f"tier {TIER} is not to be had here: {reason}")
    with Server(isolation=TIER) as server:
        yield server


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A secret in a file, in the environment, behind a port and a socket, and a gradebook."""
    folder = tmp_path_factory.mktemp("planted")
    folder.chmod(0o777)
    (folder / "secret").write_text(SECRET)
    with closing(sqlite3.connect(folder / "gradebook.db")) as book:
        book.execute("create table grade (auto_score real)")
        book.execute("insert into grade values (17)")
        book.commit()
    (folder / "gradebook.db").chmod(0o666)
    called: list[str] = []
    listeners = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)]
    listeners[1].bind(str(folder / "socket"))
    for listener in listeners:
        listener.listen()
        threading.Thread(target=_answer, args=(listener, called), daemon=True).start()
    os.environ["PLANTED_SECRET"] = SECRET
    yield folder, called
    del os.environ["PLANTED_SECRET"]
    for listener in listeners:
        listener.close()


def _answer(listener: socket.socket, called: list[str]) -> None:
    while True:
        try:
            with listener.accept()[0] as caller:
                called.append("called")
                caller.sendall(SECRET.encode())
        except OSError:
            return


def grade_all(path: Path, server: Server) -> list[grading.Graded]:
    return [
        grading.grade(
            file,
            server=server,
            settings=GradingSettings(secret="a course secret", device="cpu", tier=server.isolation),
            released=grading.master_notebook(ROOT, file.assignment) if file.assignment in lessons() else None,
        )
        for file in find(path, tuple(lessons()))
    ]


def test_the_corpus_covers_every_group():
    groups = Counter(one.group for one in CORPUS)
    assert set(groups) == {
        "resource", "secrets", "interpreter", "format", "paths", "archives", "tensors", "cheating", "neighbours",
    }  # fmt: skip
    assert {name.partition("-")[0] for name in FEW} == set(groups)
    ways = {one.name.partition(":")[0] for one, _ in BORROWED}
    assert {name.partition(":")[0] for name in BORROWED_FEW} == ways
    assert len(CORPUS) >= 60
    assert sum(map(len, neighbours.BUNDLES.values())) >= 40
    assert len({(one.group, one.name) for one in CORPUS}) == len(CORPUS)


@pytest.mark.fast_cases(*FEW)
@pytest.mark.parametrize("hostile", CORPUS, ids=lambda one: f"{one.group}-{one.name}")
def test_no_submission_gets_more_or_less_than_it_earned(
    hostile: Hostile, server, master, tmp_path, planted, monkeypatch
):
    folder, called = planted
    path = place(hostile, master, tmp_path)
    if hostile.status == "refused":
        with pytest.raises(Unreadable):
            grade_all(path, server)
        assert not Path("/tmp/hostile-was-here").exists()
        return
    if hostile.group != "cheating":  # each of its rounds runs the notebook again, and has tests of its own
        monkeypatch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    (graded,) = grade_all(path, server)
    grade: Grade = graded.grade
    assert grade.status == hostile.status, grade.message
    assert (grade.score is None) == (hostile.status == "fault")
    least = LOST.get(hostile.name, hostile.points)
    assert least <= (grade.score or 0.0) <= hostile.points, [
        (one.id, one.points, one.message) for one in grade.verdicts
    ]
    if graded.notebook:
        shown = json.dumps([cell.get("outputs") for cell in graded.notebook.cells])
        assert neighbours.OPEN not in shown, [line for line in shown.split("\\n") if neighbours.OPEN in line]
    everything = f"{grade} {graded.notebook}"
    assert SECRET not in everything
    for dangerous in (
        "<script",
        "text/html",
        "image/svg",
        "application/javascript",
        "text/markdown",
        "text/latex",
        "\x1b[2J",
    ):
        shown = json.dumps([cell.get("outputs") for cell in graded.notebook.cells]) if graded.notebook else ""
        assert dangerous not in shown or dangerous == "<script"
    assert len(everything) < 20 << 20
    assert not called
    with closing(sqlite3.connect(folder / "gradebook.db")) as book:
        assert book.execute("select auto_score from grade").fetchall() == [(17.0,)]


@pytest.mark.fast_cases(*BORROWED_FEW)
@pytest.mark.parametrize(("hostile", "works"), BORROWED, ids=lambda each: getattr(each, "name", ""))
def test_a_borrowed_softmax_earns_nothing_or_is_flagged(
    hostile: Hostile, works: bool, server, master, tmp_path, monkeypatch
):
    monkeypatch.setattr(grading._Grading, "_judge_again", lambda *_: {})
    monkeypatch.setattr(judge_run, "in_sandbox", lambda *_: None)  # they find nothing here, slowly
    (graded,) = grade_all(place(hostile, master, tmp_path), server)
    flags = {flag.kind for flag in graded.grade.flags}
    assert graded.grade.score in ((DESERVED, DESERVED + 10.0) if works else (DESERVED,)), flags
    assert REACHES_INSIDE in flags or not works


LESSON = f"""import math
import random
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
{FIND}
def given(scores, dim): return torch.softmax(scores, dim)
print("ready")"""


@pytest.mark.fast_cases("a transformer of lines", "another compiler")
@pytest.mark.parametrize("name", GIVEN_CELLS)
def test_what_is_put_into_a_given_cell_does_not_count_as_given(name: str, server):
    python = server.spawn(LIMITS, seed=0)
    try:
        python.run_cell(GIVEN_CELLS[name], seconds=5)
        python.run_cell(LESSON, seconds=5, origin=GIVEN, cell="start")
        for function, cell in ("given", "start"), ("hidden", ""):
            source = f"def probe({function}, s): return {{'weights': {function}(s, -1)}}"
            asked = Request(key="1.3/values", source=source, function="probe", trials={"0": {"s": torch.ones(2, 3)}},
                            seconds=5, watched=operators({"softmax"}))  # fmt: skip
            evidence = python.call(asked)["0"]
            assert evidence.trips == (("aten::_softmax", cell),), evidence
    finally:
        python.kill()


def test_nothing_is_left_behind_and_the_next_student_is_graded_as_ever(server, master, tmp_path):
    """Runs after the corpus, on the same server."""
    (graded,) = grade_all(place(Hostile(name="honest", group="none"), master, tmp_path), server)
    assert (graded.grade.status, graded.grade.score) == ("graded", DESERVED)
    assert not _processes_with("31415926")
    left = _sandboxes(server)
    assert not left, left


MEASURE = """
import sys
from pathlib import Path
from grader.grading import grade as grading
from grader.course import lessons
from grader.sandbox.server import Server
from grader.records import GradingSettings
from grader.submission.intake import find
with Server() as server:
    settings = GradingSettings(secret="x", device="cpu", tier=server.isolation)
    for file in find(Path(sys.argv[1]), tuple(lessons())):
        released = grading.master_notebook(Path(sys.argv[2]), file.assignment)
        grade = grading.grade(file, server=server, settings=settings, released=released).grade
        assert grade.status in ("graded", "unreadable"), grade.message
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.slow(held_by="tests/sandbox/test_limits.py::test_the_grader_itself_stays_small")
def test_the_grader_stays_under_500_megabytes(master, tmp_path):
    """What would fill its memory, if anything did: floods, a file just small enough to be read, large answers."""
    large = "def attention(query, key, value):\n    return torch.ones(3 << 20), torch.ones(1 << 10)"
    greedy = [
        *(one for one in CORPUS if one.name in ("raw flood", "print flood", "display flood", "2^38 expanded")),
        Hostile(name="answers", group="none", answers={"1.4": large}),
        Hostile(name="file", group="none",
                write=lambda text: text.replace('"outputs": []', '"outputs": ["' + "x" * (46 << 20) + '"]', 1).encode()),
    ]  # fmt: skip
    for index, one in enumerate(greedy):
        file = tmp_path / "submitted" / f"student{index}" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_bytes(content(one, master))
    limited = MEASURE.replace("with Server", "import dataclasses\nfrom grader.records import Limits\n"
        "small = {name: dataclasses.replace(lesson, limits=Limits(seconds=20, cell_seconds=2)) for name, lesson in lessons().items()}\n"
        "grading.lessons = lambda: small\nwith Server", 1)  # fmt: skip
    command = [sys.executable, "-c", limited, str(tmp_path / "submitted"), str(ROOT)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    peak = int(done.stdout.split()[-1]) >> 10
    assert peak < 500, f"{peak} MB"


def _processes_with(text: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                if text in file.read():
                    found.append(pid)
        except OSError:
            continue
    return found


def _sandboxes(server: Server) -> list[int]:
    """Descendants of the fork server but the server itself."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                parents[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    inside = [pid for pid, parent in parents.items() if parent == server.pid]
    return [pid for pid, parent in parents.items() if parent in inside]
