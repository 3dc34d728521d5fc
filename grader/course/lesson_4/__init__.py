"""Lesson 4, declared: the lab. Does attention explain? Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from __future__ import annotations

from attention.explained import value_weighted
from attention.open_vlm import OpenVLM

from grader.course.lesson_4.deletion import DELETION
from grader.course.lesson_4.gradient_attention import GRADIENT
from grader.course.lesson_4.patch_head import PATCH_HEAD
from grader.course.lesson_4.rollout import ROLLOUT
from grader.declaration.lesson import Lesson

LESSON = Lesson(
    assignment="4-lab",
    title="Lab: does attention explain?",
    exercises=(
        # 4.1 to 4.4: do maps explain?
        ROLLOUT,
        GRADIENT,
        DELETION,
        PATCH_HEAD,
        # 4.5 to 4.9: repair
        # 4.10 to 4.14: modern attention
        # 4.15 to 4.17: three ways to bring the image in
    ),
    given={"OpenVLM": OpenVLM, "value_weighted": value_weighted},
)
