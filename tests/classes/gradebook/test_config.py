"""The course and the late penalty that nbgrader's configuration names."""

from __future__ import annotations

from pathlib import Path

from grader.classes.gradebook.config import read_config


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
