"""Lesson 5, declared: the lab on pretrained models. It is optional, and has its own 100 points.

Each module declares related exercises, as in the other lessons. This file only puts them in order.
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
