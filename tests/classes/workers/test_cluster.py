"""Two real Dask workers: the same grades as --jobs 1, whatever dies on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import Client
from rich.console import Console
from safetensors.torch import load, save

from grader.classes.workers import cluster as cluster_module
from grader.classes.workers import job, worker
from grader.classes.workers.cluster import LONGEST_JOB, LONGEST_WITHOUT, NoCluster, _Cluster, cluster_workers
from grader.classes.workers.grade_class import grade_class
from grader.classes.workers.job import Course, Job, JobMaker, UnfitWorker, WorkersLost, parsed
from grader.classes.workers.local import local_workers
from grader.commands.console import Terminal
from grader.commands.grade import run
from grader.commands.options import GradeOptions
from grader.course.lesson_1.verified_pointer import POINTER_TRAINING
from grader.course.trainings.recorded import read_kept
from grader.grading.graded import Graded
from grader.records import GradingSettings
from grader.report.jsonl import to_record
from grader.submission.file import SubmissionFile
from grader.submission.intake import find
from tests.classes.gradebook.warm_server import warm_server

ROOT = Path(__file__).resolve().parents[3]
NAMES = ("untouched", "no-scaling", "truncated")
SETTINGS = GradingSettings(secret="test", device="cpu", tier="full")
COURSE = Course(root=ROOT, settings=SETTINGS)


def submissions() -> list[SubmissionFile]:
    found = find(ROOT / "examples" / "submitted", ("1-attention",), "1-attention")
    return [one for one in found if one.student in NAMES]


def nothing(file: SubmissionFile, key: str) -> None:
    """No grade is known."""


def comparable(done: tuple[Job, Graded]) -> tuple[str, dict]:
    job, graded = done
    record = to_record(graded.grade)
    for times in (record, *(check for one in record["exercises"] for check in one["checks"])):
        del times["seconds"]
    for one in record["exercises"]:
        for check in (one["other"] or {}).get("checks", ()):
            del check["seconds"]
    return job.file.student, record


class Cluster:
    """A scheduler and two workers, as the command line starts them."""

    def __init__(self, folder: Path) -> None:
        self.address = ""
        self.folder = folder
        file = folder / "scheduler.json"
        command = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = self._start(*command, "--scheduler-file", str(file))
        _wait_for(file.is_file)
        arguments = ["--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
        self.workers = self._start("worker", "--scheduler-file", str(file), *arguments)
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            self.address = client.scheduler.address

    def _start(self, *arguments: str) -> subprocess.Popen:
        # The worker finds no course and no trainings here: what it needs comes with the job, or when it joins.
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.folder,
            env={**os.environ, "GRADER_TRAININGS": str(self.folder / "trainings")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def pids(self) -> list[int]:
        with Client(self.address, timeout=30, set_as_default=False) as client:
            return list(client.run(os.getpid).values())

    def stop(self) -> None:
        for process in (self.workers, self.scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def _wait_for(what) -> None:
    deadline = time.monotonic() + 120
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("dask"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def expected() -> dict[str, dict]:
    """What a process of this machine says; others hold that two say the same."""
    with local_workers(1, SETTINGS.tier, SETTINGS.device, worker.run) as workers, warm_server():
        return dict(comparable(done) for done in grade_class(submissions(), COURSE, workers, nothing))


def test_two_workers_give_the_grades_of_one_process(cluster: Cluster, expected: dict[str, dict]) -> None:
    assert set(expected) == set(NAMES)
    assert expected["no-scaling"]["status"] == "graded"
    with cluster_workers(cluster.address, "auto", worker.run, read_kept()) as workers:
        assert workers.device == "cpu"  # no worker offers the resource GPU
        assert "2 workers" in workers.note
        got = dict(comparable(done) for done in grade_class(submissions(), COURSE, workers, nothing))
    assert got == expected


@pytest.mark.slow(held_by="tests/classes/workers/test_cluster.py::test_two_workers_give_the_grades_of_one_process")
def test_every_worker_keeps_the_trainings_of_the_coordinator(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    POINTER_TRAINING.states()
    name, right = next((name, file) for name, file in read_kept().items() if name.startswith("1-attention-"))
    other = save({key: tensor + 1 for key, tensor in load(right).items()})  # as if it had come out otherwise
    for kept in (cluster.folder / "trainings").glob("*"):
        kept.unlink()
    with cluster_workers(cluster.address, "cpu", worker.run, {name: other, "1-attention-old.safetensors": b"old"}):
        assert [path.name for path in (cluster.folder / "trainings").glob("*.safetensors")] == [name]
        assert (cluster.folder / "trainings" / name).read_bytes() == other
        (cluster.folder / "trainings" / name).unlink()
        os.kill(cluster.pids()[0], signal.SIGKILL)  # the one that takes its place gets them, too
        _wait_for((cluster.folder / "trainings" / name).is_file)
    (cluster.folder / "trainings" / name).unlink()


@pytest.mark.slow(held_by="tests/classes/results/test_writer.py::test_a_worker_that_dies_costs_only_time")
def test_a_worker_that_is_killed_costs_nothing_but_time(cluster: Cluster, expected: dict[str, dict]) -> None:
    victim = cluster.pids()[0]
    found = [one for one in submissions() if one.student != "no-scaling"]  # they are quick
    twins = [replace(one, student=f"{one.student}-{n}") for n in range(2) for one in found]
    with cluster_workers(cluster.address, "cpu", worker.run) as workers:
        running = grade_class(twins, COURSE, workers, nothing)
        got = [next(running)]
        os.kill(victim, signal.SIGKILL)
        got += running
    assert victim not in cluster.pids()  # the nanny started another
    assert sorted(student for student, _ in map(comparable, got)) == sorted(one.student for one in twins)
    for student, record in map(comparable, got):
        assert {**record, "student": student[:-2]} == expected[student[:-2]]


def test_a_worker_with_another_grader_grades_nothing(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "code_digest", lambda released: "another")
    with cluster_workers(cluster.address, "cpu", worker.run) as workers:
        ((_, graded),) = grade_class(submissions()[:1], COURSE, workers, nothing)  # no-scaling
    assert (graded.grade.status, graded.grade.score) == ("fault", None)
    assert "another grader" in graded.grade.message


# What makes a worker unfit: a file in its folder, which is also its course and where its Python looks first, and what is said.
OTHER = {
    "a course that is none": ("notebooks/none", "", "DeclarationError"),
    "another Python": (
        "sitecustomize.py",
        "import platform\nplatform.python_version = lambda: '3.99.0'",
        "OtherVersion: .* has another grader, other lessons or other Python packages",
    ),
}


@pytest.mark.slow(held_by="tests/classes/workers/test_cluster.py::test_a_worker_with_another_grader_grades_nothing")
@pytest.mark.parametrize("other", OTHER)
def test_a_worker_that_cannot_grade_leaves_its_jobs_to_the_others(other: str, cluster: Cluster, tmp_path: Path) -> None:
    name, text, why = OTHER[other]
    (tmp_path / "lessons").mkdir()  # a course without the file that makes it one
    (tmp_path / "notebooks").mkdir()
    (tmp_path / name).write_text(text)
    course = {"GRADER_COURSE": str(tmp_path)} if other == "a course that is none" else {}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", cluster.address, "--nworkers", "1", "--no-dashboard"],
        cwd=tmp_path,
        env={**os.environ, **course, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    said: list[str] = []
    try:
        with Client(cluster.address, timeout=30, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=120)
        quick = [one for one in submissions() if one.student == "untouched"]
        twins = [replace(one, student=f"untouched-{n}") for n in range(4) for one in quick]
        with cluster_workers(cluster.address, "cpu", worker.run, read_kept(), said.append) as workers:
            got = dict(comparable(done) for done in grade_class(twins, COURSE, workers, nothing))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with Client(cluster.address, timeout=30, set_as_default=False) as client:
            _wait_for(lambda: len(client.scheduler_info()["workers"]) == 2)
    assert {record["status"] for record in got.values()} == {"graded"}, got
    assert len(said) == 1
    assert re.search(f"grades nothing here. {why}", said[0]), said


@pytest.mark.parametrize(
    ("workers", "longest", "why"), [(1, LONGEST_JOB, "no job ended"), (0, LONGEST_WITHOUT, "there was no worker")]
)
def test_a_run_says_what_it_waits_for_and_ends(workers: int, longest: float, why: str) -> None:
    said: list[str] = []
    client = SimpleNamespace(scheduler_info=lambda n_workers: {"workers": dict.fromkeys(range(workers))})
    patience = _Cluster(client, said.append)
    for seconds in range(15, 500, 15):
        patience.still_waiting(seconds)
    assert [line.partition(" for ")[2].partition(" s;")[0] for line in said] == ["60", "120", "240", "480"]
    with pytest.raises(WorkersLost, match=f"{why}.* are kept"):
        patience.still_waiting(longest + 1)


def test_a_gpu_job_asks_for_the_resource(cluster: Cluster) -> None:
    with cluster_workers(cluster.address, "cuda", worker.run) as workers:
        assert "--resources GPU=1" in workers.note
        future = workers.start().submit(abs, -1)
        time.sleep(1)
        assert not future.done()  # nobody here has one
        future.cancel()


def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    paths = [ROOT / "examples" / "submitted"]
    options = GradeOptions(paths=paths, root=tmp_path, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(NoCluster) as error:
        run(options, Terminal(out=Console(), err=Console(stderr=True)))
    said = str(error.value)
    assert "\n" not in said
    assert "tcp://127.0.0.1:9" in said
    assert "dask scheduler" in said


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(NoCluster, match=r"attention-course\[cluster\]"),
        cluster_workers("tcp://127.0.0.1:9", "cpu", worker.run),
    ):
        pass


@pytest.mark.slow(held_by="tests/classes/workers/test_cluster.py::test_a_scheduler_that_is_not_there_is_named")
def test_a_scheduler_that_is_lost_ends_the_run_and_keeps_what_was_graded(cluster: Cluster) -> None:
    """The last one: it takes the cluster with it."""
    found = [one for one in submissions() if one.student != "truncated"]
    with cluster_workers(cluster.address, "cpu", worker.run) as workers:
        running = grade_class(found, COURSE, workers, nothing)
        assert next(running)[1].grade.status == "graded"
        os.killpg(cluster.scheduler.pid, signal.SIGKILL)
        with pytest.raises(WorkersLost, match="are kept"):
            list(running)


def test_a_worker_refuses_a_job_of_another_version() -> None:
    made = parsed(JobMaker(COURSE)(submissions()[0]))
    with pytest.raises(UnfitWorker, match=r"Install the same.* set to a copy of it"):
        worker.run(replace(made, code="another"))
