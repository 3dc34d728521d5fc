"""Whose built-ins an exercise pays for: not for those of given code that its answer may call."""

import nbformat
import pytest

from grader.course import lessons
from grader.judge.built_ins import refuse_built_ins
from grader.paths import notebook_path, shipped_root
from grader.records import Outcome, Verdict
from grader.submission.rebuild import Rebuilt

SDPA, HEAD = "aten::_fused_sdp_choice", "multi_head_attention_forward"


@pytest.mark.parametrize(
    ("exercise", "call", "refused"),
    [
        ("1.3", ("aten::_softmax", "why-scale"), True),  # nothing declares that it may
        ("1.3", ("aten::_softmax", "stuck-1-3"), True),
        ("1.4", (SDPA, "stuck-1-6"), True),  # the stand-in for a later exercise
        ("1.6", (SDPA, "stuck-1-4"), False),
        ("1.6", (HEAD, "stuck-1-4"), True),  # not what that cell calls
        ("1.6", (SDPA, "1.4"), True),
        ("2.6", (SDPA, "provided-builtin"), False),
        ("2.6", (HEAD, "provided-builtin"), True),
        ("2.6", (SDPA, ""), True),
        ("2.7", (SDPA, "provided-builtin"), False),  # by way of 2.6
        ("2.7", (HEAD, "stuck-2-6"), False),
    ],
)
def test_an_answer_pays_for_given_code_unless_it_may_call_it(exercise: str, call: tuple, refused: bool) -> None:
    assignment = {"1": "1-attention", "2": "2-heads"}[exercise[0]]
    lesson = lessons()[assignment]
    notebook = nbformat.read(notebook_path(shipped_root(), assignment), as_version=4)
    verdicts = [
        Verdict(id=one.id, name=one.id, title="", outcome=Outcome.PASSED, points=1, max_points=1)
        for one in lesson.exercises
    ]
    rebuilt = Rebuilt(notebook=notebook, answers={}, own=())
    judged, flags = refuse_built_ins(lesson, rebuilt, verdicts, {exercise: [call]})
    assert [one.id for one in judged if one.outcome is Outcome.FAILED] == [exercise] * refused
    assert [(flag.kind, flag.exercise) for flag in flags] == [("uses-builtin", exercise)] * refused
