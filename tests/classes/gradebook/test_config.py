"""The course and the late penalty that nbgrader's configuration names."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError


def test_the_penalty_is_the_one_that_is_configured(tmp_path: Path):
    assert read_config(tmp_path).late_penalty("s1", 12.5, 60.0) is None
    config = tmp_path / "nbgrader_config.py"
    config.write_text("c = get_config()\n")
    assert read_config(tmp_path).late_penalty("s1", 12.5, 60.0) is None
    config.write_text("c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    assert read_config(tmp_path).late_penalty("s1", 12.5, 60.0) == 12.5


def test_the_course_is_the_one_that_is_configured(tmp_path: Path):
    assert read_config(tmp_path).course_id == "default_course"
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'attention'\n")
    assert read_config(tmp_path).course_id == "attention"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://eva:s3cret@host/grades",
        "postgresql://eva:s3c@ret@host/grades",
        "postgresql://host/grades?user=eva&password=s3cret",
        "postgresql://host/grades?sslpassword=s3cret",
        "mysql://eva:s3cret@host/grades",
    ],
)
def test_a_password_on_the_command_line_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(RecordError, match="PGPASSFILE") as refused:
        read_config(tmp_path, url)
    assert "s3c" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://eva@host/grades",
        "postgresql://host/grades?passfile=/here",
        "sqlite:////home/a:b@c/grades.db",
    ],
)
def test_an_address_without_a_password_is_taken(tmp_path: Path, url: str) -> None:
    assert read_config(tmp_path, url).gradebook == url
