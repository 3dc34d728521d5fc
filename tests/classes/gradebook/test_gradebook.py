"""Grades in a real nbgrader gradebook, read back by nbgrader's own export and formgrader API."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
import sysconfig
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbgrader.api import Gradebook, get_alembic_version
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import _temp_alembic_ini
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from grader.classes.gradebook import connection, rows, writer
from grader.classes.gradebook.cells import WITHHELD
from grader.classes.gradebook.errors import RecordError, StudentNameError
from grader.classes.gradebook.reader import read_entry
from grader.classes.gradebook.writer import GradeWriter, Handover, open_gradebook
from grader.classes.results.folders import unreadable_notebook, write_autograded
from grader.declare.exercise import Check, Exercise
from grader.declare.lesson import Lesson
from grader.declare.trial import Trial
from grader.records import Grade, Outcome, Student, Verdict
from tests.warm_python import run_python

ASSIGNMENT = "1-attention"


def exercise(id: str, points: float) -> Exercise:
    check = Check(name="values", title="", points=points, probe=print, trials=(Trial("", lambda draw: {}),))

    def function() -> None:
        raise NotImplementedError

    function.__name__ = "function_" + id.replace(".", "_")
    return Exercise(id=id, title=id, reference=(function,), points=points, difficulty=1, minutes=1, checks=(check,))


def lesson(*worth: tuple[str, float]) -> Lesson:
    exercises = tuple(exercise(id, points) for id, points in worth or (("1.1", 5), ("1.4", 15)))
    return Lesson(assignment=ASSIGNMENT, title="", exercises=exercises)


def verdict(id: str, points: float, worth: float, outcome: Outcome | None = None, **more) -> Verdict:
    outcome = outcome or (Outcome.PASSED if points == worth else Outcome.FAILED)
    return Verdict(id=id, name=id, title=id, outcome=outcome, points=points, max_points=worth, **more)


def graded(student: str, first: float, second: float, **more) -> Grade:
    verdicts = (
        verdict("1.1", first, 5.0, message="off by 0.3", hint="Sum over d_k."),
        verdict("1.4", second, 15.0, message="off by 0.49", hint="Divide by √d_k."),
    )
    return Grade(
        student=student,
        assignment=ASSIGNMENT,
        status="graded",
        score=first + second,
        max_score=20.0,
        verdicts=verdicts,
        **more,
    )


def without_score(student: str, status: str) -> Grade:
    score = 0.0 if status == "unreadable" else None
    return Grade(student=student, assignment=ASSIGNMENT, status=status, score=score, max_score=20.0, message="because")


def master():
    """A student notebook as nbgrader leaves it: a locked cell, two exercises and one of practice."""

    def cell(source: str, grade_id: str, **nbgrader):
        both = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
        return nbformat.v4.new_code_cell(
            source, id=grade_id, metadata={"nbgrader": {**both, "grade_id": grade_id, **nbgrader}}
        )

    cells = [cell("import torch", "setup", locked=True, checksum="c0")]
    for slug, points in (("1-1", 5), ("1-4", 15), ("1-P1", 0)):
        cells.append(cell(f"# @exercise {slug}", f"exercise-{slug}", solution=True, checksum="c1"))
        cells.append(cell("check()", f"check-{slug}", grade=True, locked=True, points=points, checksum="c2"))
    return nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An empty gradebook; made once, because nbgrader starts another program for each."""
    folder = tmp_path_factory.mktemp("fresh")
    with open_gradebook(f"sqlite:///{folder}/gradebook.db", {}):
        pass
    return (folder / "gradebook.db").read_bytes()


@pytest.fixture
def url(tmp_path: Path, fresh: bytes) -> str:
    (tmp_path / "gradebook.db").write_bytes(fresh)
    return f"sqlite:///{tmp_path}/gradebook.db"


def record(url: str, *grades: Grade, **options) -> None:
    timestamp = options.pop("timestamp", None)
    declared = options.pop("lesson", lesson())
    with open_gradebook(url, {ASSIGNMENT: declared}, **options) as gradebook:
        for grade in grades:
            gradebook.record(grade, Handover(student=Student(id=grade.student), submitted=timestamp))


def row(url: str, student: str, cell: str = "check-1-4"):
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade(cell, ASSIGNMENT, ASSIGNMENT, student)
        return grade.auto_score, grade.manual_score, grade.score, grade.needs_manual_grade


def change(url: str, student: str, cell: str, **values) -> None:
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade(cell, ASSIGNMENT, ASSIGNMENT, student)
        for name, value in values.items():
            setattr(grade, name, value)
        gradebook.db.commit()


def submission(url: str, student: str) -> dict:
    with Gradebook(url) as gradebook:
        return gradebook.find_submission(ASSIGNMENT, student).to_dict()


def test_a_new_gradebook_is_made_without_the_environment_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    record(f"sqlite:///{tmp_path}/gradebook.db", graded("s1", 5.0, 7.5))
    assert os.environ["PATH"] == "/usr/bin:/bin"
    assert submission(f"sqlite:///{tmp_path}/gradebook.db", "s1")["score"] == 12.5


def test_a_new_gradebook_is_of_the_version_that_nbgrader_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]))
    assert connection.newest_revision() == get_alembic_version()


def test_scores_and_maxima(url: str):
    record(url, graded("s1", 5.0, 7.5), graded("s2", 0.0, 15.0))
    assert row(url, "s1", "check-1-1") == (5.0, None, 5.0, False)
    assert row(url, "s1", "check-1-4") == (7.5, None, 7.5, False)
    assert row(url, "s2", "check-1-1") == (0.0, None, 0.0, False)
    found = submission(url, "s2")
    assert (found["score"], found["max_score"], found["needs_manual_grade"]) == (15.0, 20.0, False)


def test_a_regrade_replaces_the_auto_score(url: str):
    record(url, graded("s1", 5.0, 7.5))
    record(url, graded("s1", 0.0, 15.0))
    assert submission(url, "s1")["score"] == 15.0


def test_the_same_grade_again_writes_nothing(url: str):
    record(url, graded("s1", 5.0, 7.5))
    before = Path(url.removeprefix("sqlite:///")).read_bytes()
    with open_gradebook(url, {ASSIGNMENT: lesson()}) as gradebook:
        gradebook.record(graded("s1", 5.0, 7.5))
        assert Path(url.removeprefix("sqlite:///")).read_bytes() == before
        gradebook.record(graded("s1", 5.0, 9.5))
        assert Path(url.removeprefix("sqlite:///")).read_bytes() != before


def test_a_rerun_reads_no_table_to_its_end(url: str):
    """Or each submission would cost more, the larger the class."""
    asked = []
    with open_gradebook(url, {ASSIGNMENT: lesson()}) as gradebook:
        gradebook.record(graded("s1", 5.0, 7.5))
        event.listen(gradebook.gradebook.engine, "before_cursor_execute", lambda *said: asked.append(said[2:4]))
        gradebook.record(graded("s1", 5.0, 7.5))
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
        plans = [file.execute(f"EXPLAIN QUERY PLAN {words}", values).fetchall() for words, values in asked]
    assert plans
    steps = [step for plan in plans for *_, step in plan if step.startswith("SCAN")]
    assert not [step for step in steps if step != "SCAN base_cell"]  # its size is the lesson's, not the class's


def test_a_manual_score_stays_and_wins_and_extra_credit_survives(url: str):
    record(url, graded("s1", 5.0, 7.5))
    change(url, "s1", "check-1-4", manual_score=11.0, extra_credit=2.0)
    record(url, graded("s1", 0.0, 15.0))
    assert row(url, "s1") == (15.0, 11.0, 13.0, True)  # the person gave it for another answer
    record(url, without_score("s1", "unreadable"))
    assert row(url, "s1") == (0.0, 11.0, 13.0, True)


def test_a_manual_score_waits_for_a_person_after_a_resubmission_alone(url: str):
    first = graded("s1", 5.0, 7.5, submission_sha256="first")
    record(url, first)
    change(url, "s1", "check-1-4", manual_score=11.0)
    record(url, first)  # graded again by force
    assert row(url, "s1") == (7.5, 11.0, 11.0, False)
    record(url, replace(without_score("s1", "fault"), submission_sha256="second"))
    assert row(url, "s1") == (7.5, 11.0, 11.0, False)
    record(url, replace(first, submission_sha256="second"))
    assert row(url, "s1") == (7.5, 11.0, 11.0, True)
    change(url, "s1", "check-1-4", manual_score=12.0, needs_manual_grade=False)  # as formgrader does
    record(url, replace(first, submission_sha256="second"))
    assert row(url, "s1") == (7.5, 12.0, 12.0, False)


def test_unreadable_is_zero_and_says_why(url: str):
    record(url, without_score("s1", "unreadable"))
    assert row(url, "s1") == (0.0, None, 0.0, False)
    with Gradebook(url) as gradebook:
        assert gradebook.find_comment("exercise-1-4", ASSIGNMENT, ASSIGNMENT, "s1").comment == "because"


def test_a_link_is_zero_and_no_recorded_score_gives_way_to_it(url: str):
    link = replace(without_score("s1", "unreadable"), proven=False)
    record(url, link)
    assert row(url, "s1") == (0.0, None, 0.0, False)
    record(url, graded("s1", 5.0, 7.5))
    record(url, link)
    assert row(url, "s1") == (7.5, None, 7.5, True)
    entry = read_entry(url, "default_course", "s1", ASSIGNMENT)
    assert (entry.status, entry.score, entry.message) == ("fault", 12.5, "because")
    assert entry.grade.status == "graded"


def test_a_fault_writes_no_score(url: str):
    record(url, without_score("s1", "fault"))
    assert row(url, "s1") == (None, None, 0.0, True)


def test_a_fault_leaves_the_earlier_score_and_marks_it_as_earlier(url: str):
    monday, tuesday = datetime(2026, 11, 16, 9), datetime(2026, 11, 17, 9)
    record(url, graded("s1", 5.0, 7.5), timestamp=monday)
    record(url, without_score("s1", "fault"), timestamp=tuesday)
    assert row(url, "s1") == (7.5, None, 7.5, True)
    assert submission(url, "s1")["timestamp"] == monday.isoformat()
    with Gradebook(url) as gradebook:
        assert gradebook.find_comment("exercise-1-4", ASSIGNMENT, ASSIGNMENT, "s1").comment == WITHHELD
    record(url, graded("s1", 5.0, 15.0), timestamp=tuesday)
    assert row(url, "s1") == (15.0, None, 15.0, False)
    assert submission(url, "s1")["timestamp"] == tuesday.isoformat()


def test_an_exercise_that_nobody_judged_is_no_zero(url: str):
    grade = graded("s1", 5.0, 15.0)
    record(url, replace(grade, verdicts=grade.verdicts[:1]))
    assert row(url, "s1", "check-1-1") == (5.0, None, 5.0, False)
    assert row(url, "s1", "check-1-4") == (None, None, 0.0, True)


def test_comments_say_what_came_back(url: str):
    record(url, graded("s1", 5.0, 7.5))
    with Gradebook(url) as gradebook:
        failed = gradebook.find_comment("exercise-1-4", ASSIGNMENT, ASSIGNMENT, "s1")
        passed = gradebook.find_comment("exercise-1-1", ASSIGNMENT, ASSIGNMENT, "s1")
        assert failed.auto_comment == "Divide by √d_k.\noff by 0.49"
        assert passed.auto_comment is None


def test_the_timestamp_is_kept_in_utc(url: str):
    record(url, graded("s1", 5.0, 7.5), timestamp=datetime(2026, 3, 5, 13, 7, tzinfo=timezone(timedelta(hours=2))))
    assert submission(url, "s1")["timestamp"] == "2026-03-05T11:07:00"


def test_names_that_differ_in_case_or_normalisation_are_different_students(url: str):
    names = ["josé", "jose\u0301", "JOSÉ", "Ana", "ana", "学生-7", "a b; DROP TABLE grade", "%_"]
    record(url, *(graded(name, 5.0, float(index)) for index, name in enumerate(names)))
    for index, name in enumerate(names):
        assert submission(url, name)["score"] == 5.0 + index


def test_cells_are_stored_as_nbgrader_stores_them(url: str, tmp_path: Path):
    """The same rows as nbgrader's own preprocessor writes from the same notebook."""
    from nbgrader.preprocessors import SaveCells

    theirs = tmp_path / "theirs.db"
    theirs.write_bytes((tmp_path / "gradebook.db").read_bytes())
    with Gradebook(f"sqlite:///{theirs}") as gradebook:
        gradebook.add_assignment(ASSIGNMENT)
    resources = {"nbgrader": {"notebook": ASSIGNMENT, "assignment": ASSIGNMENT, "db_url": f"sqlite:///{theirs}"}}
    SaveCells().preprocess(master(), resources)
    record(url, graded("s1", 5.0, 7.5), masters={ASSIGNMENT: master()})

    def cells(where: str):
        with Gradebook(where) as gradebook:
            notebook = gradebook.find_notebook(ASSIGNMENT, ASSIGNMENT)
            kinds = (notebook.grade_cells, notebook.solution_cells, notebook.source_cells)
            return notebook.kernelspec, [sorted(map(str, map(public, kind))) for kind in kinds]

    def public(cell):
        return sorted((name, value) for name, value in cell.to_dict().items() if name != "id")

    assert cells(url) == cells(f"sqlite:///{theirs}")
    # nbgrader refuses to change cells once submissions exist: it must find nothing to change.
    SaveCells().preprocess(master(), {"nbgrader": {**resources["nbgrader"], "db_url": url}})
    assert submission(url, "s1")["score"] == 12.5


def test_a_new_exercise_reaches_the_submissions_that_are_there(url: str):
    record(url, graded("s1", 5.0, 7.5))
    record(url, graded("s2", 5.0, 15.0), lesson=lesson(("1.1", 5), ("1.4", 15), ("1.5", 3)))
    assert row(url, "s1", "check-1-5") == (None, None, 0.0, True)
    assert submission(url, "s1")["max_score"] == 23.0


def test_points_follow_the_declaration(url: str):
    record(url, graded("s1", 5.0, 7.5))
    record(url, graded("s1", 5.0, 7.5), lesson=lesson(("1.1", 5), ("1.4", 17)))
    assert submission(url, "s1")["max_score"] == 22.0


def test_an_exercise_that_is_gone_is_refused(url: str):
    record(url, graded("s1", 5.0, 7.5))
    with pytest.raises(RecordError, match=r"no longer declares \(check-1-4\).*No grade was written"):
        record(url, graded("s1", 5.0, 7.5), lesson=lesson(("1.1", 5)))
    assert row(url, "s1")[0] == 7.5


def test_an_unknown_assignment_is_refused(url: str):
    with (
        pytest.raises(RecordError, match=r"'1-attention', which is not a lesson of this course; its lessons are none"),
        open_gradebook(url, {}) as gradebook,
    ):
        gradebook.record(graded("s1", 5.0, 7.5))


def test_a_late_penalty_as_nbgrader_gives_it(url: str):
    due = datetime(2026, 11, 1)
    record(url, graded("s1", 5.0, 7.5))
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-11-01 00:00 UTC")
        gradebook.grant_extension(ASSIGNMENT, "s1", hours=1)
    seen = []

    def penalty(student: str, score: float, seconds: float) -> float:
        seen.append((student, score, seconds))
        return 100.0

    record(url, graded("s1", 5.0, 7.5), timestamp=due + timedelta(hours=1), late_penalty=penalty)
    assert seen == []
    record(url, graded("s1", 5.0, 7.5), timestamp=due + timedelta(hours=3), late_penalty=penalty)
    assert seen == [("s1", 12.5, 7200.0)]
    with Gradebook(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "s1").late_submission_penalty == 12.5  # never below zero
    record(url, graded("s1", 5.0, 7.5), timestamp=due, late_penalty=penalty)
    with Gradebook(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "s1").late_submission_penalty == 0.0


# ---------------------------------------------------------------- errors


def test_a_locked_gradebook_is_tried_again_and_then_named(url: str, monkeypatch: pytest.MonkeyPatch):
    pauses = []
    monkeypatch.setattr(connection.time, "sleep", pauses.append)
    record(url, graded("s1", 5.0, 7.5))
    with open_gradebook(f"{url}?timeout=0.01", {ASSIGNMENT: lesson()}) as gradebook:
        other = sqlite3.connect(url.removeprefix("sqlite:///"))
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RecordError, match=r"database is locked.*Close formgrader"):
            gradebook.record(graded("s1", 5.0, 15.0))
        assert len(pauses) == 2
        monkeypatch.setattr(connection.time, "sleep", lambda seconds: other.rollback())
        other.rollback()
        other.execute("BEGIN EXCLUSIVE")
        gradebook.record(graded("s1", 5.0, 15.0))  # released while it paused
        other.close()
    assert row(url, "s1")[0] == 15.0


def test_a_gradebook_of_an_older_nbgrader_is_left_as_it_is_until_it_is_upgraded(tmp_path: Path):
    """One of the first nbgrader's, which nbgrader keeps for its own tests."""
    file, url = tmp_path / "gradebook.db", f"sqlite:///{tmp_path}/gradebook.db"
    file.write_bytes((Path(nbgrader.__file__).parent / "tests" / "apps" / "files" / "gradebook.db").read_bytes())
    before = file.read_bytes()
    with pytest.raises(RecordError, match=r"older nbgrader .* has no column .* Nothing .* Run `nbgrader db upgrade`"):
        record(url, graded("s1", 5.0, 7.5))
    assert file.read_bytes() == before
    with _temp_alembic_ini(url) as settings:  # as `nbgrader db upgrade` does it
        command = [sys.executable, "-m", "alembic", "-c", settings, "upgrade", "head"]
        subprocess.run(command, check=True, capture_output=True)
    record(url, graded("s1", 5.0, 7.5), masters={ASSIGNMENT: master()})
    assert row(url, "s1")[0] == 7.5


def test_nobody_writes_between_reading_and_writing(url: str, monkeypatch: pytest.MonkeyPatch):
    """Else a score that is saved in formgrader meanwhile would be that of the new version, and need no second look."""
    record(url, graded("s1", 5.0, 7.5))
    other = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=0)
    load = writer.load_one

    def load_while_somebody_saves(*args, **options):
        found = load(*args, **options)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("UPDATE grade SET manual_score = 4")
        return found

    with open_gradebook(url, {ASSIGNMENT: lesson()}) as gradebook:
        gradebook.record(graded("s1", 5.0, 7.5))
        with monkeypatch.context() as patch:
            patch.setattr(writer, "load_one", load_while_somebody_saves)
            patch.setattr(GradeWriter, "_write_details", _stop)
            with pytest.raises(Stop):
                gradebook.record(graded("s1", 0.0, 15.0))
    other.close()


class Stop(Exception):
    """The end of a test's transaction."""


def _stop(*args) -> None:
    raise Stop


def test_two_graders_make_the_same_row(url: str, monkeypatch: pytest.MonkeyPatch):
    """A server's database lets both look before either has written; the second tries again."""
    monkeypatch.setattr(connection.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(writer, "begin_to_write", lambda db: None)
    record(url, graded("s1", 5.0, 7.5))
    insert = rows.insert
    others = [graded("s2", 0.0, 0.0)]

    def insert_second(table):
        if others:
            record(url, others.pop())
        return insert(table)

    monkeypatch.setattr(rows, "insert", insert_second)
    record(url, graded("s2", 5.0, 15.0))
    assert row(url, "s2")[0] == 15.0


def test_a_read_only_gradebook(url: str):
    record(url, graded("s1", 5.0, 7.5))
    path = url.removeprefix("sqlite:///")
    with pytest.raises(RecordError, match=r"readonly database.*writable"):
        record(f"sqlite:///file:{path}?mode=ro&uri=true", graded("s1", 5.0, 15.0))
    assert row(url, "s1")[0] == 7.5


def test_no_traceback_of_nbgrader_is_printed(url: str, monkeypatch: pytest.MonkeyPatch, capfd):
    monkeypatch.setattr(connection.time, "sleep", lambda seconds: None)
    other = sqlite3.connect(url.removeprefix("sqlite:///"))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(RecordError, match=r"locked"), open_gradebook(f"{url}?timeout=0.01", {}, course="another"):
        pass
    other.close()
    assert capfd.readouterr().err == ""


def test_a_folder_that_is_not_there(tmp_path: Path):
    with pytest.raises(RecordError, match=r"unable to open database file.*Create its folder"):
        record(f"sqlite:///{tmp_path}/nowhere/gradebook.db", graded("s1", 5.0, 7.5))


def test_a_file_that_is_no_database(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("dear diary, " * 100)
    with pytest.raises(RecordError, match=r"not a database.*another kind of file"):
        record(f"sqlite:///{tmp_path}/notes.txt", graded("s1", 5.0, 7.5))


@pytest.mark.parametrize("url", ["gradebook.db", "", "oracle-of-delphi:///x"])
def test_a_url_that_is_none(url: str):
    with pytest.raises(RecordError, match=r"Write sqlite:///gradebook.db|another path"):
        record(url, graded("s1", 5.0, 7.5))


def test_a_student_id_that_is_no_text_loses_nobody_else(url: str):
    with open_gradebook(url, {ASSIGNMENT: lesson()}) as gradebook:
        with pytest.raises(StudentNameError, match=r"bytes that are no text.*Rename the folder"):
            gradebook.record(graded("bad\udcff", 5.0, 7.5))
        # What is recorded is asked for before anything is graded.
        assert gradebook.recorded("bad\udcff", ASSIGNMENT, "key") is None
        gradebook.record(graded("s1", 5.0, 7.5))
    assert submission(url, "s1")["score"] == 12.5


# ---------------------------------------------------------------- real nbgrader reads it


def course(root: Path, url: str) -> None:
    (root / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n")


def test_nbgrader_export(url: str, tmp_path: Path):
    record(url, graded("s1", 5.0, 7.5), graded("josé", 0.0, 15.0), timestamp=datetime(2026, 3, 5, tzinfo=UTC))
    change(url, "s1", "check-1-4", manual_score=11.0)
    record(url, without_score("s3", "unreadable"))
    course(tmp_path, url)
    export = ("nbgrader", "export", "--to", "grades.csv")
    ran = run_python(*export, folder=tmp_path, environment=os.environ)
    assert ran.returncode == 0, ran.err
    with open(tmp_path / "grades.csv", encoding="utf-8", newline="") as file:
        rows = {line["student_id"]: line for line in csv.DictReader(file)}
    assert {name: (line["score"], line["max_score"]) for name, line in rows.items()} == {
        "s1": ("16.0", "20.0"),
        "josé": ("15.0", "20.0"),
        "s3": ("0.0", "20.0"),
    }
    assert rows["s1"]["timestamp"] == "2026-03-05 00:00:00"


def test_formgrader_lists_the_scores_and_nbgrader_makes_its_feedback(url: str, tmp_path: Path):
    moment = datetime(2026, 3, 5, 11, 7, tzinfo=UTC)
    notebook, practice = master(), verdict("1.P1", 0.0, 0.0)
    both = {"masters": {ASSIGNMENT: notebook}, "lesson": lesson(("1.1", 5), ("1.4", 15), ("1.P1", 0))}
    grade = graded("s1", 5.0, 7.5)
    grade = replace(grade, verdicts=(*grade.verdicts, practice))
    record(url, grade, timestamp=moment, **both)
    record(url, without_score("s2", "unreadable"), **both)
    for student, executed, when in (("s1", notebook, moment), ("s2", unreadable_notebook("because"), None)):
        folder = tmp_path / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")
        write_autograded(tmp_path / "autograded", student, ASSIGNMENT, executed, when)
    stamp = (tmp_path / "autograded/s1" / ASSIGNMENT / "timestamp.txt").read_text()
    (tmp_path / "submitted/s1" / ASSIGNMENT / "timestamp.txt").write_text(stamp)

    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.db_url = str(tmp_path), url
    interface = NbGraderAPI(CourseDirectory(config=config), config=config)
    first, second = sorted(interface.get_submissions(ASSIGNMENT), key=lambda one: one["student"])
    assert (first["student"], first["score"], first["max_score"], first["autograded"]) == ("s1", 12.5, 20.0, True)
    assert (second["student"], second["score"], second["autograded"]) == ("s2", 0.0, True)
    assert not first["needs_manual_grade"]
    listed = interface.get_notebook_submissions(ASSIGNMENT, ASSIGNMENT)
    assert sorted((one["student"], one["score"]) for one in listed) == [("s1", 12.5), ("s2", 0.0)]
    result = interface.generate_feedback(ASSIGNMENT, "s1")
    assert result["success"], result
    assert "12.5" in (tmp_path / "feedback/s1" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text()


def test_a_full_disk_is_named(url: str, monkeypatch: pytest.MonkeyPatch):
    with open_gradebook(url, {ASSIGNMENT: lesson()}) as gradebook:
        record = sqlite3.OperationalError("database or disk is full")

        def full(*_: object) -> None:
            raise OperationalError("INSERT", {}, record)

        monkeypatch.setattr("grader.classes.gradebook.writer.fill", full)
        with pytest.raises(RecordError, match=r"disk is full\)\. Make room on its disk"):
            gradebook.record(graded("s1", 5.0, 7.5))
