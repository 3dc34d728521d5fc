"""The lab's explanations on the notebook's own model: judged against the weights that come back, whatever they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from attention.experiments.recipe import MODEL
from attention.open_vlm import OpenVLM

from grader.course import lessons
from grader.judge.planned_trial import plan_exercise
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import judge
from grader.records import Evidence, Outcome, Verdict

LESSON = lessons()["6-explain"]
CHECK = "own model"
EXERCISES = ["6.1", "6.2", "6.4"]


def evidence_of(id: str, model: OpenVLM, replaces: Mapping[str, object] | None = None) -> dict[str, Evidence]:
    """What comes back of a right answer, or of one with some definitions replaced."""
    exercise = LESSON.exercise(id)
    names = {**LESSON.reference, "model": model, **(replaces or {})}
    planned = plan_exercise(exercise, "own", "model")
    return {trial.key: run_here(trial.check, names, trial.inputs, trial.key) for trial in planned}


def verdict_on(id: str, evidence: Mapping[str, Evidence]) -> Verdict:
    exercise = LESSON.exercise(id)
    planned = plan_exercise(exercise, "own", "model")
    return judge(exercise, planned, evidence, ReferenceResults(LESSON.reference))


def outcome_of(verdict: Verdict) -> tuple[Outcome, str]:
    (check,) = (check for check in verdict.checks if check.name == CHECK)
    return check.outcome, check.message


@pytest.mark.parametrize("id", EXERCISES)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_right_answer_passes_with_any_weights(id: str, scale: float) -> None:
    model = OpenVLM(**MODEL)
    with torch.no_grad():
        for weight in model.parameters():
            weight *= scale
    verdict = verdict_on(id, evidence_of(id, model))
    assert verdict.points == verdict.max_points
    assert outcome_of(verdict)[0] is Outcome.PASSED


def test_what_is_right_on_small_inputs_alone_is_refused() -> None:
    right = LESSON.reference["attention_rollout"]

    def of_few_patches(self_maps, cross_map):
        return right(self_maps[-1:] if cross_map.shape[-1] == 9 else self_maps, cross_map)

    verdict = verdict_on("6.1", evidence_of("6.1", OpenVLM(**MODEL), {"attention_rollout": of_few_patches}))
    outcome, message = outcome_of(verdict)
    assert outcome is Outcome.FAILED
    assert "on your trained model: map: off by" in message
    assert verdict.points == verdict.max_points - 2


@pytest.mark.parametrize("id", EXERCISES)
@pytest.mark.parametrize("state", [None, {}, {"head.weight": torch.ones(2, 2)}, "weights"])
def test_weights_that_do_not_come_back_are_named(id: str, state: object) -> None:
    evidence = evidence_of(id, OpenVLM(**MODEL))
    key = f"{id}/{CHECK}/hidden/0"
    evidence[key] = replace(evidence[key], values={**evidence[key].values, "state": state})
    outcome, message = outcome_of(verdict_on(id, evidence))
    assert outcome is Outcome.FAILED
    assert message.endswith("the weights of the lesson's model are missing")


def test_weights_that_are_put_in_place_of_the_models_are_no_other_models_explanation() -> None:
    evidence, other = evidence_of("6.2", OpenVLM(**MODEL)), evidence_of("6.2", OpenVLM(**MODEL))
    key = f"6.2/{CHECK}/hidden/0"
    evidence[key] = replace(evidence[key], values={**evidence[key].values, "state": other[key].values["state"]})
    assert outcome_of(verdict_on("6.2", evidence))[0] is Outcome.FAILED
