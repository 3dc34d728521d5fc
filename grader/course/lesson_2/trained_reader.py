"""The check of 2.6 on the reader that a notebook trains around the student's layer: its probe, its scenes, its judge.

The judge computes logits and maps anew from the weights that the probe returns.
"""

from collections.abc import Mapping
from typing import Any

import torch
from attention.experiments.reader import TwoCellReader, draw_reading
from torch import Tensor

from grader.course.lesson_2.trained_aligner import labels_of, unusable
from grader.declare.authoring import Case, Finding, Inputs, InputSampler, failed
from grader.judge.compare import difference

# The least share of unseen scenes on which the reader names both digits rightly; four heads reach 0.94 to
# 0.97.
READING_GATE = 0.90
# For each of the two named cells, the best head must give it the largest weight on at least this share of the
# scenes; four heads reach 0.99 to 1.
LOOKING_GATE = 0.90


def draw_reading_scenes(sampler: InputSampler, scenes: int = 400) -> Inputs:
    """Draw scenes of held-out digits, and for each the indices of the two cells to be read."""
    patches, cells, _ = draw_reading(scenes, sampler.generator, "test")
    return {"patches": patches, "cells": cells}


def reader_trained(reader, patches: Tensor, cells: Tensor) -> dict[str, Any]:
    """Return the trained reader's weights, and its answers and maps on the scenes."""
    names = """
        aligner.0.weight aligner.0.bias aligner.2.weight aligner.2.bias positions first.weight second.weight
        attention.W_Q.weight attention.W_K.weight attention.W_V.weight attention.W_O.weight
        digits.weight digits.bias
    """
    state = {name: reader.get_parameter(name) for name in names.split()}
    reader.eval()
    with torch.no_grad():
        logits, maps = reader(patches.to(reader.positions.device), cells.to(reader.positions.device))
    return {"state": state, "logits": logits, "maps": maps}


def reads_unseen(case: Case) -> Finding:
    """Judge the trained reader.

    Logits and maps must be what the weights give, both digits must be right on enough scenes, and for each of
    the two named cells one head must look at it on enough scenes. On how many is not asked where the weights are the
    grader's own: then logits and maps are the reference's, or wrong.
    """
    patches, cells = case.inputs["patches"], case.inputs["cells"]
    reader = TwoCellReader(num_heads=4)
    shapes = {name: tuple(parameter.shape) for name, parameter in reader.named_parameters()}
    state = case.inputs.get("weights", case.got.get("state"))  # the grader's own, where a training is verified
    if not isinstance(state, Mapping):
        return failed("the reader's weights did not come back")
    count = len(patches)
    problem = unusable(state, shapes) or unusable(case.got, {"logits": (count, 2, 10), "maps": (count, 4, 9)})
    if problem:
        return failed(problem)
    reader.load_state_dict({name: state[name] for name in shapes})
    with torch.no_grad():
        logits, maps = reader.eval()(patches, cells)
    for name, want in (("logits", logits), ("maps", maps)):
        if problem := difference(name, case.got[name], want, rtol=30 * case.rtol):
            return failed(f"on unseen scenes {problem}, from the same weights")
    if "weights" in case.inputs:
        return Finding(passed=True)
    both = (logits.argmax(-1) == labels_of(patches).gather(1, cells)).all(1).double().mean().item()
    if both < READING_GATE:
        return failed(f"both digits are right on {both:.0%} of unseen scenes, {READING_GATE:.0%} are asked")
    looks = (maps.argmax(-1, keepdim=True) == cells.unsqueeze(1)).double().mean(0)  # (H, 2)
    least = looks.max(0).values.min().item()
    if least < LOOKING_GATE:
        return failed(f"one of the named cells has no head of its own: the best looks there in {least:.0%}")
    return Finding(passed=True)
