"""The check of 2.3 on the aligner that a notebook trains: its probe, its unseen digits and its judge.

The judge computes the aligned tokens anew from the weights that the probe returns. It looks the labels of the
digits up itself: they are no input of the trial, because the inputs go into the sandbox, where student code
could read them.
"""

from collections.abc import Mapping
from typing import Any

import torch
from attention.data.digits import digits
from attention.experiments.matching import word_vectors
from torch import Tensor
from torch.nn import functional as F

from grader.declare.authoring import Case, Finding, Inputs, InputSampler, failed
from grader.judge.compare import difference

# The least share of unseen digits whose nearest word is their own; a trained linear aligner reaches 0.94 to
# 0.97.
MATCHING_GATE = 0.90


def draw_unseen_digits(sampler: InputSampler, count: int = 300) -> Inputs:
    """Draw `count` of the held-out digits, as patches without their labels."""
    held_out = digits("test")
    return {"patches": held_out.patches[sampler.permutation(len(held_out.patches))[:count]]}


def aligner_trained(aligner, words: Tensor, patches: Tensor) -> dict[str, Any]:
    """Return the trained aligner's weights, its words, and what it makes of the patches."""
    weight, bias = aligner.proj.weight, aligner.proj.bias
    with torch.no_grad():
        aligned = aligner(patches.to(weight.device))
    return {"weight": weight, "bias": bias, "words": words, "aligned": aligned}


def labels_of(patches: Tensor) -> Tensor:
    """Look up the labels of held-out patches (..., 64) by their pixels: the inputs hold no labels."""
    held_out = digits("test")
    rows = patches.reshape(-1, patches.shape[-1])
    nearest = torch.cdist(rows.double(), held_out.patches.double()).argmin(-1)
    return held_out.labels[nearest].reshape(patches.shape[:-1])


def unusable(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Return a message on the first tensor that is missing, not float32, misshapen or not finite, or ""."""
    for name, shape in shapes.items():
        tensor = values.get(name)
        if not isinstance(tensor, Tensor):
            return f"{name} is {type(tensor).__name__}, expected float32, {shape}"
        if tensor.dtype != torch.float32 or tuple(tensor.shape) != shape:
            text = f"{name} is {tensor.dtype}, {tuple(tensor.shape)}, expected float32, {shape}"
            return text.replace("torch.", "")
        if not tensor.isfinite().all():
            return f"{name} holds NaN or infinite numbers: the training ran away"
    return ""


def similarities(aligned: Tensor, words: Tensor) -> Tensor:
    """Compute the cosine similarity of each aligned token with each word."""
    return F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T


def matches_unseen(case: Case) -> Finding:
    """Pass if the weights give the aligned tokens, and enough digits are nearest to their own word.

    How many is not asked where the weights are the grader's own: then the tokens are the reference's, or wrong.
    """
    patches, got = case.inputs["patches"], dict(case.got)
    if weights := case.inputs.get("weights"):  # the grader's own, where a training is verified
        got |= {name.removeprefix("proj."): tensor for name, tensor in weights.items()}
    shapes = {"weight": (32, 64), "bias": (32,), "words": (10, 32), "aligned": (len(patches), 32)}
    if problem := unusable(got, shapes):
        return failed(problem)
    words = word_vectors(0)
    aligned = F.linear(patches, got["weight"], got["bias"])
    if difference("words", got["words"], words) or difference("aligned", got["aligned"], aligned, rtol=10 * case.rtol):
        return failed("the aligned tokens are not what the aligner's own weights give")
    right = (similarities(aligned, words).argmax(-1) == labels_of(patches)).double().mean().item()
    if right < MATCHING_GATE and "weights" not in case.inputs:
        return failed(f"{right:.0%} of unseen digits are nearest to their own word, {MATCHING_GATE:.0%} are asked")
    return Finding(passed=True)
