"""The checks of the training runs of lesson 2: the aligner of 2.3 and the reader of 2.6."""

from collections.abc import Mapping
from functools import partial

import torch
from attention.alignment import TokenAligner, alignment_loss
from attention.data.digits import digits
from attention.experiments.matching import train_aligner, word_vectors
from attention.experiments.reader import TwoCellReader, draw_reading, train_reader
from torch import Tensor
from torch.nn import functional as F

from grader.course.trainings.checks import begins, goes_on, with_trained, without_weights
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name, steps_on
from grader.declare.authoring import Case, Check, Finding, Inputs, InputSampler, Trial, Value, build_quietly, failed
from grader.judge.compare import compare

ALIGNER_CELL, READER_CELL = "train-aligner", "train-reader"
ALIGNER_STEPS, READER_STEPS, HEADS = 200, 600, 4
ALIGNER_RATE, READER_RATE = 1e-2, 3e-3
ALIGNER_PATCHES, READER_SCENES = 256, 128  # in a step, as in `train_aligner` and `train_reader`


# ---------------------------------------------------------------- the aligner


def trained_aligner() -> TokenAligner:
    """Return the reference's linear aligner, trained as the cell `train-aligner` does."""
    aligner = TokenAligner(64, 32)
    train_aligner(aligner, word_vectors(0), ALIGNER_STEPS, 0)
    return aligner


ALIGNER_TRAINING = Training("2-heads-aligner", trained_aligner, evenly(ALIGNER_STEPS, 8))


def draw_aligner_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state of the training run, three batches with their learning rates, and the words.

    Args:
        early: draw from the first half of the training run, not from the second half.
    """
    training = digits("train")
    chosen = [sampler.integers(0, len(training.labels), ALIGNER_PATCHES) for _ in range(3)]
    return {
        "state": draw_state(sampler, ALIGNER_TRAINING.states(), early=early),
        "rates": [ALIGNER_RATE] * 3,
        "batches": [[training.patches[some], training.labels[some]] for some in chosen],
        "words": word_vectors(0),
    }


def aligner_begins(aligner, alignment_loss, state: Mapping, rates, batches, words: Tensor) -> Mapping[str, Value]:
    """Train an aligner for a few more steps, and return the report of `go_on`."""
    optimizer = torch.optim.Adam(aligner.parameters())

    def loss_of(patches, labels):
        return alignment_loss(aligner(patches), words, labels)

    return go_on(aligner, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def aligner_goes_on(TokenAligner, alignment_loss, state: Mapping, rates, batches, words: Tensor) -> Mapping[str, Value]:
    """Train a new aligner of the notebook for a few steps from a state, and return the report of `go_on`."""
    return aligner_begins(TokenAligner(64, 32).to(words.device), alignment_loss, state, rates, batches, words)


def draw_unseen_digits(sampler: InputSampler, count: int) -> Inputs:
    """Draw `count` held-out digits as patches."""
    held_out = digits("test")
    return {"patches": held_out.patches[sampler.permutation(len(held_out.patches))[:count]]}


def aligned_with_weights(aligner, weights: Mapping, patches: Tensor) -> Mapping[str, Value]:
    """Return the tokens that the notebook's aligner makes of patches, after trained weights are put into it."""
    load_weights_by_name(dict(aligner.named_parameters()), weights)
    with torch.no_grad():
        return {"aligned": aligner(patches)}


def matches_unseen(case: Case) -> Finding:
    """Pass if the weights that the grader chose give the same aligned tokens."""
    weights = case.inputs["weights"]
    expected = F.linear(case.inputs["patches"], weights["proj.weight"], weights["proj.bias"])
    return compare({"aligned": case.got.get("aligned")}, {"aligned": expected}, 10 * case.rtol, case.device)


ALIGNER_CHECKS = (
    begins(
        ALIGNER_CELL,
        aligner_begins,
        without_weights(draw_aligner_segment),
        partial(build_quietly, TokenAligner, 64, 32),
        partial(aligner_begins, alignment_loss=alignment_loss),
        needs=("values",),
    ),
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

# ---------------------------------------------------------------- the reader

READER_TRAINING = Training("2-heads-reader", lambda: train_reader(HEADS, READER_STEPS, 0), evenly(READER_STEPS, 8))


def draw_reader_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state of the training run, and three batches with their learning rates.

    Args:
        early: draw from the first half of the training run, not from the second half.
    """
    state = draw_state(sampler, READER_TRAINING.states(), early=early)
    share = 1 - state["step"] / READER_STEPS
    return {
        "state": state,
        "rates": [READER_RATE * share] * 3,
        "batches": [list(draw_reading(READER_SCENES, sampler.generator)) for _ in range(3)],
    }


def reader_begins(reader, state: Mapping, rates, batches) -> Mapping[str, Value]:
    """Train a reader for a few more steps, and return the report of `go_on`."""
    optimizer = torch.optim.Adam(reader.parameters())

    def loss_of(patches, cells, answers):
        return F.cross_entropy(reader(patches, cells)[0].flatten(0, 1), answers.flatten())

    return go_on(reader, optimizer, steps_on(optimizer, loss_of), state, rates, batches)


def reader_goes_on(TwoCellReader, state: Mapping, rates, batches) -> Mapping[str, Value]:
    """Train a reader that contains the notebook's layer for a few steps from a state. Return the report of `go_on`."""
    return reader_begins(TwoCellReader(4).to(batches[0][0].device), state, rates, batches)


def draw_reading_scenes(sampler: InputSampler, scenes: int) -> Inputs:
    """Draw scenes of held-out digits, and the indices of the two cells to read in each scene."""
    patches, cells, _ = draw_reading(scenes, sampler.generator, "test")
    return {"patches": patches, "cells": cells}


def read_with_weights(reader, weights: Mapping, patches: Tensor, cells: Tensor) -> Mapping[str, Value]:
    """Return the logits and maps of the notebook's reader after trained weights are put into it."""
    load_weights_by_name(dict(reader.named_parameters()), weights)
    reader.eval()
    with torch.no_grad():
        logits, maps = reader(patches, cells)
    return {"logits": logits, "maps": maps}


def reads_unseen(case: Case) -> Finding:
    """Pass if the weights that the grader chose give the same logits and maps."""
    reader = build_quietly(TwoCellReader, num_heads=HEADS)
    reader.load_state_dict(dict(case.inputs["weights"]))
    with torch.no_grad():
        logits, maps = reader.eval()(case.inputs["patches"], case.inputs["cells"])
    finding = compare(case.got, {"logits": logits, "maps": maps}, 30 * case.rtol, case.device)
    return finding if finding.passed else failed(f"on unseen scenes {finding.message}, from the same weights")


READER_CHECKS = (
    begins(
        READER_CELL,
        reader_begins,
        without_weights(draw_reader_segment),
        partial(build_quietly, TwoCellReader, HEADS),
        reader_begins,
        needs=("self", "cross"),
    ),
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
