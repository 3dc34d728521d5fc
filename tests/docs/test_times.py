"""docs/students.md says how long the lessons take; the minutes of the exercises are declared."""

import re
from pathlib import Path

from grader.course import lessons

ROOT = Path(__file__).resolve().parents[2]
COURSE = ("1-attention", "2-heads", "3-vlm")


def test_the_minutes_of_exercises_are_those_declared() -> None:
    page = " ".join((ROOT / "docs" / "students.md").read_text("utf-8").split())
    sums = [sum(one.minutes for one in lessons()[name].exercises if one.points) for name in COURSE]
    assert re.findall(r"(\d+) to (\d+) minutes of exercises", page) == [(str(min(sums)), str(max(sums)))]


def test_no_page_promises_less_time_than_a_lesson_takes() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "solutions" / "1-attention.py"):
        assert not re.search(r"60 (?:to|–|-) ?90\s+minutes", page.read_text("utf-8")), page.name
