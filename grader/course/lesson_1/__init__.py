"""Lesson 1, attention from scratch: nine exercises, one module for each group of related exercises.

In: the right definitions in `attention`. Out: LESSON, which `grader.course.lessons()` validates.
`shared` contains functions for several exercises. `verified_pointer` verifies the training run of
1.9.
"""

from attention.experiments.digit_pointer import Pointer

from grader.course.lesson_1.attention import ATTENTION
from grader.course.lesson_1.cross_attention import CROSS_ATTENTION
from grader.course.lesson_1.masks import MASKED, MASKS
from grader.course.lesson_1.pointer import POINTER
from grader.course.lesson_1.scores import SCALED, SCORES
from grader.course.lesson_1.self_attention import SELF_ATTENTION
from grader.course.lesson_1.softmax import SOFTMAX
from grader.course.lesson_1.verified_pointer import POINTER_TRAINING
from grader.declare.lesson import Lesson
from grader.records import Limits

LESSON = Lesson(
    assignment="1-attention",
    title="Attention from scratch",
    limits=Limits(given_seconds=10.0),
    prepare=(POINTER_TRAINING.states,),
    cell_seconds={"train-pointer": 60.0},
    exercises=(
        SCORES,  # in the order of the notebook
        SCALED,
        SOFTMAX,
        ATTENTION,
        MASKS,
        MASKED,
        SELF_ATTENTION,
        CROSS_ATTENTION,
        POINTER,
    ),
    given={"pointer": None, "Pointer": Pointer},
)
