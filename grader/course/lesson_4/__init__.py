"""Lesson 4, declared: the lab. Does attention explain? Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from __future__ import annotations

from attention.multi_head import MultiHeadAttention

from grader.course.lesson_4.repair_aligner import ALIGNER_REPAIR
from grader.course.lesson_4.repair_bonus import BONUS_REPAIR
from grader.course.lesson_4.repair_mirror import MIRROR_REPAIR
from grader.course.lesson_4.repair_padding import PADDING_REPAIR
from grader.course.lesson_4.repair_scale import SCALE_REPAIR
from grader.course.lesson_4.short_training import TRAINED_IN_NOTEBOOK
from grader.declaration.lesson import Lesson

LESSON = Lesson(
    assignment="4-lab",
    title="Lab: does attention explain?",
    exercises=(
        # 4.1 to 4.4: do maps explain?
        # 4.5 to 4.9: repair
        PADDING_REPAIR,
        SCALE_REPAIR,
        ALIGNER_REPAIR,
        MIRROR_REPAIR,
        BONUS_REPAIR,
        # 4.10 to 4.14: modern attention
        # 4.15 to 4.17: three ways to bring the image in
    ),
    given={"MultiHeadAttention": MultiHeadAttention, **TRAINED_IN_NOTEBOOK},
    optional=True,
)
