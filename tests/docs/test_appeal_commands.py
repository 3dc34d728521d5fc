"""The commands of docs/instructors.md about appeals, as they stand there but for the submission that they name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from grader.classes.gradebook.reader import read_class
from tests.classes.gradebook.read_exports import score_on
from tests.classes.gradebook.small_course import COURSE, SmallCourse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instructors.md"
BLOCK = re.compile(r"^<!-- not run: tests/docs/test_appeal_commands.py [^\n]*-->\n```sh\n(.*?)^```", re.M | re.S)


def test_an_appeal_as_the_page_describes_it(tmp_path: Path) -> None:
    (block,) = BLOCK.findall(PAGE.read_text("utf-8"))
    add, show, decide = (shlex.split(line)[1:] for line in block.splitlines())
    course = SmallCourse.make(tmp_path / "course")
    course.submit("s1", "1.1")
    course.grade()
    (entry,) = read_class(course.url, COURSE)
    add[add.index("3f9a2c71")] = entry.grade.submission_sha256[:8]
    course.grader(*add)
    assert "s1" in course.grader(*show)
    assert "no decision yet" in course.page("s1")
    course.grader(*decide)
    page = course.page("s1")
    assert (score_on(page), "the factor is in the query" in page) == ("9", True)
