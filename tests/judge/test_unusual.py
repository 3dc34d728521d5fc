"""What an answer calls that no answer needs is flagged, and arithmetic is not."""

import inspect

import nbformat
import pytest

from corpus.answers import BLIND, answers
from grader.course import lessons
from grader.judge.built_ins import refuse_built_ins
from grader.judge.from_scratch import unusual
from grader.judge.reach import StudentCode
from grader.records import Outcome, Verdict
from grader.submission.rebuild import Rebuilt

EXERCISES = {one.id: (lesson, one) for lesson in lessons().values() for one in lesson.exercises if one.bans}
BODY = "def stable_softmax(scores, dim=-1):\n    return {}"


def found(source: str, exercise: str = "1.3") -> tuple[str, ...]:
    lesson, one = EXERCISES[exercise]
    return unusual(StudentCode(source), one.defines, lesson.definitions)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (BODY.format("F.ctc_loss(scores, scores, [1], [1])"), ("ctc_loss",)),
        (BODY.format("getattr(F, 'gumbel_softmax')(scores)"), ("gumbel_softmax",)),
        (BODY.format("scores.cdist(scores)"), ("cdist",)),
        (BODY.format("nn.AdaptiveLogSoftmaxWithLoss(3, 3, [1])(scores)"), ("AdaptiveLogSoftmaxWithLoss",)),
        (BODY.format("nn.GRU(3, 3)(scores)"), ("GRU",)),
        (BODY.format("torch.special.log_ndtr(scores)"), ("log_ndtr",)),
        ("from sklearn.neighbors import KernelDensity\n" + BODY.format("KernelDensity()"), ("the library sklearn",)),
        ("import scipy.stats as st\n" + BODY.format("st.norm.pdf(scores)"), ("the library scipy",)),
        ("from torch.nn.functional import ctc_loss as f\n" + BODY.format("f(scores)"), ("ctc_loss",)),
        (
            "import importlib\nD = importlib.import_module('sklearn.neighbors')\n" + BODY.format("D"),
            ("the library sklearn",),
        ),
        (
            "import pkgutil\nD = pkgutil.resolve_name('onnxruntime:Session')\n" + BODY.format("D"),
            ("the library onnxruntime",),
        ),
        (BODY.format("torch.empty_like(scores).fill_(1.0)"), ()),
        ("mine = F.nll_loss\n" + BODY.format("mine(scores)"), ("nll_loss",)),
        # What is not reached does not count, and neither does what the student has named so.
        ("import sklearn\n" + BODY.format("scores"), ()),
        ("def test():\n    return F.ctc_loss\n" + BODY.format("scores"), ()),
        ("def cdist(a):\n    return a\n" + BODY.format("cdist(scores)"), ()),
    ],
)
def test_what_no_answer_needs_is_named(source: str, names: tuple[str, ...]) -> None:
    assert found(source) == names


def test_no_right_answer_is_unusual() -> None:
    written = [(one.exercise, one.source) for corpus in BLIND for one in answers(corpus) if one.right]
    written += [(one.exercise, one.source) for one in answers("variants")]
    written += [(id, "\n".join(map(inspect.getsource, one.reference))) for id, (_, one) in EXERCISES.items()]
    asked = [(id, source) for id, source in written if id in EXERCISES]
    assert len(asked) > 150
    assert [(id, names, source) for id, source in asked if (names := found(source, id))] == []


def test_it_is_flagged_and_costs_nothing() -> None:
    lesson = lessons()["1-attention"]
    full = tuple(
        Verdict(id=one.id, name="", title="", outcome=Outcome.PASSED, points=one.points, max_points=one.points)
        for one in lesson.exercises
    )
    answer = BODY.format("F.ctc_loss(scores, scores, [1], [1])")
    rebuilt = Rebuilt(notebook=nbformat.v4.new_notebook(), answers={"1.3": answer, "1.1": answer}, own=())
    verdicts, flags = refuse_built_ins(lesson, rebuilt, full, {})
    assert verdicts == full
    assert [(flag.kind, flag.exercise, flag.detail) for flag in flags] == [("unusual-call", "1.3", "ctc_loss")]
