"""`grader roster --links` and `grader serve` as an operator calls them."""

from __future__ import annotations

import csv
import io
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from grader.classes.gradebook.connection import sqlite_file
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import add_students
from grader.cli import NotInstalled, serve_part
from grader.commands.console import Terminal
from grader.commands.options import GradeOptions, ServeOptions
from grader.records import Student
from grader.serve import attempts, command, grading
from grader.serve.command import RestartedProcess
from grader.serve.site import open_site
from tests.classes.gradebook.small_course import COURSE, SmallCourse
from tests.classes.workers.test_cluster import Cluster
from tests.serve.people import Person, open_course, solved, student


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = SmallCourse.make(tmp_path_factory.mktemp("links") / "course")
    people = [Student(id="ada", first_name="Ada", last_name="=cmd()"), Student(id="bob"), Student(id=".hidden")]
    add_students(made.url, COURSE, people)
    (made.root / "serve.toml").write_text('url = "https://hand-in.example.org/"\n')
    return made


def links(course: SmallCourse) -> dict[str, dict[str, str]]:
    with (course.root / "links.csv").open(encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_each_student_gets_a_link_that_works_and_stays_the_same(course: SmallCourse) -> None:
    said = course.grader("roster", "--links", "links.csv")
    assert "wrote 2 links to links.csv" in said
    assert "'.hidden' gets no link" in said
    first = links(course)
    assert set(first) == {"ada", "bob"}
    assert first["ada"]["last name"] == "'=cmd()"
    assert stat.S_IMODE((course.root / "links.csv").stat().st_mode) == 0o600
    course.grader("roster", "--links", "links.csv")
    assert links(course) == first
    site = open_site(course.root, None)
    ada = Person.of(site, "https://hand-in.example.org")
    assert ada.opens_link(first["ada"]["link"].rpartition("/")[2]).status_code == 303
    assert "Ada" in ada.get("/").text


def test_a_revoked_link_is_replaced_by_the_next_call(course: SmallCourse) -> None:
    course.grader("roster", "--links", "links.csv")
    before = links(course)
    said = course.grader("roster", "--revoke", "bob", "--links", "links.csv")
    assert "the link of bob no longer works" in said
    after = links(course)
    assert after["ada"] == before["ada"]
    assert after["bob"]["link"] != before["bob"]["link"]
    assert "'zoe' has no valid link" in course.grader("roster", "--revoke", "zoe", status=2)


def test_the_instructors_link_leads_to_the_class(course: SmallCourse) -> None:
    said = course.grader("roster", "--instructor", "eva")
    token = said.strip().rpartition("/")[2]
    eva = Person.of(open_site(course.root, None), "https://hand-in.example.org")
    assert eva.opens_link(token).headers["location"] == "/class"


def test_a_gradebook_without_students_is_said_so(tmp_path: Path) -> None:
    empty = SmallCourse.make(tmp_path / "course")
    assert "Add them from your platform's list first" in empty.grader("roster", "--links", "links.csv", status=2)
    assert "--links" in empty.grader("roster", status=2)


def test_a_wrong_serve_toml_stops_both(course: SmallCourse, tmp_path: Path) -> None:
    wrong = course.copy(tmp_path / "copy")
    (wrong.root / "serve.toml").write_text('url = "http://example.org"\n')
    for words in (("serve",), ("roster", "--links", "links.csv")):
        assert "is not protected. Use https://" in wrong.grader(*words, status=2)


def test_a_port_that_is_taken_is_said_in_one_line(course: SmallCourse, tmp_path: Path) -> None:
    other = course.copy(tmp_path / "copy")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (other.root / "serve.toml").write_text(f"port = {port}\n")
        assert "Set another host or port in serve.toml." in other.grader("serve", status=2)


def test_without_the_extra_the_message_says_how_to_get_it(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "grader.serve.command", raising=False)
    with pytest.raises(NotInstalled, match=r"uvicorn is missing. Run: pip install 'attention-course\[serve\]'"):
        serve_part("command")
    assert "pip install 'attention-course[serve]'" in course.grader("serve", status=2)


def test_another_missing_module_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        serve_part("nowhere")


def test_a_grading_process_that_dies_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("grader.serve.command.PAUSE_SECONDS", 0.01)
    told: list[str] = []
    mark = tmp_path / "mark"
    program = f"import sys, pathlib; p = pathlib.Path({str(mark)!r}); first = not p.exists(); p.touch(); first and sys.exit(3); assert sys.stdin.read() == 'a line\\n'"
    kept = RestartedProcess([sys.executable, "-c", program], "a line", told.append)
    for _ in range(500):
        if told and kept._process.poll() is None:
            break
        kept._ending.wait(0.01)
    kept.end()
    assert kept._process.returncode == 0  # the second one saw that its input ended
    assert told == ["the grading process ended (status 3); it starts again in 0 s, and nothing is lost"]


def test_the_lessons_are_there_before_anybody_asks(tmp_path: Path) -> None:
    """Two threads that import them together find half of them: sixty students at once had an error in one of some runs."""
    course = SmallCourse.make(tmp_path / "course")
    code = "import sys; from pathlib import Path; from grader.serve.site import open_site; open_site(Path.cwd(), None)"
    code += "; assert 'grader.course.lesson_3' in sys.modules"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=course.root,
        env=course.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_gradebook_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    """Without due dates each attempt would seem to be in time."""
    course = SmallCourse.make(tmp_path / "course")
    site = open_site(course.root, None)
    sqlite_file(site.gradebook).write_bytes(b"no database")
    with pytest.raises(RecordError):
        site.due_dates("s0001")
    sqlite_file(site.gradebook).unlink()
    assert site.due_dates("s0001") == {}


def test_the_options_reach_the_process_that_grades_and_no_command_line(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command line of a process is there for everybody on the machine to read; a database's URL may hold a password."""
    other = course.copy(tmp_path / "copy")
    (other.root / "serve.toml").write_text("port = 0\n")
    started: list[tuple[list[str], str]] = []

    class Noted:
        def __init__(self, command: list[str], told: str, say: object) -> None:
            started.append((command, told))

        def end(self) -> None:
            """Nothing was started."""

    monkeypatch.setattr(command, "RestartedProcess", Noted)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: [one.close() for one in sockets])
    url = f"{other.url}?timeout=7"
    asked = dict(root=other.root, gradebook=url, jobs=2, scheduler="tcp://127.0.0.1:8786")
    command.run(ServeOptions(**asked), Terminal(out=Console(), err=Console(stderr=True)))
    ((arguments, told),) = started
    assert not any("timeout" in one for one in arguments)
    graded: list[GradeOptions] = []
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(f"{told}\n".encode())))
    monkeypatch.setattr(grading, "_end_with_server", lambda sites: None)
    monkeypatch.setattr(grading, "grade_queue", lambda site, options: graded.append(options))
    grading.main()
    assert graded == [GradeOptions(paths=[], **asked)]


@pytest.mark.slow(
    held_by="tests/serve/test_serve_commands.py::test_the_options_reach_the_process_that_grades_and_no_command_line"
)
def test_a_dask_cluster_grades_what_is_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "test")
    site = open_course(tmp_path / "course")
    for name in ("ada", "bob", "carl"):
        student(site, name).hands_in(solved(site, "1.1", remark=name))
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = Cluster(folder)
    try:
        options = GradeOptions(paths=[], root=site.root, device="cpu", scheduler=cluster.address)
        grading.grade_queue(site, options, wait=False)
    finally:
        cluster.stop()
    assert [(one.state, one.score) for one in attempts.everybodys(site.store)] == [(attempts.GRADED, 5.0)] * 3
