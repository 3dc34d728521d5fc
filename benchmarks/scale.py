"""From ten submissions to a thousand: the cost of each, the coordinator's memory, a rerun, and Dask beside --jobs.

    python -m benchmarks.scale [--small 10] [--large 1000] [--jobs 2] [--dask 30] [1-attention …]

So many submissions of each lesson, four in ten with a mistake. The cost of a submission is taken from the moment when the workers are warm: a few
more are graded in front, and the clock starts when they are done. The rerun counts from start to end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import publish
from benchmarks.classes import check_all_graded, grader, make_course, mixed
from grader.course import lessons

LOOK = 0.02  # seconds between two looks at how far it is


@dataclass(frozen=True)
class Run:
    """What one run took."""

    each: float  # seconds a submission, once the workers are warm
    seconds: float  # from start to end
    peak: int  # bytes that the coordinator held at most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    parser.add_argument("--small", type=int, default=10)
    parser.add_argument("--large", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dask", type=int, default=30, help="submissions for the comparison with Dask; 0: none")
    options = parser.parse_args()
    for prepare in (one for name in options.assignments for one in lessons()[name].prepare):
        prepare()  # once a machine, whatever the class
    with tempfile.TemporaryDirectory() as folder:
        figures, rows = compare(Path(folder), options)
    publish("scale", figures, rows)


def compare(place: Path, options: argparse.Namespace) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Grade the classes, and return the figures and the rows of the table."""
    warm = 2 * options.jobs
    local = ("--jobs", str(options.jobs))

    def course(name: str, count: int) -> Path:
        """Make a class: so many of each lesson, and a few in front."""
        classes = {
            one: mixed(one, count + (warm if one == options.assignments[0] else 0)) for one in options.assignments
        }
        return make_course(place / name, classes)

    lessons_each = len(options.assignments)
    few, many = options.small * lessons_each, options.large * lessons_each
    small = measure(course("small", options.small), few, warm, *local)
    large_course = course("large", options.large)
    large = measure(large_course, many, warm, *local)
    again = measure(large_course, many, warm, *local)
    rows = [
        {"what": f"{few} submissions", **show(small)},
        {"what": f"{many} submissions", **show(large)},
        {"what": "the same again, unchanged", **show(again)},
    ]
    figures: dict[str, object] = {
        "lessons": lessons_each,
        "cost_1000_over_10": large.each / small.each,
        "memory_1000_over_10": large.peak / small.peak,
        "unchanged_1000_s": again.seconds,
        "seconds_each": large.each,
        "jobs": options.jobs,
        "small": few,
        "large": many,
    }
    if options.dask:
        count = options.dask * lessons_each
        beside = measure(course("jobs", options.dask), count, warm, *local)
        with cluster(place / "cluster", options.jobs) as address:
            dask = measure(course("dask", options.dask), count, warm, "--scheduler", address)
        figures["dask_over_jobs"] = beside.each / dask.each
        rows += [{"what": f"{count} with --jobs", **show(beside)}, {"what": f"{count} with --scheduler", **show(dask)}]
    return figures, rows


def show(run: Run) -> dict[str, float]:
    return {"seconds each": run.each, "seconds": run.seconds, "coordinator, MB": run.peak / 2**20}


def measure(course: Path, count: int, warm: int, *arguments: str) -> Run:
    """Grade a class of warm + count.

    Raises:
        RuntimeError: not all were graded.
    """
    lines = course / "grades.jsonl"
    lines.unlink(missing_ok=True)
    started = time.perf_counter()
    process = grader(course, *arguments)
    warmed, done, peak, looked = None, started, 0, 0
    with lines_of(lines) as count_lines:
        while process.poll() is None:
            now, graded = time.perf_counter(), count_lines()
            if graded > looked:
                looked, done = graded, now
                if warmed is None and graded >= warm:
                    warmed = (now, graded)
                peak = max(peak, _peak(process.pid))
            time.sleep(LOOK)
    seconds = time.perf_counter() - started
    check_all_graded(course, warm + count)
    since, already = warmed or (started, 0)
    # Of a rerun all is known at once: there is nothing between the first and the last to be seen.
    each = (done - since) / max(warm + count - already, 1)
    return Run(each, seconds, peak)


@contextmanager
def lines_of(path: Path) -> Iterator:
    """How many lines a growing file has by now; only what is new is read."""
    file, count = None, 0

    def look() -> int:
        nonlocal file, count
        if file is None and path.is_file():
            file = path.open("rb")
        if file is not None:
            count += file.read().count(b"\n")
        return count

    try:
        yield look
    finally:
        if file is not None:
            file.close()


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """A Dask scheduler and so many workers of one thread, started as the command line does it; its address."""
    from distributed import Client

    folder.mkdir()
    file = str(folder / "scheduler.json")
    program = [sys.executable, "-m", "dask"]
    commands = (
        ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file],
        ["worker", "--scheduler-file", file, "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"],
    )
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    started = []
    try:
        for command in commands:
            started.append(subprocess.Popen([*program, *command], **quiet))
            while not os.path.exists(file):
                time.sleep(0.1)
        with Client(scheduler_file=file, timeout=120, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
            address = client.scheduler.address
        yield address
    finally:
        for process in reversed(started):
            family = psutil.Process(process.pid).children(recursive=True)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for child in family:
                if child.is_running():
                    child.kill()


if __name__ == "__main__":
    main()
