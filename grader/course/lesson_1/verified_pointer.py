"""Verifies the training run of 1.9 without repeating it."""

from collections.abc import Mapping
from functools import partial

import torch
from attention.experiments.digit_pointer import Pointer, draw_looks, draw_start
from attention.pointer_loss import pointer_loss
from torch import Tensor

from grader.course.trainings.checks import begins, goes_on, with_trained, without_weights
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name, steps_on
from grader.declare.authoring import Case, Check, Finding, Inputs, InputSampler, Trial, Value, build_quietly, failed
from grader.judge.compare import compare

STEPS, RATE, SCENES = 300, 3e-3, 128


def train_pointer() -> Pointer:
    """Return the reference's pointer, trained as the cell `train-pointer` does, from seed 0."""
    pointer = Pointer()
    draw_start(pointer, 0)
    optimizer = torch.optim.Adam(pointer.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        words, patches, target = draw_looks(SCENES, generator)
        loss = pointer_loss(pointer(words, patches), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return pointer


POINTER_TRAINING = Training("1-attention", train_pointer, evenly(STEPS, 8))


def draw_pointer_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state of the training run, and three batches of scenes with their learning rates.

    Args:
        early: draw from the first half of the training run, not from the second half.
    """
    batches = [list(draw_looks(SCENES, sampler.generator)) for _ in range(3)]
    state = draw_state(sampler, POINTER_TRAINING.states(), early=early)
    return {"state": state, "rates": [RATE] * 3, "batches": batches}


def pointer_begins(pointer, pointer_loss, state: Mapping, rates, batches) -> Mapping[str, Value]:
    """Train a pointer for a few more steps, and return the report of `go_on`."""
    optimizer = torch.optim.Adam(pointer.parameters())

    def loss_of(words, patches, target):
        return pointer_loss(pointer(words, patches), target)

    return go_on(pointer, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def pointer_goes_on(Pointer, pointer_loss, state: Mapping, rates, batches) -> Mapping[str, Value]:
    """Train a new pointer of the notebook for a few steps from a state, and return the report of `go_on`."""
    return pointer_begins(Pointer().to(batches[0][1].device), pointer_loss, state, rates, batches)


def draw_unseen_scenes(sampler: InputSampler, *, scenes: int) -> Inputs:
    """Draw scenes of held-out digits, and for each scene the word for one of its digits."""
    words, patches, _ = draw_looks(scenes, sampler.generator, "test")
    return {"words": words, "patches": patches}


def pointer_with_weights(pointer, weights: Mapping, words: Tensor, patches: Tensor) -> Mapping[str, Value]:
    """Return the maps of the notebook's pointer after putting trained weights into it."""
    load_weights_by_name(dict(pointer.named_parameters()), weights)
    with torch.no_grad():
        return {"maps": pointer(words, patches)}


def judge_pointer(case: Case) -> Finding:
    """Pass if the reference computes the same maps with the weights that the grader chose."""
    pointer = build_quietly(Pointer)
    pointer.load_state_dict(dict(case.inputs["weights"]))
    with torch.no_grad():
        expected = pointer(case.inputs["words"], case.inputs["patches"])
    # The pointer's scores are large, and exp enlarges their rounding errors, up to 3e-4 of the largest
    # weight.
    finding = compare({"map": case.got.get("maps")}, {"map": expected}, rtol=30 * case.rtol, device=case.device)
    if not finding.passed:
        return failed(f"{finding.message}, recomputed from the same weights. Does your CrossAttention pass 1.8?")
    return Finding(passed=True)


POINTER_CELL = "train-pointer"
VERIFIED_POINTER = (
    begins(
        POINTER_CELL,
        pointer_begins,
        without_weights(draw_pointer_segment),
        lambda: build_quietly(Pointer),
        partial(pointer_begins, pointer_loss=pointer_loss),
        needs=("values",),
    ),
    goes_on(POINTER_CELL, pointer_goes_on, draw_pointer_segment, needs=("values", "begins")),
    Check(
        name="maps",
        title="with trained weights, your pointer looks at the right patch of scenes it has never seen",
        points=5,
        needs=("values", "begins", "goes on"),
        probe=pointer_with_weights,
        judge=judge_pointer,
        at=POINTER_CELL,
        seconds=30,
        trials=(Trial("150 unseen scenes", partial(with_trained(draw_unseen_scenes, POINTER_TRAINING), scenes=150)),),
    ),
)
