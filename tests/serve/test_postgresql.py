"""A gradebook on a PostgreSQL server: graded, shown, mended by hand, graded again; and no command shows its password."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from grader.classes.gradebook.writer import add_students
from grader.records import Student
from grader.serve import attempts
from grader.serve.site import open_site
from tests.classes.gradebook.small_course import COURSE, NAME, SmallCourse
from tests.serve.people import grade, instructor, set_due, solved, student

PATIENCE = 60.0  # seconds
PASSWORD = "of-the-gradebook"
PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), Path())  # Debian: not on PATH


def program(name: str) -> str:
    return shutil.which(name, path=f"{PROGRAMS}:{os.environ['PATH']}") or ""


pytestmark = [
    pytest.mark.skipif(not program("postgres"), reason="no PostgreSQL server; Debian's package is postgresql"),
    pytest.mark.slow(held_by="tests/serve/test_student_pages.py::test_the_verdict_is_shown_and_the_feedback_page_is_the_gradebooks"),
]  # fmt: skip


def answers(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def database() -> Iterator[str]:
    """Run a PostgreSQL server of our own; yield the URL of an empty database. It refuses to run as root."""
    account = {"user": "nobody", "extra_groups": []} if os.getuid() == 0 else {}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place, password = Path(folder) / "data", Path(folder) / "password"
        password.write_text(PASSWORD)
        if account:
            shutil.chown(folder, "nobody")
            shutil.chown(password, "nobody")
        made = [
            program("initdb"),
            "-D",
            place,
            "-U",
            "eva",
            "--auth=scram-sha-256",
            f"--pwfile={password}",
            "-E",
            "UTF8",
        ]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **account)
        options = ["-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k", folder]
        server = subprocess.Popen(
            [program("postgres"), "-D", place, *options], cwd=folder, stderr=subprocess.DEVNULL, **account
        )
        address = f"eva@127.0.0.1:{port}/postgres"
        try:
            deadline = time.monotonic() + PATIENCE
            while not answers(f"postgresql://{address}"):
                assert time.monotonic() < deadline, "the database server does not start"
                time.sleep(0.2)
            yield f"postgresql+psycopg://{address}"
        finally:
            server.terminate()
            server.wait(PATIENCE)


def test_a_class_hands_in_with_its_gradebook_on_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    course = SmallCourse.make(tmp_path / "course")
    with database() as url:
        add_students(url, COURSE, [Student(id="ada", first_name="Ada", last_name="Łovelace"), Student(id="bob")])
        site = open_site(course.root, url)
        set_due(site, datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1))
        ada = student(site)
        for content in (solved(site, remark="first"), solved(site, "1.1", remark="second")):
            assert ada.hands_in(content).status_code == 303
            grade(site)
        assert [(one.score, one.counts) for one in attempts.attempts_of(site.store, "ada")] == [
            (5.0, True),
            (0.0, False),
        ]
        page = ada.get(f"/a/{NAME}").text
        assert "Łovelace" in page
        assert "of 100 points" in page
        assert ada.get(f"/a/{NAME}/feedback").status_code == 200

        assert ada.posts(f"/a/{NAME}/appeals", exercise="1.2", text="Look again.").status_code == 303
        assert instructor(site).posts("/class/appeals/1", points="4", comment="You are right.").status_code == 303
        assert site.entry("ada", NAME).score == 9.0
        assert "Ada" in instructor(site).get("/class").text

        said = course.grader("grade", "submitted", "--gradebook", url, "--jobs", "1")  # beside it, on the same course
        said += course.grader("report", "--gradebook", url) + course.grader("export", "csv", "--gradebook", url)
        assert "postgresql+psycopg://eva@127.0.0.1" in said
        assert PASSWORD not in said
        assert site.entry("ada", NAME).score == 9.0  # what a person gave stays
        assert not (course.root / "gradebook.db").exists()
