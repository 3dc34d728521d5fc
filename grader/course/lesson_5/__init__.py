"""Lesson 5, declared: the lab on models that others trained. Optional, with 100 points of its own.

Each module declares related exercises, as in the other lessons. This file only puts them in their order.
"""

from attention.vit_layer import ViTLayer

from grader.course.lesson_5.contrastive import CONTRASTIVE, SIGMOID
from grader.course.lesson_5.real_eyes import REAL_EYES
from grader.course.lesson_5.retrieval import RANK, RECALL
from grader.course.lesson_5.shares import PATCH_MAP
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="5-real",
    title="Lab: real eyes, real words",
    exercises=(*REAL_EYES, CONTRASTIVE, SIGMOID, RANK, RECALL, PATCH_MAP),
    given={"ViTLayer": ViTLayer},
    optional=True,
)
