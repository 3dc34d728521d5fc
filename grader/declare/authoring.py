"""The names in `grader.declare` that most exercise files need, so that one import is enough.

The package `grader` exports the same names. The module `drawn` contains more ways to draw inputs
from shapes, and `probes` contains functions that probes share.
"""

from grader.declare.builtin_names import BuiltIn
from grader.declare.drawn import (
    Draw,
    and_more,
    chosen,
    drawn,
    drawn_layer,
    drawn_part,
    given,
    integers,
    mask,
    normal,
    then,
    weights_of,
    where_given,
)
from grader.declare.edits import edits, in_both
from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.layer_weights import build_quietly, draw_layer_weights
from grader.declare.lesson import SHORT, Lesson
from grader.declare.probes import failed, inputs_unchanged
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import draw_directions
from grader.declare.trial import Sizes, Trial, sizes, trials
from grader.declare.written_exercise import CheckSpec, written_exercise
from grader.records import Case, Finding, Inputs, Value

__all__ = [
    "SHORT",
    "BuiltIn",
    "Case",
    "Check",
    "CheckSpec",
    "Draw",
    "Exercise",
    "Finding",
    "InputSampler",
    "Inputs",
    "Lesson",
    "Mistake",
    "Sizes",
    "Trial",
    "Value",
    "and_more",
    "build_quietly",
    "chosen",
    "draw_directions",
    "draw_layer_weights",
    "drawn",
    "drawn_layer",
    "drawn_part",
    "edits",
    "failed",
    "given",
    "in_both",
    "inputs_unchanged",
    "integers",
    "mask",
    "normal",
    "sizes",
    "then",
    "trials",
    "weights_of",
    "where_given",
    "written_exercise",
]
