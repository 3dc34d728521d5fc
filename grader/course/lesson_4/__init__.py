"""Lesson 4, declared: the lab. Does attention explain? Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from attention.measures.faithfulness import value_weighted
from attention.multi_head import MultiHeadAttention
from attention.open_vlm import OpenVLM
from attention.vit_layer import ViTLayer

from grader.course.lesson_4.caching import CACHE
from grader.course.lesson_4.deletion import DELETION
from grader.course.lesson_4.gradient_attention import GRADIENT
from grader.course.lesson_4.grouped import GROUPED
from grader.course.lesson_4.patch_head import PATCH_HEAD
from grader.course.lesson_4.real_eyes import REAL_EYES
from grader.course.lesson_4.repair_aligner import ALIGNER_REPAIR
from grader.course.lesson_4.repair_bonus import BONUS_REPAIR
from grader.course.lesson_4.repair_mirror import MIRROR_REPAIR
from grader.course.lesson_4.repair_padding import PADDING_REPAIR
from grader.course.lesson_4.repair_scale import SCALE_REPAIR
from grader.course.lesson_4.rollout import ROLLOUT
from grader.course.lesson_4.rotary import ROTATE, ROTATE_2D
from grader.course.lesson_4.short_training import TRAINED_IN_NOTEBOOK
from grader.course.lesson_4.tiled import TILED
from grader.course.lesson_4.ways import WAYS
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="4-lab",
    title="Lab: does attention explain?",
    exercises=(
        *REAL_EYES,  # first in the notebook, with the highest numbers: the others had been given out
        ROLLOUT,
        GRADIENT,
        DELETION,
        PATCH_HEAD,
        PADDING_REPAIR,
        SCALE_REPAIR,
        ALIGNER_REPAIR,
        MIRROR_REPAIR,
        BONUS_REPAIR,
        ROTATE,
        ROTATE_2D,
        GROUPED,
        TILED,
        CACHE,
        *WAYS,
    ),
    given={
        "MultiHeadAttention": MultiHeadAttention,
        "OpenVLM": OpenVLM,
        "ViTLayer": ViTLayer,
        "value_weighted": value_weighted,
        "model": None,  # lesson 3's, trained in the notebook
        **TRAINED_IN_NOTEBOOK,
    },
    cell_seconds={"train-model": 240.0},
    optional=True,
)
