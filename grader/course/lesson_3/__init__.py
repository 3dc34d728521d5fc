"""Lesson 3, declared: a small vision-language model.

Each module declares related exercises: functions that draw their hidden inputs, their probes, and
the exercises with their checks and recognised mistakes. A probe is a function that calls the
student's code and returns the values to compare. `verified_model` contains the checks of the
training run. This file only defines the order of the exercises.
"""

from attention.multi_head import MultiHeadAttention

from grader.course.lesson_3.block import BLOCK
from grader.course.lesson_3.diagnose import DIAGNOSE
from grader.course.lesson_3.generate import GENERATE
from grader.course.lesson_3.model import MINI_VLM
from grader.course.lesson_3.patches import PATCHIFY, SWAP
from grader.course.lesson_3.positions import POSITIONS
from grader.course.lesson_3.repair_freeze import FREEZE
from grader.course.lesson_3.repair_look import LOOK
from grader.course.lesson_3.repair_order import ORDER
from grader.course.lesson_3.targets import TARGETS
from grader.course.lesson_3.train_step import STEP
from grader.course.lesson_3.value_weighted import GROUNDING
from grader.course.lesson_3.verified_model import MODEL_TRAINING
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="3-vlm",
    title="A small vision-language model",
    exercises=(
        PATCHIFY,
        POSITIONS,
        BLOCK,
        MINI_VLM,
        TARGETS,
        STEP,
        GENERATE,
        GROUNDING,
        SWAP,
        DIAGNOSE,
        LOOK,
        FREEZE,
        ORDER,
    ),
    given={"MultiHeadAttention": MultiHeadAttention, "model": None},
    prepare=(MODEL_TRAINING.states,),
    cell_seconds={"train-vlm": 240.0, "train-nowhere": 120.0, "compare-queries": 240.0},
)
