"""The real `grader serve` on a free port, for tests that need it whole."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.classes.gradebook.writer import add_students
from grader.records import Student
from tests.classes.gradebook.small_course import COURSE, SmallCourse

PATIENCE = 120.0  # seconds


def course_on_free_port(root: Path, students: Iterable[Student], rules: str = "") -> SmallCourse:
    """Make a course with students, whose serve.toml names a free port."""
    made = SmallCourse.make(root)
    add_students(made.url, COURSE, list(students))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (made.root / "serve.toml").write_text(f'url = "http://127.0.0.1:{port}"\nport = {port}\n{rules}')
    return made


@contextmanager
def running(course: SmallCourse, *options: str) -> Iterator[str]:
    """Run `grader serve` with options; yield its address once it answers."""
    url = re.findall('url = "(http[^"]+)"', (course.root / "serve.toml").read_text())[0]
    log = course.root / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "grader", "serve", *options],
            cwd=course.root,
            env=course.environment,
            stdout=file,
            stderr=file,
        )
    try:
        wait_for(f"{url}/health", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until an address answers; fail if the process ends before."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(log.read_text())
