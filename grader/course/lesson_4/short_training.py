"""The gate that each mended training of the lab must pass (exercises 4.5 to 4.9), and how that is verified cheaply.

The notebook trains a small model with the piece that the student mended. The judge does not trust what that model
answers: it puts the model's weights into one with the reference's piece, and counts itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch
from attention.experiments.short_trainings import GATE, ShortTraining, answers_and_maps, train_short
from torch import Tensor, nn

from grader.course.trainings.checks import begins
from grader.course.trainings.loaded import load_returned
from grader.course.trainings.recorded import Training
from grader.course.trainings.segment import weights_of
from grader.declare.authoring import SHORT, Case, Check, Finding, Inputs, InputSampler, Trial, Value, failed
from grader.declare.layer_weights import build_quietly
from grader.judge.compare import compare

NOT_BACK = "the weights of the trained model did not come back"

# Names that the cells of the notebook define, for `Lesson.given`: models, and the losses of their trainings.
TRAINED_IN_NOTEBOOK = {
    f"mended_{name}{kind}": None
    for name in ("padding", "scale", "aligner", "mirror", "bonus")
    for kind in ("", "_losses")
}


def mended_answers(mended, asked: list) -> Mapping[str, Value]:
    """Return the weights of the model that was trained anew, and its answers and maps."""
    device = next(mended.parameters()).device
    with torch.no_grad():
        logits, maps = mended(*(one.to(device) for one in asked))
    return {
        "state": {name: value.detach().cpu() for name, value in mended.named_parameters()},
        "logits": logits[:, 0].cpu(),
        "maps": maps[-1][:, 0, 0].cpu(),
    }


def mended_began(mended, losses) -> Mapping[str, Value]:
    """Return what the training cell left after a few steps: the losses, and the weights by name."""
    return {"losses": list(losses), "weights": weights_of(mended)}


def training_gate(training: ShortTraining, piece: Callable, name: str, at: str, points: float) -> Check:
    """Make the check of one mended training: on 500 unseen scenes its model gives what the right piece gives, and is mostly right.

    All that the student wrote is the piece, a function without a memory, and "values" and "conduct" have compared it
    with the reference. So a training that begins as the reference's goes on as the reference's, and no later state is kept.

    Args:
        piece: the right one.
        name: of the model in the notebook; its losses are NAME_losses.
        at: the id of the cell that trains it.
    """

    def draw(sampler: InputSampler) -> Inputs:
        examples = training.draw(500, sampler.generator, "test", 9, 9)
        return {"asked": list(examples.asked), "answers": examples.answers, "cells": examples.cells}

    def judge(case: Case) -> Finding:
        model = build_quietly(training.build, piece)
        if problem := load_returned(model, case.got.get("state"), NOT_BACK):
            return failed(problem)
        logits, maps = answers_and_maps(model, *case.inputs["asked"])
        got = {"logits": case.got.get("logits"), "maps": case.got.get("maps")}
        finding = compare(got, {"logits": logits, "maps": maps}, rtol=100 * case.rtol, device=case.device)
        if not finding.passed:
            return failed(f"{finding.message}, against the same weights with the mended piece")
        return judge_shares(logits.argmax(-1) == case.inputs["answers"], maps.argmax(-1) == case.inputs["cells"])

    train = partial(build_quietly, train_short, training, piece, 0)
    first_steps = Training(f"4-lab-{training.name}", lambda: train(steps=SHORT)[0], (SHORT,))
    needs = ("values", "conduct")
    start = begins(at, mended_began, _begun(train), first_steps, needs=needs)
    names = {"mended": name, "losses": f"{name}_losses"}
    return Check(
        name="mended",
        title="the training that you mended gives a model that answers and looks right",
        points=points,
        needs=needs,
        probe=mended_answers,
        names={"mended": name},
        judge=judge,
        at=at,
        seconds=30,
        trials=(Trial("500 unseen scenes", draw),),
        verified=(replace(start, points=points, names=names),),
    )


def _begun(train: Callable[..., tuple[nn.Module, list[float]]]) -> Callable[[], Mapping[str, Any]]:
    """Return a function that trains the reference for a few steps, once, and returns losses, weights and start."""

    @cache
    def begun() -> Mapping[str, Any]:
        (start, _), (model, losses) = train(steps=0), train(steps=SHORT)
        return {"losses": losses, "weights": weights_of(model), "start": weights_of(start)}

    return begun


def judge_shares(right: Tensor, on_patch: Tensor) -> Finding:
    """Pass if enough answers are right, and enough maps are largest on the right patch: (N,) bool each."""
    for share, what in ((right, "of the answers are right"), (on_patch, "of the maps are largest on the right patch")):
        if (found := share.double().mean().item()) < GATE:
            return failed(f"on unseen scenes {found:.0%} {what}, the gate asks for {GATE:.0%}")
    return Finding(passed=True)
