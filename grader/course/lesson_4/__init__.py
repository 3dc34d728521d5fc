"""Lesson 4, declared: the lab on modern attention. It is optional, and has its own 100 points.

Each module declares related exercises, as in the other lessons. This file only puts them in order.
"""

from attention.multi_head import MultiHeadAttention

from grader.course.lesson_4.caching import CACHE
from grader.course.lesson_4.efficient import LINEAR, WINDOW
from grader.course.lesson_4.fused import FUSED
from grader.course.lesson_4.grouped import GROUPED
from grader.course.lesson_4.rotary import ROTATE, ROTATE_2D
from grader.course.lesson_4.tiled import TILED
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="4-modern",
    title="Lab: modern attention",
    exercises=(WINDOW, LINEAR, FUSED, TILED, ROTATE, ROTATE_2D, GROUPED, CACHE),
    given={"MultiHeadAttention": MultiHeadAttention},
    cell_seconds={"train-model": 240.0},
    optional=True,
)
