import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import CheckResult, Grade, Heatmap, Outcome, Verdict
from grader.report.jsonl import to_json
from grader.results.cache import GradeCache
from grader.results.cache_key import code_digest
from grader.submission.file import SubmissionFile
from grader.workers.grade_class import Course, _Preparation

ROOT = Path(__file__).resolve().parents[1]
GRADE = Grade(student="zoë", assignment="1-attention", status="graded", score=85.0, max_score=100.0)
FILES = {"autograded": "a digest"}


def test_a_grade_is_found_under_its_key_alone(tmp_path: Path) -> None:
    store = GradeCache(tmp_path)
    store.put(GRADE, "key", FILES)
    held = store.get("zoë", "1-attention", "key")
    assert (held.grade, held.files) == (GRADE, FILES)
    assert store.get("zoë", "1-attention", "other") is None
    assert store.get("zoe", "1-attention", "key") is None
    assert store.get("zoë", "2-heads", "key") is None


def test_a_rerun_has_the_grade_in_brief_and_its_line_as_it_was(tmp_path: Path) -> None:
    check = CheckResult(
        name="values", title="", outcome=Outcome.FAILED, points=0, max_points=5, message="off"
    )
    heatmap = Heatmap(title="t", got=((float("nan"),),), expected=((0.5,),))
    verdict = Verdict(
        id="1.1", name="f", title="F", outcome=Outcome.FAILED, points=0.0, max_points=5.0, message="m", hint="h",
        checks=(check,), heatmaps=(heatmap,),
    )  # fmt: skip
    grade = replace(GRADE, verdicts=(verdict,))
    line = GradeCache(tmp_path).put(grade, "key", FILES)
    held = GradeCache(tmp_path).get("zoë", "1-attention", "key")
    assert held.line == line == to_json(grade)
    assert held.brief.verdicts == (replace(verdict, checks=(), heatmaps=()),)
    assert to_json(held.grade) == line


def test_names_that_look_alike_are_two_students(tmp_path: Path) -> None:
    store = GradeCache(tmp_path)
    store.put(GRADE, "key", FILES)
    store.put(replace(GRADE, student="zoe\u0308", score=1.0), "key", FILES)
    assert [grade.score for grade in store.all()] == [1.0, 85.0]


def test_a_fault_is_kept_for_the_report_and_graded_anew(tmp_path: Path) -> None:
    store = GradeCache(tmp_path)
    store.put(replace(GRADE, status="fault", score=None), "key", FILES)
    assert store.get("zoë", "1-attention", "key") is None
    assert [grade.status for grade in store.all()] == ["fault"]


@pytest.mark.parametrize("cut", [20, -20])
def test_a_damaged_grade_is_graded_anew(tmp_path: Path, cut: int) -> None:
    store = GradeCache(tmp_path)
    store.put(GRADE, "key", FILES)
    (path,) = tmp_path.glob("*/*.json")
    path.write_text(path.read_text()[:cut])
    assert store.get("zoë", "1-attention", "key") is None
    assert list(store.all()) == []


def test_the_oldest_grades_are_dropped_beyond_the_limit(tmp_path: Path) -> None:
    store = GradeCache(tmp_path)
    for age, student in enumerate(("new", "old", "oldest")):
        store.put(replace(GRADE, student=student), "key", FILES)
        path = store._path(student, "1-attention")
        os.utime(path, (time.time() - age, time.time() - age))
    size = path.stat().st_size
    GradeCache(tmp_path, most_grades=2).trim()
    assert {grade.student for grade in store.all()} == {"new", "old"}
    GradeCache(tmp_path, most_bytes=size + 5).trim()
    assert {grade.student for grade in store.all()} == {"new"}
    store.trim()
    assert {grade.student for grade in store.all()} == {"new"}


def test_a_killed_runs_half_grade_is_swept_away_and_a_running_ones_is_not(tmp_path: Path) -> None:
    store = GradeCache(tmp_path)
    store.put(GRADE, "key", FILES)
    old, young = (tmp_path / "1-attention" / f"{name}.7.tmp" for name in ("old", "young"))
    for path in (old, young):
        path.write_text("{")
    os.utime(old, (0, 0))
    store.trim()
    assert not old.exists()
    assert young.exists()


@pytest.mark.parametrize(
    "changed", [{"secret": "b"}, {"device": "cuda"}, {"tier": "none"}, {"run_all": True}, {"content": "{ }"}]
)
def test_what_a_grade_depends_on_is_in_its_key(tmp_path: Path, changed: dict) -> None:
    def key(content: str = "{}", **settings: object) -> str:
        file = tmp_path / "1-attention.ipynb"
        file.write_text(content)
        course = Course(**{"root": ROOT, "secret": "a", "device": "cpu", "tier": "full", **settings})
        return _Preparation(course)(SubmissionFile("zoë", "1-attention", tmp_path, (file.name,))).key

    assert key() == key()
    assert key() != key(**changed)


def test_the_student_notebook_is_in_the_code_digest() -> None:
    assert code_digest(b"one") == code_digest(b"one")
    assert code_digest(b"one") != code_digest(b"another")
