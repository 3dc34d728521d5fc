"""What a submission costs: core-seconds a head, of right submissions and of a class with mistakes, for each lesson.

    python -m benchmarks.heads [--students 30] [1-attention …]

Right submissions are the solution with other right answers from the tests put in; in the class, four in ten have one wrong answer
of the corpus besides. Counted is the CPU time of the command and all that it starts, from the moment when the first two are graded.
Needs a control group that counts CPU time: run it as root.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import publish
from benchmarks.classes import MOST_SECONDS, check_all_graded, grader, make_course, mixed, right
from grader.course import lessons

WARM = 2  # submissions that are graded before the clock starts


@contextmanager
def counted() -> Iterator[Path]:
    """Make a control group for CPU time, and yield the file that tells it.

    Raises:
        SystemExit: this machine has none that can be made.
    """
    for hierarchy, file in (("cpuacct", "cpuacct.usage"), ("", "cpu.stat")):
        group = Path("/sys/fs/cgroup", hierarchy, f"benchmark-heads-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / file).is_file():
                yield group / file
                return
        finally:
            group.rmdir()
    raise SystemExit("no control group that counts CPU time can be made here: run this as root")


def seconds(usage: Path) -> float:
    """Read the CPU seconds of a group."""
    text = usage.read_text()
    return int(text) / 1e9 if text.strip().isdigit() else int(text.split()[1]) / 1e6


def measure(course: Path, assignment: str) -> float:
    """Grade a class, and return the core-seconds a head.

    Raises:
        RuntimeError: not all were graded.
    """
    lines = course / "grades.jsonl"
    count = len(list((course / "submitted").iterdir()))
    with counted() as usage:
        join = ["sh", "-c", f'echo $$ > {usage.parent}/cgroup.procs; exec "$@"', "sh"]
        process = grader(course, "--jobs", "1", before=join)
        stop = time.monotonic() + MOST_SECONDS
        began = done = 0.0
        graded = first = 0
        while process.poll() is None:
            now = lines.read_bytes().count(b"\n") if lines.is_file() else 0
            if now > graded:
                graded, done = now, seconds(usage)
                if graded >= WARM and not began:
                    first, began = graded, done
            if time.monotonic() > stop:
                process.kill()
            time.sleep(0.02)
    check_all_graded(course, count)
    grades = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    print(f"  {assignment}: mean score {sum(one['score'] for one in grades) / count:.1f}", flush=True)
    return (done - began) / (count - first)


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignments", nargs="*", default=list(lessons()))
    parser.add_argument("--students", type=int, default=30)
    chosen = parser.parse_args()
    figures: dict[str, object] = {"students": chosen.students}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for assignment in chosen.assignments:
            row: dict[str, object] = {"lesson": assignment}
            for kind, students in (("right", right), ("class", mixed)):
                made = {assignment: students(assignment, chosen.students + WARM)}
                course = make_course(Path(folder) / assignment / kind, made)
                row[kind] = measure(course, assignment)
                figures[f"{assignment}_{kind}_core_s"] = round(float(row[kind]), 3)
            rows.append(row)
    load = os.getloadavg()[0]
    publish("heads", {**figures, "load_at_the_end": round(load, 1)}, rows)


if __name__ == "__main__":
    main()
