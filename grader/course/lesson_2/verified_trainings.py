"""The checks on what lesson 2 trains, the aligner of 2.3 and the reader of 2.6; and how its training is verified instead."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import torch
from attention.alignment import TokenAligner
from attention.data.digits import digits
from attention.experiments.matching import draw_linear, train_aligner, word_vectors
from attention.experiments.reader import TwoCellReader, draw_parameters, draw_reading, train_reader
from torch import Tensor
from torch.nn import functional as F

from grader.course.lesson_2.trained_aligner import aligner_trained, draw_unseen_digits, matches_unseen
from grader.course.lesson_2.trained_reader import draw_reading_scenes, reader_trained, reads_unseen
from grader.course.trainings.checks import begins, goes_on, with_trained
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name, steps_on, weights_of
from grader.declare.authoring import SHORT, Check, Inputs, InputSampler, Trial, Value

ALIGNER_CELL, READER_CELL = "train-aligner", "train-reader"
ALIGNER_STEPS, READER_STEPS, HEADS = 200, 600, 4
ALIGNER_RATE, READER_RATE = 1e-2, 3e-3
ALIGNER_PATCHES, READER_SCENES = 256, 128  # in a step, as in `train_aligner` and `train_reader`


# ---------------------------------------------------------------- the aligner


def trained_aligner(steps: int = ALIGNER_STEPS) -> tuple[TokenAligner, list[float]]:
    """Train the reference's linear aligner as the cell `train-aligner` does; return it and its losses."""
    aligner = TokenAligner(64, 32)
    return aligner, train_aligner(aligner, word_vectors(0), steps, 0)


ALIGNER_TRAINING = Training("2-heads-aligner", lambda: trained_aligner()[0], evenly(ALIGNER_STEPS, 8))


def aligner_began(aligner, losses: Mapping) -> Mapping[str, Value]:
    """Return what the training cell left after a few steps: the losses, and the weights by name."""
    return {"losses": list(losses["linear"]), "weights": weights_of(aligner)}


@cache
def aligner_begun() -> Mapping[str, Any]:
    """Return losses and weights of the reference after SHORT steps, and its initial weights as "start"."""
    start = TokenAligner(64, 32)
    draw_linear(start, 0)
    aligner, losses = trained_aligner(SHORT)
    return {"losses": losses, "weights": weights_of(aligner), "start": weights_of(start)}


def draw_aligner_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state from the first or the second half of the training, three batches with their rates, and the words."""
    training = digits("train")
    chosen = [sampler.integers(0, len(training.labels), ALIGNER_PATCHES) for _ in range(3)]
    return {
        "state": draw_state(sampler, ALIGNER_TRAINING.states(), early=early),
        "rates": [ALIGNER_RATE] * 3,
        "batches": [[training.patches[some], training.labels[some]] for some in chosen],
        "words": word_vectors(0),
    }


def aligner_goes_on(TokenAligner, alignment_loss, state: Mapping, rates, batches, words: Tensor) -> Mapping[str, Value]:
    """Train an aligner of the notebook for a few steps from a state; return what `go_on` does."""
    aligner = TokenAligner(64, 32).to(words.device)
    optimizer = torch.optim.Adam(aligner.parameters())

    def loss_of(patches, labels):
        return alignment_loss(aligner(patches), words, labels)

    return go_on(aligner, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def aligned_with_weights(aligner, words: Tensor, weights: Mapping, patches: Tensor) -> Mapping[str, Value]:
    """Put trained weights into the notebook's aligner, and return what it makes of the patches."""
    load_weights_by_name(dict(aligner.named_parameters()), weights)
    with torch.no_grad():
        return {"words": words, "aligned": aligner(patches)}


VERIFIED_ALIGNER = (
    begins(ALIGNER_CELL, aligner_began, aligner_begun, ALIGNER_TRAINING, needs=("values",)),
    goes_on(ALIGNER_CELL, aligner_goes_on, draw_aligner_segment, needs=("values", "begins")),
    Check(
        name="trained",
        title="with trained weights, your aligner matches digits it has never seen",
        points=7,
        needs=("values", "begins", "goes on"),
        probe=aligned_with_weights,
        judge=matches_unseen,
        at=ALIGNER_CELL,
        trials=(Trial("100 unseen digits", partial(with_trained(draw_unseen_digits, ALIGNER_TRAINING), count=100)),),
    ),
)

TRAINED_ALIGNER = Check(
    name="trained",
    needs=("values",),
    title="the aligner that you trained matches digits it has never seen",
    points=7,
    probe=aligner_trained,
    judge=matches_unseen,
    at=ALIGNER_CELL,
    trials=(Trial("300 unseen digits", draw_unseen_digits),),
    verified=VERIFIED_ALIGNER,
)

# ---------------------------------------------------------------- the reader

READER_TRAINING = Training("2-heads-reader", lambda: train_reader(HEADS, READER_STEPS, 0), evenly(READER_STEPS, 8))


def reader_began(reader) -> Mapping[str, Value]:
    """Return what the training cell left after a few steps: the weights by name; it keeps no losses."""
    return {"losses": [], "weights": weights_of(reader)}


@cache
def reader_begun() -> Mapping[str, Any]:
    """Return no losses, the reference's weights after SHORT steps, and its initial weights as "start"."""
    start = TwoCellReader(HEADS)
    draw_parameters(start, 0)
    return {"losses": [], "weights": weights_of(train_reader(HEADS, SHORT, 0)), "start": weights_of(start)}


def draw_reader_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state from the first or the second half of the training, three batches with their rates, and the number of heads."""
    state = draw_state(sampler, READER_TRAINING.states(), early=early)
    share = 1 - state["step"] / READER_STEPS
    return {
        "state": state,
        "rates": [READER_RATE * share] * 3,
        "batches": [list(draw_reading(READER_SCENES, sampler.generator)) for _ in range(3)],
        "heads": HEADS,
    }


def reader_goes_on(TwoCellReader, state: Mapping, rates, batches, heads: int) -> Mapping[str, Value]:
    """Train a reader around the notebook's layer for a few steps from a state; return what `go_on` does."""
    reader = TwoCellReader(heads).to(batches[0][0].device)
    optimizer = torch.optim.Adam(reader.parameters())

    def loss_of(patches, cells, answers):
        return F.cross_entropy(reader(patches, cells)[0].flatten(0, 1), answers.flatten())

    return go_on(reader, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def read_with_weights(reader, weights: Mapping, patches: Tensor, cells: Tensor) -> Mapping[str, Value]:
    """Put trained weights into the notebook's reader, and return its answers and maps."""
    load_weights_by_name(dict(reader.named_parameters()), weights)
    reader.eval()
    with torch.no_grad():
        logits, maps = reader(patches, cells)
    return {"logits": logits, "maps": maps}


VERIFIED_READER = (
    begins(READER_CELL, reader_began, reader_begun, READER_TRAINING, needs=("self", "cross")),
    goes_on(READER_CELL, reader_goes_on, draw_reader_segment, needs=("self", "cross", "begins")),
    Check(
        name="maps",
        title="with trained weights, your layer looks at the cells that are named, on scenes it has never seen",
        points=5,
        needs=("self", "cross", "begins", "goes on"),
        probe=read_with_weights,
        judge=reads_unseen,
        at=READER_CELL,
        trials=(Trial("100 unseen scenes", partial(with_trained(draw_reading_scenes, READER_TRAINING), scenes=100)),),
    ),
)
TRAINED_READER = Check(
    name="maps",
    title="your trained layer looks at the cells that are named, on scenes it has never seen",
    points=5,
    needs=("self", "cross"),
    probe=reader_trained,
    judge=reads_unseen,
    at=READER_CELL,
    trials=(Trial("400 unseen scenes", draw_reading_scenes),),
    verified=VERIFIED_READER,
)
