"""Twelve honest submissions and thirteen hostile ones, graded side by side: what the honest ones notice.

    python -m benchmarks.hostile_class [--isolation full] [--rounds 3] [--jobs 2]

First the honest twelve alone, then the whole class, as often as asked. Every honest one must get the mark that it
deserves each time. Run it as root and as an ordinary user: control groups and users of their own are for root alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import publish
from benchmarks.classes import grader, make_empty_course, submit
from corpus.neighbours_script import BUFFERS, IN_FLIGHT, PRIORITIES, SPOIL, TERMINALS
from examples.make import Example, classes
from grader.paths import course_root
from grader.sandbox import cgroup
from grader.sandbox.reservations import FIRST_USER, USERS

LESSON = "1-attention"
# Right, wrong in one place, in another style. That of lesson 3 trains for a while.
HONEST = (
    *((LESSON, student) for student in (
        "full-marks", "other-style", "own-helper", "no-scaling", "mask-inverted", "keys-from-text",
        "softmax-over-queries", "colab-saved", "uses-the-builtin", "syntax-error")),
    ("2-heads", "wrong-head"),
    ("3-vlm", "full-marks"),
)  # fmt: skip
HOLD = "\nimport time\ntime.sleep(5)"
ALL_PIDS = "[int(name) for name in __import__('os').listdir('/proc') if name.isdigit()]"
# Each a cell of the student's own in a notebook with nothing else; most last a few seconds, so that a neighbour runs.
HOSTILE = {
    "descriptors in flight": IN_FLIGHT + HOLD,
    "all terminals": TERMINALS + HOLD,
    "queues and sockets that were inherited": SPOIL,
    "buffers of sockets": BUFFERS,
    "limits and priorities of others": PRIORITIES.format(pids=ALL_PIDS) + HOLD,
    "230 busy forks on all cores": """
import os, time
end = time.time() + 10
for _ in range(230):
    if os.fork() == 0:
        try: os.sched_setaffinity(0, range(os.cpu_count()))
        except OSError: pass
        while time.time() < end: pass
        os._exit(0)
while time.time() < end: pass
""",
    "fork bomb": "import os, time\nend = time.time() + 5\nwhile time.time() < end:\n    try: os.fork()\n    except OSError: pass",
    "memory of many": (
        "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        held = b'x' * (99 << 20); time.sleep(20); os._exit(0)\n"
        "time.sleep(5)"
    ),
    "scratch": "with open('big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
    "raw output": "import os, time\nend = time.time() + 5\nwhile time.time() < end: os.write(1, b'x' * 65536)",
    "daemons": (
        "import subprocess\nfor _ in range(20): subprocess.Popen(['setsid', 'sleep', '31415926'], stdout=subprocess.DEVNULL)"
        + HOLD
    ),
    "signals to all": (
        "import os, signal, time\nfor _ in range(50):\n    for name in os.listdir('/proc'):\n"
        "        try: os.kill(int(name), signal.SIGSTOP if int(name) != os.getpid() else 0)\n        except (OSError, ValueError): pass\n"
        "    time.sleep(0.1)"
    ),
    # What reads it outside the sandbox does most of its work for each name.
    "long to read": "a0 = []\n" + "\n".join(f"a{number + 1} = a{number}" for number in range(30_000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--isolation", default="full", choices=["full", "partial"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    examples = {(one.assignment, one.student): one for one in classes()}
    honest = {f"s{2 * n:02}": examples[which] for n, which in enumerate(HONEST)}
    with tempfile.TemporaryDirectory(prefix="hostile-class-") as folder:
        course = make_course(Path(folder), honest)
        alone, _ = graded(course, options.isolation, options.jobs)
        add_hostile(course)
        rounds = []
        for number in range(options.rounds):
            rounds.append(graded(course, options.isolation, options.jobs))
            marks = [rounds[-1][0].get(student, {}).get("score") for student in honest]
            print(f"round {number + 1}: {marks} {rounds[-1][1]}", file=sys.stderr, flush=True)
    rows = []
    for student, example in honest.items():
        lines = [told.get(student, {}) for told, _ in rounds]
        marks = [line.get("score", "none") for line in lines]
        seconds = [line.get("seconds", 0.0) for line in lines]
        rows.append(
            {"student": example.student, "lesson": example.assignment, "deserves": example.score,
             "marks": " ".join(map(str, marks)), "alone s": alone[student]["seconds"], "longest s": max(seconds)}
        )  # fmt: skip
    figures = {
        "wrong_marks": sum(
            told.get(student, {}).get("score") != example.score
            for told, _ in rounds
            for student, example in honest.items()
        ),
        "faults": sum(line["status"] != "graded" for told, _ in rounds for line in told.values()),
        "not_graded": sum(len(honest) + len(HOSTILE) - len(told) for told, _ in rounds),
        "longest_delay_s": max(row["longest s"] - row["alone s"] for row in rows),
        "class_s": [watched["seconds"] for _, watched in rounds],
        "memory_taken_gb": [watched["memory_gb"] for _, watched in rounds],
        "left_behind": [watched["left"] for _, watched in rounds],
        "user": "root" if os.getuid() == 0 else "ordinary",
        "control_groups": cgroup.available(),
        "isolation": options.isolation,
    }
    publish("hostile_class", figures, rows)


def make_course(folder: Path, honest: Mapping[str, Example]) -> Path:
    """Make a course with the honest ones' submissions."""
    make_empty_course(folder)
    for student, example in honest.items():
        submit(folder, student, example.assignment, example.path.read_text("utf-8"))
    return folder


def add_hostile(course: Path) -> None:
    """Add the hostile ones, each between two honest ones."""
    text = (course_root() / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    for number, source in enumerate(HOSTILE.values()):
        notebook = json.loads(text)
        cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
        notebook["cells"].insert(1, {**cell, "source": source})
        submit(course, f"s{2 * number + 1:02}", LESSON, json.dumps(notebook))


def graded(course: Path, isolation: str, jobs: int) -> tuple[dict[str, dict], dict]:
    """Grade the class; return the grader's line for each student, and what was seen of the machine meanwhile."""
    path = course / "grades.jsonl"
    before, terminals, started = available(), terminals_held(), time.perf_counter()
    lowest, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            lowest[0] = min(lowest[0], available())

    watcher = threading.Thread(target=watch)
    watcher.start()
    grader(course, "--force", "--isolation", isolation, "--jobs", str(jobs)).wait()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    folders = Path(tempfile.gettempdir()).glob("grader-scratch-*")
    left = [*processes_left(), *(path.name for path in folders if path.stat().st_uid == os.getuid())]
    left += ["terminals"] * max(0, terminals_held() - terminals)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    path.unlink(missing_ok=True)
    watched = {"seconds": seconds, "memory_gb": (before - lowest[0]) / 2**30, "left": left}
    return {line["student"]: line for line in lines}, watched


def available() -> int:
    """Return the bytes of this machine's memory that are available."""
    with open("/proc/meminfo") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))


def terminals_held() -> int:
    """Return how many pseudo-terminals are open on this machine."""
    return int(Path("/proc/sys/kernel/pty/nr").read_text())


def processes_left() -> Iterator[str]:
    """Yield the processes of sandboxes that still run: as root by their users, else by what they are."""
    users = range(FIRST_USER, FIRST_USER + USERS) if os.getuid() == 0 else [os.getuid()]
    for place in Path("/proc").glob("[0-9]*"):
        try:
            user, command = (place.stat().st_uid, (place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
        if user in users and (os.getuid() == 0 or "guest/" in command or "31415926" in command):
            yield f"{place.name} {command[:60]}"


if __name__ == "__main__":
    main()
