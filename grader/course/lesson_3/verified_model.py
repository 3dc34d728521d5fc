"""Verifies the training run of lesson 3 without repeating it."""

from collections.abc import Mapping
from functools import partial

import torch
from attention.data.tokens import draw_questions
from attention.experiments import recipe
from attention.training import train_step
from attention.vlm import MiniVLM

from grader.course.lesson_3.trained_model import answers_of, draw_held_out, judge_answers, judge_maps, maps_of
from grader.course.trainings.checks import begins, goes_on, with_trained, without_weights
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name
from grader.declare.authoring import Check, Inputs, InputSampler, Value, build_quietly, trials

MODEL_CELL = "train-vlm"
WEIGHT_DECAY = 0.01  # the recipe's
# The recipe's own rates end at 1e-8. A float32 near 1, such as a weight of a LayerNorm, cannot
# change by so little. At a rate of 4e-6, right answers were off by 0.65 % of the length of their
# update. From SLOWEST_RATE on they were off by at most 0.1 %, also with the kernels of other
# processors.
SLOWEST_RATE = 3e-4


def train_model() -> MiniVLM:
    """Return the reference's model, trained as the cell `train-vlm` does, from seed 0."""
    model = build_quietly(MiniVLM, **recipe.MODEL)
    recipe.train(model, train_step, 0)
    return model


MODEL_TRAINING = Training("3-vlm", train_model, evenly(recipe.STEPS, 8))


def draw_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state of the training run, and questions and learning rates for three steps.

    Args:
        early: draw from the first half of the training run, not from the second half.
    """
    state = draw_state(sampler, MODEL_TRAINING.states(), early=early)
    after = [min(state["step"] + int(sampler.integers(0, 80, 1)) + step, recipe.STEPS - 1) for step in range(3)]
    batches = [
        draw_questions(recipe.BATCH, sampler.generator, "train", fewest=1, most=recipe.most_digits(step)).batch
        for step in after
    ]
    return {
        "state": state,
        "rates": [max(recipe.learning_rate(step), SLOWEST_RATE) for step in after],
        "batches": [list(batch) for batch in batches],
        "options": {"lr": recipe.LEARNING_RATE, "betas": list(recipe.BETAS), "weight_decay": WEIGHT_DECAY},
    }


def draw_segment_and_sizes(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a segment as `draw_segment` does, and add the sizes of the model."""
    return {**draw_segment(sampler, early=early), "sizes": dict(recipe.MODEL)}


def model_begins(model, train_step, state: Mapping, rates, batches, options: Mapping) -> Mapping[str, Value]:
    """Train a model for a few more steps, with an optimizer like the recipe's. Return the report of `go_on`."""
    fused = batches[0][2].device.type in ("cpu", "cuda")
    optimizer = torch.optim.AdamW(model.parameters(), **{**options, "betas": tuple(options["betas"])}, fused=fused)
    return go_on(model, optimizer, lambda batch: train_step(model, optimizer, tuple(batch)), state, rates, batches)


def model_goes_on(
    MiniVLM, train_step, sizes: Mapping, state: Mapping, rates, batches, options: Mapping
) -> Mapping[str, Value]:
    """Train a new model of the notebook for a few steps from a state, and return the report of `go_on`."""
    model = MiniVLM(**sizes).to(batches[0][2].device)
    return model_begins(model, train_step, state, rates, batches, options)


draw_held_out_and_weights = with_trained(draw_held_out, MODEL_TRAINING)


def answers_with_weights(model, weights: Mapping, prompts: Mapping, patches: Mapping) -> Mapping[str, Value]:
    """Return answers and logits of the notebook's model after trained weights are put into it."""
    load_weights_by_name(dict(model.named_parameters()), weights)
    return answers_of(model, prompts, patches)


def maps_with_weights(
    model, value_weighted_map, weights: Mapping, prompts: Mapping, patches: Mapping
) -> Mapping[str, Value]:
    """Return the maps of the notebook's model after trained weights are put into it."""
    load_weights_by_name(dict(model.named_parameters()), weights)
    return maps_of(model, value_weighted_map, prompts, patches)


MODEL_CHECKS = (
    begins(
        MODEL_CELL,
        model_begins,
        without_weights(draw_segment),
        partial(build_quietly, MiniVLM, **recipe.MODEL),
        partial(model_begins, train_step=train_step),
        needs=("values",),
    ),
    goes_on(MODEL_CELL, model_goes_on, draw_segment_and_sizes, needs=("values", "begins")),
    Check(
        name="trained answers",
        title="with trained weights, your model answers questions about scenes it has never seen",
        points=3,
        needs=("values", "begins", "goes on"),
        probe=answers_with_weights,
        trials=trials(draw_held_out_and_weights, dict(scenes=120)),
        judge=judge_answers,
        at=MODEL_CELL,
        seconds=60,
    ),
    Check(
        name="trained maps",
        title="and looks at the patch that it speaks of",
        points=3,
        needs=("values", "begins", "goes on"),
        probe=maps_with_weights,
        trials=trials(draw_held_out_and_weights, dict(scenes=60)),
        judge=judge_maps,
        seconds=60,
    ),
)
