"""What the file of an exercise is written with: everything of `grader.declare` that most of them need, in one import.

How inputs are drawn from shapes is in `drawn`, what probes share in `probes`, an exercise in a few lines in `short_form`.
"""

# ruff: noqa: F401  (the files of exercises import them from here)
from grader.declare.builtin_names import BuiltIn
from grader.declare.edits import edits, in_both
from grader.declare.exercise import Check, Exercise, mistake, mistakes_in
from grader.declare.lesson import SHORT, Lesson
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import draw_directions, further_check
from grader.declare.trial import Trial, trials
from grader.declare.written_exercise import written_exercise
