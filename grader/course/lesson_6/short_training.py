"""The check of each repaired training run of the lab (6.5 to 6.9): its model continues as the reference's does."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from attention.experiments.pocket_vlm import POCKET_BATCH, POCKET_BETAS, pocket_rate
from attention.experiments.short_trainings import (
    ALIGNER,
    BONUS,
    MIRROR,
    PADDING,
    SCALE,
    SHORT_STEPS,
    Examples,
    ShortTraining,
    short_step,
    train_short,
)

from grader.course.trainings.checks import begins
from grader.course.trainings.recorded import Training
from grader.course.trainings.segment import go_on, moments
from grader.declare.authoring import SHORT, Check, Inputs, InputSampler, Value
from grader.declare.layer_weights import build_quietly

# Names that the notebook's cells define, for `Lesson.given`: what trains, and the models that it trains.
TRAINED_IN_NOTEBOOK = {
    "short_step": short_step,
    "Examples": Examples,
    **{one.name.upper(): one for one in (PADDING, SCALE, ALIGNER, MIRROR, BONUS)},
    **{f"mended_{one.name}": None for one in (PADDING, SCALE, ALIGNER, MIRROR, BONUS)},
}


def mended_begins(
    mended, piece, training, short_step, Examples, state: Mapping, rates, batches, betas, done: float, seed: int
) -> Mapping[str, Value]:
    """Train a model that contains the student's function for a few more steps. Return the report of `go_on`."""
    optimizer = torch.optim.AdamW(mended.parameters(), betas=tuple(betas))
    generator = torch.Generator().manual_seed(seed)

    def take_step(batch) -> float:
        *asked, answers, cells = batch
        examples = Examples(tuple(asked), answers, cells)
        return short_step(training, piece, mended, optimizer, examples, generator, done)

    return go_on(mended, optimizer, take_step, state, rates, batches)


def training_gate(training: ShortTraining, piece: Callable, name: str, at: str, points: float) -> Check:
    """Return the check of one repaired training run.

    The student wrote only one function, the piece, and the checks "values" and "conduct" have
    compared it with the reference. So it is enough that the model continues rightly from one state.
    The states of a whole training run are not needed.

    Args:
        piece: the reference's function.
        name: the name of the model in the notebook.
        at: the id of the cell that trains the model.
    """
    build = partial(build_quietly, training.build, piece)
    train = partial(build_quietly, train_short, training, piece, 0)
    first_steps = Training(f"6-explain-{training.name}", lambda: train(steps=SHORT)[0], (SHORT,))

    def draw(sampler: InputSampler) -> Inputs:
        step = int(sampler.integers(SHORT, SHORT_STEPS // 2, 1))
        batches = [training.draw(POCKET_BATCH, sampler.generator, "train") for _ in range(3)]
        return {
            "state": moments(first_steps.states()[0]),
            "rates": [pocket_rate(step)] * 3,
            "batches": [[*examples.asked, examples.answers, examples.cells] for examples in batches],
            "betas": list(POCKET_BETAS),
            "done": step / SHORT_STEPS,
            "seed": int(sampler.integers(0, 1000, 1)),
        }

    right = partial(mended_begins, piece=piece, training=training, short_step=short_step, Examples=Examples)
    names = {"mended": name, "piece": piece.__name__, "training": training.name.upper()}
    return begins(at, mended_begins, draw, build, right, needs=("values", "conduct"), points=points, names=names)
