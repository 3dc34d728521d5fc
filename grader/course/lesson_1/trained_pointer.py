"""What is asked of the pointer that a submission trained, and how it is judged.

The judge never takes the pointer's word. Its weights come back as tensors; the reference computes the maps from them,
and what the submission's own attention returned must be those maps. The weights must also be kin to the start that the
seed draws: 300 steps turn them by less than that, and weights from elsewhere have nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.pointing import Pointer, draw_looks, draw_start, found
from torch import Tensor

from grader.checks.compare import compare
from grader.declaration.sampler import InputSampler
from grader.records import Case, Finding, Inputs

GATE = 0.90  # the largest weight lies on the target; measured .962 to .978 over six seeds
# Cosine of each weight matrix with its start. Trained here: .77 to 1.00. Trained from another start: .04 at most.
KINSHIP = 0.5


def draw_unseen_scenes(draw: InputSampler, *, scenes: int) -> Inputs:
    """Scenes of handwriting that nobody trained on, a word for each, and the patch that shows it."""
    words, patches, target = draw_looks(scenes, draw.generator, "test")
    return {"words": words, "patches": patches, "target": target}


def judge_pointer(case: Case) -> Finding:
    """The maps are what the reference computes from the same weights, they are distributions, and they hit."""
    pointer, problem = rebuild(case.got.get("state"), case.got.get("seed"))
    if pointer is None:
        return Finding(passed=False, message=problem)
    with torch.no_grad():
        expected = pointer(case.inputs["words"], case.inputs["patches"])
    # Its scores are large, and exp makes more of their rounding: 3e-4 of the largest weight.
    finding = compare(
        {"map": case.got.get("maps")}, {"map": expected}, rtol=30 * case.rtol, device=case.device
    )
    if not finding.passed:
        text = "recomputed from your trained weights. Does your CrossAttention pass 1.8?"
        return Finding(passed=False, message=f"{finding.message}, {text}")
    maps = case.got["maps"]
    if bool((maps < 0).any()) or not torch.allclose(maps.sum(-1), torch.ones(()), atol=1e-4):
        return Finding(passed=False, message="the weights of a map do not sum to 1")
    hits = found(maps, case.inputs["target"])
    if hits < GATE:
        text = f"the pointer looks at the right patch {hits:.0%} of the time, at least {GATE:.0%} is needed"
        return Finding(passed=False, message=f"{text}. Check pointer_loss and train again")
    return Finding(passed=True)


def rebuild(state: object, seed: object) -> tuple[Pointer | None, str]:
    """The reference pointer with these weights, or what is wrong with them."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**31:
        return None, "the notebook's seed is gone: leave the setup cell as it is"
    with torch.random.fork_rng(devices=[]):
        pointer = Pointer().requires_grad_(False)
    draw_start(pointer, seed)
    wanted = dict(pointer.named_parameters())
    if not isinstance(state, Mapping) or set(state) != set(wanted):
        return (
            None,
            "the pointer does not have the parameters of 1.8: embedding, W_Q, W_K and W_V, without bias",
        )
    for name, start in wanted.items():
        value = state[name]
        if not isinstance(value, Tensor) or value.shape != start.shape or value.dtype != start.dtype:
            return None, f"the weight {name} has another shape or type than 1.8 gives it"
        if not value.isfinite().all():
            return None, f"the weight {name} holds NaN or infinity: training has diverged"
        if torch.cosine_similarity(value.flatten(), start.flatten(), dim=0) < KINSHIP:
            return None, f"the weight {name} does not come from the start of this training: was it put in?"
        start.copy_(value)
    return pointer, ""
