"""Lesson 2: token alignment and many heads.

Each module declares one or two exercises: functions that draw inputs, probes in addition to the
standard ones, recognised mistakes, and the Exercise itself. A probe is a function that calls the
student's code and returns the values to compare. This module only puts the exercises in order.
"""

from attention.experiments.reader import TwoCellReader

from grader.course.lesson_2.ablation import ABLATION
from grader.course.lesson_2.aligned_attention import ALIGNED
from grader.course.lesson_2.aligner import ALIGNER
from grader.course.lesson_2.alignment_loss import LOSS
from grader.course.lesson_2.explained_variance import VARIANCE
from grader.course.lesson_2.heads import MERGE, SPLIT
from grader.course.lesson_2.multi_head import MULTI_HEAD
from grader.course.lesson_2.pattern import PATTERN
from grader.course.lesson_2.practice import ENTROPY, FUSION
from grader.course.lesson_2.verified_trainings import ALIGNER_TRAINING, READER_TRAINING
from grader.declare.lesson import Lesson

LESSON = Lesson(
    assignment="2-heads",
    title="Token alignment and many heads",
    prepare=(ALIGNER_TRAINING.states, READER_TRAINING.states),
    cell_seconds={"train-reader": 120.0, "train-aligner": 60.0},
    exercises=(ALIGNER, VARIANCE, LOSS, SPLIT, MERGE, MULTI_HEAD, ALIGNED, ABLATION, ENTROPY, PATTERN, FUSION),
    # Names that the training cells define and probes ask for. The reference has no trained model, so they are
    # None.
    given={"aligner": None, "reader": None, "TwoCellReader": TwoCellReader},
)
