"""Verdicts are explained: declared mistakes; on a small exercise of its own."""

import pytest
import torch
from torch import Tensor

from corpus.planning import plan
from grader.declare.exercise import Mistake
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler
from grader.declare.trial import sizes
from grader.declare.written_exercise import CheckSpec, written_exercise
from grader.explain.diagnose import diagnose, wrong_answer
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge_trials, verdict_of
from grader.records import Evidence, Outcome, Status


def weigh(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """Weigh keys: (Q, K) from (Q, d) and (K, d)."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), -1)


def raw(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return scores if mask is None else scores.masked_fill(~mask, -torch.inf)


def crashes(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    raise ValueError(f"no {key.shape[-2]}")


def draw(sampler: InputSampler, *, queries: int, keys: int, d_k: int, masked: bool = False):
    inputs = {"query": sampler.normal(queries, d_k), "key": sampler.normal(keys, d_k)}
    return {**inputs, "mask": sampler.mask(queries, keys)} if masked else inputs


EXERCISE = written_exercise(
    "9.1 Weigh",
    weigh,
    (
        CheckSpec("values", 1, "weights", trials=[sizes(queries=3, keys=5, d_k=2), sizes(queries=4, keys=4, d_k=3)]),
        CheckSpec("masked", 1, "masked", needs=(), trials=[sizes(queries=3, keys=5, d_k=2, masked=True)]),
        CheckSpec("conduct", 1, trials=[sizes(queries=3, keys=5, d_k=2)]),
    ),
    draw=draw,
    returns=("weights",),
    difficulty=1,
    minutes=1,
    mistakes=(
        Mistake("raw", {"weigh": raw}, "There is no softmax."),
        Mistake("crashes", {"weigh": crashes}, "It must not crash."),
    ),
)
LESSON = Lesson(assignment="9-weigh", title="Weigh", exercises=(EXERCISE,))
PLANNED = plan(LESSON, "secret", "sha")


def explained(answer):
    """The verdict on an answer, with its explanation."""
    evidence = {trial.key: run_here(trial.check, {"weigh": answer}, trial.inputs, trial.key) for trial in PLANNED}
    return of_evidence(evidence)


def of_evidence(evidence):
    results = ReferenceResults(LESSON.reference)
    tried = judge_trials(PLANNED, evidence, results)
    verdict = verdict_of(EXERCISE, tried, results)
    return diagnose(verdict, wrong_answer(EXERCISE, verdict, tried, results))


def test_a_right_answer_gets_no_explanation():
    right = explained(lambda query, key, mask=None: weigh(query, key, mask))
    assert (right.outcome, right.hint, right.diagnosis) == (Outcome.PASSED, "", "")


def test_a_declared_mistake_is_named():
    wrong = explained(raw)
    assert (wrong.mistake, wrong.hint, wrong.diagnosis) == ("raw", "There is no softmax.", "mistake")


def test_a_mistake_that_raises_is_named_by_its_message_and_not_by_its_class_alone():
    def other(query, key, mask=None):
        raise ValueError("something else")

    assert explained(crashes).mistake == "crashes"
    assert explained(other).mistake is None


@pytest.mark.parametrize(
    "answer",
    [
        lambda query, key, mask=None: weigh(query, key),
        lambda query, key, mask=None: weigh(key[: len(query)], key, mask),
        lambda query, key, mask=None: torch.rand(len(query), len(key)),
    ],
)
def test_what_nobody_declared_is_not_named_as_what_somebody_did(answer):
    wrong = explained(answer)
    assert (wrong.outcome, wrong.mistake, wrong.diagnosis) == (Outcome.FAILED, None, "")


def test_an_answer_that_was_not_called_is_not_explained():
    def unsolved(query, key, mask=None):
        raise NotImplementedError("TODO 9.1")

    assert explained(unsolved).hint == ""
    missing = {
        trial.key: Evidence(
            key=trial.key, status=Status.RAISED, error="NameError", message="name 'weigh' is not defined"
        )
        for trial in PLANNED
    }
    assert of_evidence(missing).hint == ""
