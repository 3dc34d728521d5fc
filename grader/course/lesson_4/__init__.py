"""Lesson 4, declared: the lab. Does attention explain? Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from __future__ import annotations

from grader.course.lesson_4.ways import WAYS
from grader.declaration.lesson import Lesson

LESSON = Lesson(
    assignment="4-lab",
    title="Lab: does attention explain?",
    exercises=(
        # 4.1 to 4.4: do maps explain?
        # 4.5 to 4.9: repair
        # 4.10 to 4.14: modern attention
        *WAYS,
    ),
    given={},
)
