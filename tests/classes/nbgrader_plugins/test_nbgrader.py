"""A class through nbgrader itself: released, handed in, collected, autograded, marked by hand, exported, fed back."""

from __future__ import annotations

import csv
import json
import os
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from examples.make import ROOT, Example, content
from grader.classes.gradebook.cells import WITHHELD
from grader.course import lessons
from grader.judge.planned_trial import source_of
from tests.warm_python import run_python

NAME = "1-attention"
ENVIRONMENT = {**os.environ, "GRADER_SECRET": "test", "PATH": "/usr/bin:/bin"}
ENVIRONMENT.pop("GRADER_COURSE", None)

LATE = """
from nbgrader.plugins import LateSubmissionPlugin


class FivePoints(LateSubmissionPlugin):
    def late_submission_penalty(self, student, score, seconds):
        return 5
"""


def run(folder: Path, program: str, *arguments: str, status: int = 0) -> str:
    """Run a program of the environment; what it printed."""
    ran = run_python(program, *arguments, folder=folder, environment=ENVIRONMENT)
    assert ran.returncode == status, ran.output
    return ran.output


def run_all(*commands: tuple[Path, tuple[str, ...]]) -> str:
    """Several nbgrader commands in one process, whose warnings are errors."""
    ran = run_python(
        str(Path(__file__).with_name("nbgrader_commands.py")),
        folder=ROOT,
        environment=ENVIRONMENT,
        told=json.dumps([(str(folder), arguments) for folder, arguments in commands]),
        strict=True,
    )
    assert ran.returncode == 0, ran.output
    return ran.output


@dataclass
class Class:
    """A small course in a folder of its own, and what happened in it."""

    root: Path
    exchange: Path
    canary: Path
    auto: dict[str, float] = field(default_factory=dict)  # student → score, before anybody looked
    exported: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.root}/gradebook.db"

    def scores(self, url: str = "") -> dict[str, float]:
        with Gradebook(url or self.url) as gradebook:
            return {one.student_id: one.score for one in gradebook.assignment_submissions(NAME)}

    def page(self, student: str) -> str:
        return (self.root / "feedback" / student / NAME / f"{NAME}.html").read_text("utf-8")


def submission(student: str, canary: Path) -> bytes:
    """A notebook of the example class; the right one tries to leave a file where nothing of a student's may run."""
    if student == "right":
        leave = f"open({str(canary)!r}, 'w').write('student code ran outside of the sandbox')"
        return content(Example(student=student, assignment=NAME, score=None, about="", own=[("exercise-1-9", leave)]))
    taken = {"wrong": "no-scaling", "untouched": "untouched"}[student]
    return (ROOT / "examples" / "submitted" / taken / NAME / f"{NAME}.ipynb").read_bytes()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Class:
    top = tmp_path_factory.mktemp("course")
    one = Class(root=top / "course", exchange=top / "exchange", canary=top / "canary")
    one.root.mkdir()
    one.exchange.mkdir()
    one.exchange.chmod(0o777)
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name, one.root / name, ignore=shutil.ignore_patterns("*.py"))
    (one.root / "late.py").write_text(LATE)
    settings = (ROOT / "nbgrader_config.py").read_text("utf-8")
    settings += f"\nc.Exchange.root = {str(one.exchange)!r}\n"
    settings += "c.AssignLatePenalties.plugin_class = 'late.FivePoints'\n"
    (one.root / "nbgrader_config.py").write_text(settings, "utf-8")

    run(one.root, "nbgrader", "generate_assignment", NAME, "--force")
    with Gradebook(one.url) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-01-01 00:00 UTC")

    commands = [(one.root, ("release_assignment", NAME))]
    for student in ("right", "wrong", "untouched"):
        home = top / student
        home.mkdir()
        (home / "nbgrader_config.py").write_text(
            f"c = get_config()\nc.Exchange.root = {str(one.exchange)!r}\n"
            f"c.CourseDirectory.course_id = 'attention'\nc.CourseDirectory.student_id = {student!r}\n"
        )
        (home / NAME).mkdir()
        (home / NAME / f"{NAME}.ipynb").write_bytes(submission(student, one.canary))
        commands.append((home, ("submit", NAME)))
    run_all(*commands, (one.root, ("collect", NAME)))
    (one.root / "submitted" / "wrong" / NAME / "notes.txt").symlink_to(one.root / "gradebook.db")

    run(one.root, "nbgrader", "autograde", NAME)
    one.auto = one.scores()
    with Gradebook(one.url) as gradebook:
        grade = gradebook.find_grade("check-1-4", NAME, NAME, "wrong")
        grade.manual_score, grade.extra_credit = 11.0, 2.0
        gradebook.find_comment("exercise-1-4", NAME, NAME, "wrong").manual_comment = "A <b>fine</b> idea."
        gradebook.db.commit()
    run_all(
        (one.root, ("autograde", NAME, "--force", "--student", "wrong")),
        (one.root, ("export",)),
        (one.root, ("generate_feedback", NAME)),
        (one.root, ("release_feedback", NAME)),
    )
    with (one.root / "grades.csv").open(newline="") as file:
        one.exported = {row["student_id"]: row for row in csv.DictReader(file)}
    return one


@pytest.fixture
def copy(course: Class, tmp_path: Path) -> Class:
    """The same course, to break."""
    shutil.copytree(course.root, tmp_path / "course")
    return Class(root=tmp_path / "course", exchange=course.exchange, canary=course.canary)


def test_generate_assignment_makes_the_committed_notebook(course: Class) -> None:
    made = (course.root / "notebooks" / NAME / f"{NAME}.ipynb").read_bytes()
    assert made == (ROOT / "notebooks" / NAME / f"{NAME}.ipynb").read_bytes()
    assert (course.exchange / "attention" / "outbound" / NAME / f"{NAME}.ipynb").read_bytes() == made


def test_autograde_gives_the_same_marks_as_grader_grade(course: Class, copy: Class, tmp_path: Path) -> None:
    book = tmp_path / "gradebook.db"
    shutil.copy(course.root / "gradebook.db", book)
    with Gradebook(f"sqlite:///{book}") as gradebook:
        for student in course.auto:
            gradebook.remove_submission(NAME, student)
    lines = tmp_path / "grades.jsonl"
    run(
        copy.root,
        "grader",
        *("grade", "submitted", "--force", "--jobs", "1", "--json", str(lines)),
        *("--gradebook", f"sqlite:///{book}", "--html", str(tmp_path / "html")),
    )
    grades = {one["student"]: one for one in map(json.loads, lines.read_text("utf-8").splitlines())}
    assert course.auto == {student: one["score"] for student, one in grades.items()}
    assert course.auto == {"right": 100.0, "wrong": 80.0, "untouched": 0.0}
    with Gradebook(f"sqlite:///{book}") as ours, Gradebook(course.url) as theirs:
        for student, grade in grades.items():
            rows = [one.find_submission_notebook(NAME, NAME, student) for one in (ours, theirs)]
            assert rows[0].late_submission_penalty == rows[1].late_submission_penalty
            comments = [{one.name: one.auto_comment for one in row.comments} for row in rows]
            assert comments[0] == comments[1]
            points = {f"check-{one['id'].replace('.', '-')}": one["points"] for one in grade["exercises"]}
            points |= {f"written-{one['id'].replace('.', '-')}": 0.0 for one in grade["written"] if not one["text"]}
            for row in rows:
                assert {one.name: one.auto_score for one in row.grades}.items() <= points.items()


def test_no_student_code_runs_outside_of_the_sandbox(course: Class) -> None:
    ran = nbformat.read(course.root / "autograded" / "right" / NAME / f"{NAME}.ipynb", as_version=4)
    tried = next(cell for cell in ran.cells if str(course.canary) in cell.source)
    assert tried.outputs[-1].output_type == "error"
    assert not course.canary.exists()


def test_what_was_given_by_hand_survives_and_being_late_costs(course: Class) -> None:
    row = course.exported["wrong"]
    with Gradebook(course.url) as gradebook:
        grade = gradebook.find_grade("check-1-4", NAME, NAME, "wrong")
        assert (grade.auto_score, grade.manual_score, grade.extra_credit) == (0.0, 11.0, 2.0)
    parts = [float(row[name]) for name in ("raw_score", "late_submission_penalty", "score")]
    assert parts == [93, 5, 88]
    assert float(course.exported["right"]["score"]) == 95
    assert float(course.exported["untouched"]["score"]) == 0


def test_feedback_is_our_page_with_the_marks_of_people(course: Class) -> None:
    page = course.page("wrong")
    assert "<b>88</b>" in page
    assert "5 points were subtracted" in page
    assert "The autograder gave 0" in page
    assert "A &lt;b&gt;fine&lt;/b&gt; idea." in page
    assert "Divide them by √d_k" in page  # the hint of the mistake
    assert "Your instructor" not in course.page("right")
    hidden = {
        line.strip()
        for one in lessons()[NAME].exercises
        for check in one.checks
        for line in source_of(check.probe).splitlines()
        if len(line.strip()) > 20
    }
    assert len(hidden) > 20
    for student in course.auto:
        page = course.page(student)
        assert f"Feedback for {student}" in page
        assert "Traceback" not in page
        assert not [line for line in hidden if line in page]
    released = list((course.exchange / "attention" / "feedback").iterdir())
    assert sorted(path.read_text("utf-8") for path in released) == sorted(map(course.page, course.auto))


def test_what_else_was_handed_in_is_not_handed_out(course: Class) -> None:
    for folder in ("autograded", "feedback"):
        held = {path.name for path in (course.root / folder / "wrong" / NAME).iterdir()}
        suffix = ".ipynb" if folder == "autograded" else ".html"
        assert held == {NAME + suffix, "timestamp.txt", "submission_secret.txt"}


@pytest.mark.slow(
    held_by="tests/notebooks/test_notebooks.py::test_where_nbgrader_validates_a_notebook_the_self_checks_raise"
)
def test_validate_says_what_is_not_solved_and_passes_the_solution(course: Class, tmp_path: Path) -> None:
    # As a student does it, where no configuration of ours is.
    shutil.copy(course.root / "notebooks" / NAME / f"{NAME}.ipynb", tmp_path)
    said = run_all((tmp_path, ("validate", f"{NAME}.ipynb")))
    assert "VALIDATION FAILED ON 9 CELL(S)" in said
    assert "☐ 1.4 attention — not solved yet." in said
    said = run_all((course.root, ("validate", f"solutions/{NAME}/{NAME}.ipynb")))
    assert "Success! Your notebook passes all the tests." in said


@pytest.mark.slow(
    held_by="tests/classes/gradebook/test_gradebook.py::test_a_fault_leaves_the_earlier_score_and_marks_it_as_earlier"
)
def test_a_fault_of_ours_is_no_zero_and_makes_no_old_grade_look_new(course: Class, copy: Class) -> None:
    (copy.root / "notebooks" / NAME / f"{NAME}.ipynb").write_text("{", "utf-8")
    stamp = copy.root / "submitted" / "wrong" / NAME / "timestamp.txt"
    stamp.write_text("2099-01-01 00:00:00.000000 UTC")
    # Without --force: nbgrader would skip what is there, but what a grade depends on has changed.
    said = run(copy.root, "nbgrader", "autograde", NAME, status=1)
    assert "a grader error, for which the student loses no points" in said
    assert copy.scores() == course.scores()
    assert not list((copy.root / "autograded").glob("*/*"))
    with Gradebook(copy.url) as gradebook, Gradebook(course.url) as before:
        submission = gradebook.find_submission(NAME, "wrong")
        assert submission.timestamp == before.find_submission(NAME, "wrong").timestamp
        assert submission.needs_manual_grade
        assert gradebook.find_comment("exercise-1-1", NAME, NAME, "wrong").auto_comment == WITHHELD


@pytest.mark.slow(held_by="tests/classes/workers/test_grade_key.py::test_what_a_grade_depends_on_is_in_its_key")
def test_only_what_changed_or_was_broken_off_is_autograded_again(copy: Class) -> None:
    """nbgrader itself skips every folder that is there."""
    broken_off = copy.root / "autograded" / "right" / NAME / f"{NAME}.ipynb"
    broken_off.unlink()
    broken_off.write_text('{\n "cells": [],\n "metadata": {}}')  # what the first pass leaves
    handed_in = copy.root / "submitted" / "untouched" / NAME / f"{NAME}.ipynb"
    handed_in.unlink()
    handed_in.write_text("{ cut off")
    said = run(copy.root, "nbgrader", "autograde", NAME)
    assert "Skipping existing assignment: " + str(copy.root / "autograded" / "wrong" / NAME) in said
    assert len(nbformat.read(broken_off, as_version=4).cells) > 9
    assert "unreadable: the file is not complete JSON" in said
    assert copy.scores() == {"right": 100, "wrong": 93, "untouched": 0}


@pytest.mark.slow(held_by="tests/submission/test_archive.py::test_the_services_layouts_are_known")
def test_zips_are_collected_by_the_services_ids_or_refused_whole(copy: Class) -> None:
    archive = copy.root / "downloaded" / NAME / "archive"
    archive.mkdir(parents=True)
    notebooks = {one: content(Example(student=one, assignment=NAME, score=None, about="")) for one in ("a", "b")}
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        file.writestr(f"lovelaceada_LATE_12345_678910_{NAME}-2.ipynb", notebooks["a"])
    with zipfile.ZipFile(archive / "moodle.zip", "w") as file:
        file.writestr(f"Grace Hopper_4711_assignsubmission_file/{NAME}.ipynb", notebooks["b"])
    with zipfile.ZipFile(archive / "damaged.zip", "w") as file:
        file.writestr(f"broken_1_2_{NAME}.ipynb", notebooks["a"])
        file.writestr("report_3_4_report.pdf", "%PDF")
        file.writestr(f"twice_5_6_{NAME}.ipynb", notebooks["a"])
        file.writestr(f"whole_7_8_{NAME}.ipynb", notebooks["b"])
        start = file.getinfo(f"broken_1_2_{NAME}.ipynb").header_offset
    damaged = bytearray((archive / "damaged.zip").read_bytes())
    damaged[start + 200] ^= 0xFF
    (archive / "damaged.zip").write_bytes(damaged)
    with zipfile.ZipFile(archive / "again.zip", "w") as file:
        file.writestr(f"twice_5_9_{NAME}.ipynb", notebooks["b"])
    said = run(copy.root, "nbgrader", "zip_collect", NAME)
    for student, one in (("12345", "a"), ("4711", "b"), ("7", "b")):
        assert (copy.root / "submitted" / student / NAME / f"{NAME}.ipynb").read_bytes() == notebooks[one]
    assert "1 is left out" in said
    assert "Download the zip again" in said
    assert "not a notebook: report.pdf" in said
    assert "5 is there twice" in said
    assert not {"1", "3", "5"} & {path.name for path in (copy.root / "submitted").iterdir()}
    with Gradebook(f"sqlite:///{copy.root / 'gradebook.db'}", course_id="attention") as gradebook:
        grace = gradebook.find_student("4711")
        assert (grace.first_name, grace.last_name, grace.lms_user_id) == ("Grace", "Hopper", "4711")
    with zipfile.ZipFile(archive / "hostile.zip", "w") as file:
        file.writestr(f"../../x_1_2_{NAME}.ipynb", notebooks["a"])
    said = run(copy.root, "nbgrader", "zip_collect", NAME, "--force", status=1)
    assert "hostile.zip is refused whole" in said
