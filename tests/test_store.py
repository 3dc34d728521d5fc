from dataclasses import replace
from pathlib import Path

import pytest

from grader.exercise import Grade
from grader.store import Store, environment

ROOT = Path(__file__).resolve().parents[1]
GRADE = Grade(student="zoë", assignment="1-attention", status="graded", score=85.0, max_score=100.0)


def test_a_grade_is_found_under_its_key_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(GRADE, "key")
    assert store.get("zoë", "1-attention", "key") == GRADE
    assert store.get("zoë", "1-attention", "other") is None
    assert store.get("zoe", "1-attention", "key") is None
    assert store.get("zoë", "2-heads", "key") is None


def test_names_that_look_alike_are_two_students(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(GRADE, "key")
    store.put(replace(GRADE, student="zoe\u0308", score=1.0), "key")
    assert [grade.score for grade in store.all()] == [1.0, 85.0]


def test_a_fault_is_kept_for_the_report_and_graded_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(replace(GRADE, status="fault", score=None), "key")
    assert store.get("zoë", "1-attention", "key") is None
    assert [grade.status for grade in store.all()] == ["fault"]


def test_a_damaged_grade_is_graded_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(GRADE, "key")
    (path,) = tmp_path.glob("*/*.json")
    path.write_text(path.read_text()[:20])
    assert store.get("zoë", "1-attention", "key") is None
    assert list(store.all()) == []


@pytest.mark.parametrize("changed", [{"secret": "b"}, {"device": "cuda"}, {"isolation": "none"}])
def test_what_a_grade_depends_on_is_in_its_key(changed: dict) -> None:
    given = {"root": ROOT, "assignment": "1-attention", "secret": "a", "device": "cpu", "isolation": "full"}
    if not (ROOT / "notebooks" / "1-attention" / "1-attention.ipynb").is_file():
        pytest.fail("the student notebook is not built; run: grader build")
    assert environment(**given) == environment(**given)
    assert environment(**given) != environment(**{**given, **changed})
