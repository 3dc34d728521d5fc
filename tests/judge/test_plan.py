from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
import torch

from corpus.judging import verdict
from corpus.planning import plan
from grader.course.lesson_1 import LESSON
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check
from grader.declare.probes import function_gradients
from grader.declare.sampler import InputSampler
from grader.declare.trial import Trial, describe
from grader.judge.planned_trial import plan_exercise, source_of
from grader.records import Outcome


def numbers(planned) -> dict[str, list]:
    """The real numbers of each trial; whole numbers, such as lengths, may come out the same twice."""
    return {one.key: [tensor.tolist() for tensor in real_tensors(one.inputs)] for one in planned}


def real_tensors(value) -> Iterator[torch.Tensor]:
    """The tensors of real numbers in a value, at any depth."""
    if isinstance(value, torch.Tensor):
        yield from (value,) if value.is_floating_point() else ()
    elif isinstance(value, (Mapping, list, tuple)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from real_tensors(part)


def test_the_same_secret_and_submission_give_the_same_hidden_inputs() -> None:
    assert numbers(plan(LESSON, "secret", "sha")) == numbers(plan(LESSON, "secret", "sha"))


@pytest.mark.parametrize("key", [("other", "sha"), ("secret", "other")])
def test_another_secret_or_submission_gives_other_hidden_inputs_and_the_same_public_ones(key) -> None:
    ours, theirs = numbers(plan(LESSON, "secret", "sha")), numbers(plan(LESSON, *key))
    for name, values in ours.items():
        if values:
            assert (theirs[name] == values) == ("/public/" in name), name


def test_every_check_that_is_run_after_its_exercise_has_hidden_trials() -> None:
    for exercise in LESSON.exercises:
        for check in exercise.checks:
            assert check.trials, f"{exercise.id}/{check.name}"


def test_a_probe_travels_with_the_functions_that_it_calls() -> None:
    source = source_of(function_gradients)
    names: dict = {"Tensor": torch.Tensor, "torch": torch}
    exec(source, names)
    arguments = {"query": torch.ones(2, 3), "key": torch.ones(5, 3)}
    report = names["function_gradients"](
        lambda query, key: query @ key.mT, arguments, ["scores"], {"scores": torch.ones(2, 5)}
    )
    assert report["inputs unchanged"] is True
    assert torch.equal(report["gradient of query"], torch.full((2, 3), 5.0))


def test_a_closure_is_no_probe() -> None:
    secret = 1

    def probe():
        return {"x": secret}

    with pytest.raises(ValueError, match="plain function of module level"):
        source_of(probe)


def test_sizes_are_described_in_words() -> None:
    assert describe({"queries": 5, "keys": 1, "d_k": 3}) == "5 queries, 1 key, d_k = 3"
    assert describe({"batch_shape": (2, 3), "dtype": torch.float64}) == "batch 2 × 3, float64"
    assert describe({"queries": 1, "patches": 1, "keys": 1}) == "1 query, 1 patch, 1 key"


def test_a_drawn_mask_keeps_and_drops_something_in_every_row() -> None:
    for seed in range(20):
        mask = InputSampler(str(seed)).mask(5, 7, 3)
        assert mask.any(-1).all()
        assert (~mask).any(-1).all()


FORGETFUL = """
seen = []
def attention_scores(query, key):
    again = any(query.shape == one.shape and torch.equal(query, one) for one in seen)
    seen.append(query.detach().clone())
    return query @ key.transpose(-2, -1) * (2 if again else 1)
"""


def test_an_answer_that_changes_its_mind_is_asked_again() -> None:
    steady = verdict(LESSON, LESSON.exercise("1.1"), FORGETFUL.replace("2 if again else 1", "1"))
    assert steady.outcome is Outcome.PASSED, steady.message
    changed = verdict(LESSON, LESSON.exercise("1.1"), FORGETFUL)
    assert changed.outcome is Outcome.FAILED
    assert "called again at the end" in changed.message


def test_only_one_trial_of_an_exercise_is_asked_again_and_only_where_it_is_cheap() -> None:
    planned = plan(LESSON, "secret", "sha")
    again = [trial for trial in planned if trial.key.endswith("-again")]
    assert len(again) == len({trial.exercise.id for trial in again}) <= len(LESSON.exercises)
    assert len(again) / len(planned) < 0.1
    assert all(trial.unchanging for trial in again)


def test_inputs_that_are_no_dict_are_refused_in_a_line() -> None:
    check = Check(
        name="values", title="", points=5, probe=lambda x: x, trials=(Trial("3 numbers", draw=lambda _: torch.ones(3)),)
    )
    exercise = replace(LESSON.exercise("1.2"), checks=(check,))
    with pytest.raises(
        DeclarationError, match=r"exercise 1\.2, check 'values': what draws its inputs returns a Tensor"
    ):
        plan_exercise(exercise, "secret", "submission")
