"""Lesson 4, declared: the lab. Does attention explain? Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from __future__ import annotations

from attention.builtin import MultiHeadAttention

from grader.course.lesson_4.caching import CACHE
from grader.course.lesson_4.grouped import GROUPED
from grader.course.lesson_4.rotary import ROTATE, ROTATE_2D
from grader.course.lesson_4.tiled import TILED
from grader.declaration.lesson import Lesson

LESSON = Lesson(
    assignment="4-lab",
    title="Lab: does attention explain?",
    exercises=(
        # 4.1 to 4.4: do maps explain?
        # 4.5 to 4.9: repair
        ROTATE,
        ROTATE_2D,
        GROUPED,
        TILED,
        CACHE,
        # 4.15 to 4.17: three ways to bring the image in
    ),
    given={"MultiHeadAttention": MultiHeadAttention},
    optional=True,
)
