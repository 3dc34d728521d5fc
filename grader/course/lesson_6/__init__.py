"""Lesson 6, declared: the lab that asks if attention maps explain answers. It is optional, and has its own 100 points.

Each module declares related exercises, as in the other lessons. This file only puts them in order.
"""

from attention.measures.faithfulness import value_weighted
from attention.multi_head import MultiHeadAttention
from attention.open_vlm import OpenVLM

from grader.course.lesson_6.deletion import DELETION
from grader.course.lesson_6.gradient_attention import GRADIENT
from grader.course.lesson_6.patch_head import PATCH_HEAD
from grader.course.lesson_6.repair_aligner import ALIGNER_REPAIR
from grader.course.lesson_6.repair_bonus import BONUS_REPAIR
from grader.course.lesson_6.repair_mirror import MIRROR_REPAIR
from grader.course.lesson_6.repair_padding import PADDING_REPAIR
from grader.course.lesson_6.repair_scale import SCALE_REPAIR
from grader.course.lesson_6.rollout import ROLLOUT
from grader.course.lesson_6.short_training import TRAINED_IN_NOTEBOOK
from grader.course.lesson_6.ways import WAYS
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="6-explain",
    title="Lab: does attention explain?",
    exercises=(
        ROLLOUT,
        GRADIENT,
        DELETION,
        PATCH_HEAD,
        PADDING_REPAIR,
        SCALE_REPAIR,
        ALIGNER_REPAIR,
        MIRROR_REPAIR,
        BONUS_REPAIR,
        *WAYS,
    ),
    given={
        "MultiHeadAttention": MultiHeadAttention,
        "OpenVLM": OpenVLM,
        "value_weighted": value_weighted,
        "model": None,  # lesson 3's, trained in the notebook
        **TRAINED_IN_NOTEBOOK,
    },
    cell_seconds={"train-model": 240.0},
    optional=True,
)
