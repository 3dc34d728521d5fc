"""The gate that a repaired training must pass: its probe, its unseen scenes and its judge (exercises 3.P5 to 3.P7).

The notebook trains a pocket-sized model with the piece that the student mended. The judge does not trust what that model
answers: it rebuilds the model from its weights, with the reference's own wiring, and counts itself.
"""

from collections.abc import Mapping

import torch
from attention.experiments.pocket_vlm import PocketVLM, pocket_questions
from torch import Tensor

from grader.course.trainings.loaded import load_returned
from grader.declare.authoring import Case, Check, Finding, Inputs, InputSampler, Value, build_quietly, failed, trials
from grader.judge.compare import compare

# The least shares on full scenes of unseen images. A healthy training is far above both, a broken one near 0.1.
RIGHT_GATE, ON_PATCH_GATE = 0.85, 0.90


def draw_unseen(sampler: InputSampler, *, scenes: int) -> Inputs:
    """Draw full scenes of held-out digits, the word that asks about each, the right answers and cells."""
    questions = pocket_questions(scenes, sampler.generator, "test")
    return {
        "words": questions.token_ids[:, :1].clone(),
        "patches": questions.image_patches,
        "truth": questions.token_ids[:, 1].clone(),
        "cells": questions.cells[:, 0].clone(),
    }


def repaired_answers(repaired, words: Tensor, patches: Tensor) -> Mapping[str, Value]:
    """Return the weights of the model that was trained anew, and its answers and maps."""
    device = next(repaired.parameters()).device
    with torch.no_grad():
        logits, maps = repaired(words.to(device), patches.to(device))
    return {
        "state": {name: value.detach().cpu() for name, value in repaired.named_parameters()},
        "logits": logits[:, 0].cpu(),
        "maps": maps[-1].mean(1)[:, 0].cpu(),
    }


def judge_repaired(case: Case) -> Finding:
    """Pass if the weights give these answers and maps, and enough of both are right."""
    model = build_quietly(PocketVLM)
    missing = "the weights of the model that was trained anew did not come back"
    if problem := load_returned(model, case.got.get("state"), missing):
        return failed(problem)
    with torch.no_grad():
        logits, maps = model(case.inputs["words"], case.inputs["patches"])
    computed = {"logits": logits[:, 0], "maps": maps[-1].mean(1)[:, 0]}
    got = {name: case.got.get(name) for name in computed}
    finding = compare(got, computed, rtol=100 * case.rtol, device=case.device)
    if not finding.passed:
        return failed(f"{finding.message}, against the same weights without the mistake")
    right = (computed["logits"].argmax(-1) == case.inputs["truth"]).double().mean().item()
    on_patch = (computed["maps"].argmax(-1) == case.inputs["cells"]).double().mean().item()
    if right < RIGHT_GATE:
        text = "of the questions about unseen scenes are answered right"
        return failed(f"{right:.0%} {text}, at least {RIGHT_GATE:.0%} are asked")
    if on_patch < ON_PATCH_GATE:
        text = f"the model looks at the right patch {on_patch:.0%} of the time"
        return failed(f"{text}, at least {ON_PATCH_GATE:.0%} is asked")
    return Finding(passed=True)


def gate(model: str, at: str) -> Check:
    """Make the check of one repaired training.

    Args:
        model: the name that the notebook gives to the model that it trained anew.
        at: the id of the cell that trains it.
    """
    return Check(
        name="repaired",
        needs=("values",),
        title="the training that you repaired gives a model that answers and looks right",
        points=0,
        probe=repaired_answers,
        names={"repaired": model},
        judge=judge_repaired,
        at=at,
        verified=(),  # it gives no points: the training runs in the student's notebook, and not once more here
        trials=trials(draw_unseen, dict(scenes=500)),
    )
