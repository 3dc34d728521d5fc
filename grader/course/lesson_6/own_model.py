"""Checks the explanations of 6.1, 6.2 and 6.4 on the model that the notebook trained, for unseen questions.

The judge puts the weights that the sandbox returns into the reference's model, and explains the
same answers with the reference. So it does not matter how long the model was trained, or if it is
the student's own model of lesson 3.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from attention.activation_patching import patch_head as right_patch_head
from attention.data.tokens import PROMPT_LENGTHS, TASKS, draw_questions
from attention.experiments.recipe import MODEL
from attention.explanation_maps import attention_rollout as right_rollout
from attention.explanation_maps import gradient_attention as right_gradients
from attention.open_vlm import OpenVLM
from torch import Tensor

from grader.course.trainings.checks import load_returned
from grader.declare.authoring import Case, Finding, Inputs, InputSampler, Value, build_quietly, failed
from grader.judge.compare import compare


def draw_own_questions(sampler: InputSampler, *, scenes: int, task: str) -> Inputs:
    """Draw questions about scenes with digits of the test split."""
    questions = draw_questions(scenes, sampler.generator, "test", (task,), fewest=9, most=9)
    return {
        "token_ids": questions.token_ids[:, : PROMPT_LENGTHS[TASKS.index(task)]].clone(),
        "image_patches": questions.image_patches,
    }


def draw_own_twins(sampler: InputSampler, *, scenes: int, task: str, head: int) -> Inputs:
    """Draw questions as `draw_own_questions` does, with two images for each of them.

    "clean" is the question's own scene, and "twin" is the scene of the question before it. Add the
    index of the head.
    """
    questions = draw_own_questions(sampler, scenes=scenes, task=task)
    clean = questions["image_patches"]
    return {"token_ids": questions["token_ids"], "clean": clean, "twin": clean.roll(1, 0), "head": head}


def weights_as_they_are(model) -> Mapping[str, Tensor]:
    """Return copies of a model's present weights by name."""
    return {name: value.detach().cpu().clone() for name, value in model.named_parameters()}


def rollout_in_own(attention_rollout, model, token_ids: Tensor, image_patches: Tensor) -> Mapping[str, Value]:
    """Return the rollout of the model that the notebook trained, and the model's weights.

    The judge computes the rollout again from the weights.
    """
    state = weights_as_they_are(model)
    with torch.no_grad():
        seen = model.inside(token_ids, image_patches)
        found = attention_rollout(seen.self_maps, seen.cross_map)
    return {"map": found, "state": state}


def gradients_in_own(gradient_attention, model, token_ids: Tensor, image_patches: Tensor) -> Mapping[str, Value]:
    """Return the student's map for the highest score of the next word, and the model's weights."""
    state = weights_as_they_are(model)
    seen = model.inside(token_ids, image_patches)
    found = gradient_attention(seen.cross_map, seen.logits[:, -1].amax(-1))
    return {"map": found.detach() if isinstance(found, Tensor) else found, "state": state}


def patched_in_own(patch_head, model, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Mapping[str, Value]:
    """Return the logits of the model with one head's output from the twin, and the model's weights."""
    state = weights_as_they_are(model)
    logits = patch_head(model, head, token_ids, clean, twin)
    return {"logits": logits.detach() if isinstance(logits, Tensor) else logits, "state": state}


def on_own_model(
    probe: Callable[..., Mapping[str, Value]], right: Callable, draw: Callable[..., Inputs]
) -> dict[str, Any]:
    """Return the arguments of a `CheckSpec` that checks an explanation on the model that the notebook trained.

    Args:
        probe: called with the student's function, the model and the inputs. It returns the values
            to compare, and the model's weights as "state".
        right: the reference's function.
        draw: draws the inputs.
    """

    def judge(case: Case) -> Finding:
        model = build_quietly(OpenVLM, **MODEL)
        if problem := load_returned(model, case.got.get("state")):
            return failed(problem)
        expected = dict(probe(right, model.requires_grad_(True), **case.inputs))
        del expected["state"]
        got = {name: case.got.get(name) for name in expected}
        # Two blocks add up their rounding errors.
        finding = compare(got, expected, rtol=100 * case.rtol, device=case.device)
        if finding.passed:
            return finding
        return failed(f"on your trained model: {finding.message}")

    return dict(probe=probe, judge=judge, draw=draw)


OWN_ROLLOUT = on_own_model(rollout_in_own, right_rollout, draw_own_questions)
OWN_GRADIENTS = on_own_model(gradients_in_own, right_gradients, draw_own_questions)
OWN_PATCHING = on_own_model(patched_in_own, right_patch_head, draw_own_twins)
