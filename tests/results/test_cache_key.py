"""What a grade's key depends on: the submission, the settings, the notebook, and the grader's own code."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.records import GradingSettings
from grader.results.cache_key import code_digest
from grader.submission.file import SubmissionFile
from grader.workers.job import Course, JobMaker

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "changed", [{"secret": "b"}, {"device": "cuda"}, {"tier": "none"}, {"run_all": True}, {"content": "{ }"}]
)
def test_what_a_grade_depends_on_is_in_its_key(tmp_path: Path, changed: dict) -> None:
    def key(content: str = "{}", **settings: object) -> str:
        file = tmp_path / "1-attention.ipynb"
        file.write_text(content)
        chosen = GradingSettings(**{"secret": "a", "device": "cpu", "tier": "full", **settings})
        make_job = JobMaker(Course(root=ROOT, settings=chosen))
        return make_job(SubmissionFile("zoë", "1-attention", tmp_path, (file.name,))).key

    assert key() == key()
    assert key() != key(**changed)


def test_the_student_notebook_is_in_the_code_digest() -> None:
    assert code_digest(b"one") == code_digest(b"one")
    assert code_digest(b"one") != code_digest(b"another")
