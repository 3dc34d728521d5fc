"""Grades in the cache: found under their key alone, kept for the report, dropped when old."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import CheckResult, Grade, Heatmap, Outcome, Verdict
from grader.report.jsonl import to_json
from grader.results.cache import GradeCache

GRADE = Grade(student="zoë", assignment="1-attention", status="graded", score=85.0, max_score=100.0)
FILES = {"autograded": "a digest"}


def test_a_grade_is_found_under_its_key_alone(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path)
    cache.put(GRADE, "key", FILES)
    cached = cache.get("zoë", "1-attention", "key")
    assert (cached.grade, cached.files) == (GRADE, FILES)
    assert cache.get("zoë", "1-attention", "other") is None
    assert cache.get("zoe", "1-attention", "key") is None
    assert cache.get("zoë", "2-heads", "key") is None


def test_a_rerun_has_the_grade_without_checks_and_its_line_as_it_was(tmp_path: Path) -> None:
    check = CheckResult(
        name="values", title="", outcome=Outcome.FAILED, points=0, max_points=5, message="off"
    )
    heatmap = Heatmap(title="t", got=((float("nan"),),), expected=((0.5,),))
    verdict = Verdict(
        id="1.1",
        name="f",
        title="F",
        outcome=Outcome.FAILED,
        points=0.0,
        max_points=5.0,
        message="m",
        hint="h",
        checks=(check,),
        heatmaps=(heatmap,),
    )
    grade = replace(GRADE, verdicts=(verdict,))
    line = GradeCache(tmp_path).put(grade, "key", FILES)
    cached = GradeCache(tmp_path).get("zoë", "1-attention", "key")
    assert cached.line == line == to_json(grade)
    assert cached.without_checks.verdicts == (replace(verdict, checks=(), heatmaps=()),)
    assert to_json(cached.grade) == line


def test_names_that_look_alike_are_two_students(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path)
    cache.put(GRADE, "key", FILES)
    cache.put(replace(GRADE, student="zoe\u0308", score=1.0), "key", FILES)
    assert [grade.score for grade in cache.all()] == [1.0, 85.0]


def test_a_fault_is_kept_for_the_report_and_graded_anew(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path)
    cache.put(replace(GRADE, status="fault", score=None), "key", FILES)
    assert cache.get("zoë", "1-attention", "key") is None
    assert [grade.status for grade in cache.all()] == ["fault"]


@pytest.mark.parametrize("cut", [20, -20])
def test_a_damaged_grade_is_graded_anew(tmp_path: Path, cut: int) -> None:
    cache = GradeCache(tmp_path)
    cache.put(GRADE, "key", FILES)
    (path,) = tmp_path.glob("*/*.json")
    path.write_text(path.read_text()[:cut])
    assert cache.get("zoë", "1-attention", "key") is None
    assert list(cache.all()) == []


def test_the_oldest_grades_are_dropped_beyond_the_limit(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path)
    for age, student in enumerate(("new", "old", "oldest")):
        cache.put(replace(GRADE, student=student), "key", FILES)
        path = cache._path(student, "1-attention")
        os.utime(path, (time.time() - age, time.time() - age))
    size = path.stat().st_size
    GradeCache(tmp_path, most_grades=2).trim()
    assert {grade.student for grade in cache.all()} == {"new", "old"}
    GradeCache(tmp_path, most_bytes=size + 5).trim()
    assert {grade.student for grade in cache.all()} == {"new"}
    cache.trim()
    assert {grade.student for grade in cache.all()} == {"new"}


def test_a_killed_runs_half_grade_is_swept_away_and_a_running_ones_is_not(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path)
    cache.put(GRADE, "key", FILES)
    old, young = (tmp_path / "1-attention" / f"{name}.7.tmp" for name in ("old", "young"))
    for path in (old, young):
        path.write_text("{")
    os.utime(old, (0, 0))
    cache.trim()
    assert not old.exists()
    assert young.exists()
