"""How the training of 1.9 is verified without being repeated."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import torch
from attention.experiments.digit_pointer import Pointer, draw_looks, draw_start
from attention.pointer_loss import pointer_loss
from torch import Tensor

from grader.course.lesson_1.trained_pointer import draw_unseen_scenes, judge_pointer
from grader.course.trainings.checks import begins, goes_on, with_trained
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name, steps_on, weights_of
from grader.declare.authoring import SHORT, Check, Inputs, InputSampler, Trial, Value

STEPS, RATE, SCENES = 300, 3e-3, 128


def train_pointer(steps: int = STEPS) -> tuple[Pointer, list[float]]:
    """Train the reference pointer as the cell `train-pointer` does, from seed 0; return it and its losses."""
    pointer, losses = Pointer(), []
    draw_start(pointer, 0)
    optimizer = torch.optim.Adam(pointer.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        words, patches, target = draw_looks(SCENES, generator)
        loss = pointer_loss(pointer(words, patches), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return pointer, losses


POINTER_TRAINING = Training("1-attention", lambda: train_pointer()[0], evenly(STEPS, 8))


def pointer_began(pointer, losses) -> Mapping[str, Value]:
    """Return what the training cell left after a few steps: the losses, and the weights by name."""
    return {"losses": losses, "weights": weights_of(pointer)}


@cache
def pointer_begun() -> Mapping[str, Any]:
    """Return losses and weights of the reference after SHORT steps, and its initial weights as "start"."""
    start = Pointer()
    draw_start(start, 0)
    pointer, losses = train_pointer(SHORT)
    return {"losses": losses, "weights": weights_of(pointer), "start": weights_of(start)}


def draw_pointer_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state from the first or the second half of the training, and three batches of scenes with their rates."""
    batches = [list(draw_looks(SCENES, sampler.generator)) for _ in range(3)]
    state = draw_state(sampler, POINTER_TRAINING.states(), early=early)
    return {"state": state, "rates": [RATE] * 3, "batches": batches}


def pointer_goes_on(Pointer, pointer_loss, state: Mapping, rates, batches) -> Mapping[str, Value]:
    """Train a pointer of the notebook for a few steps from a state; return what `go_on` does."""
    pointer = Pointer().to(batches[0][1].device)
    optimizer = torch.optim.Adam(pointer.parameters())

    def loss_of(words, patches, target):
        return pointer_loss(pointer(words, patches), target)

    return go_on(pointer, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def pointer_with_weights(pointer, weights: Mapping, words: Tensor, patches: Tensor) -> Mapping[str, Value]:
    """Put trained weights into the notebook's pointer, and return its maps."""
    load_weights_by_name(dict(pointer.named_parameters()), weights)
    with torch.no_grad():
        return {"maps": pointer(words, patches)}


POINTER_CELL = "train-pointer"
VERIFIED_POINTER = (
    begins(POINTER_CELL, pointer_began, pointer_begun, POINTER_TRAINING, needs=("values",)),
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
