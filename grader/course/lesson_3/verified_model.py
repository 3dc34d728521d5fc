"""How the training of lesson 3 is verified without being repeated."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from attention.data.tokens import draw_questions
from attention.experiments import recipe
from attention.training import train_step
from attention.vlm import MiniVLM

from grader.course.lesson_3.trained_model import answers_of, draw_held_out, judge_answers, judge_maps, maps_of
from grader.course.trainings.checks import begins, goes_on, with_trained
from grader.course.trainings.recorded import Training, evenly
from grader.course.trainings.segment import draw_state, go_on, load_weights_by_name, weights_of
from grader.declare.authoring import SHORT, Check, Inputs, InputSampler, Value, build_quietly, trials

MODEL_CELL = "train-vlm"
WEIGHT_DECAY = 0.01  # the recipe's
# The recipe's own rates end at 1e-8. Steps of that length are shorter than what a float32 of 1, as the weights of a LayerNorm are,
# can be changed by: right answers were off by .65 % of their way at a rate of 4e-6, and by .1 % at most from here on, with the kernels of other processors, too.
SLOWEST_RATE = 3e-4


def train_model(steps: int = recipe.STEPS) -> tuple[MiniVLM, Mapping[str, Any]]:
    """Train the reference model as the cell `train-vlm` does, from seed 0; return it and its record."""
    model = build_quietly(MiniVLM, **recipe.MODEL)
    record = recipe.train(model, train_step, 0, steps=steps, align_steps=min(recipe.ALIGN_STEPS, steps))
    return model, record


MODEL_TRAINING = Training("3-vlm", lambda: train_model()[0], evenly(recipe.STEPS, 8))


def model_began(model, record: Mapping) -> Mapping[str, Value]:
    """Return what the training cell left after a few steps of each stage: all losses, and the weights by name."""
    losses = [*record["align losses"].tolist(), *record["losses"].tolist()]
    return {"losses": losses, "weights": weights_of(model)}


@cache
def model_begun() -> Mapping[str, Any]:
    """Return losses and weights of the reference after SHORT steps of each stage, and its initial weights as "start"."""
    start = build_quietly(MiniVLM, **recipe.MODEL)
    recipe.draw_start(start, 0)
    model, record = train_model(SHORT)
    torch.set_flush_denormal(False)  # the recipe sets it
    return {**model_began(model, record), "start": weights_of(start)}


def draw_segment(sampler: InputSampler, *, early: bool) -> Inputs:
    """Draw a state from the first or the second half of the training, and for three steps questions and rates."""
    state = draw_state(sampler, MODEL_TRAINING.states(), early=early)
    after = [min(state["step"] + int(sampler.integers(0, 80, 1)) + step, recipe.STEPS - 1) for step in range(3)]
    batches = [
        draw_questions(recipe.BATCH, sampler.generator, "train", fewest=1, most=recipe.most_digits(step)).batch
        for step in after
    ]
    return {
        "sizes": dict(recipe.MODEL),
        "state": state,
        "rates": [max(recipe.learning_rate(step), SLOWEST_RATE) for step in after],
        "batches": [list(batch) for batch in batches],
        "betas": list(recipe.BETAS),
        "weight_decay": WEIGHT_DECAY,
        "learning_rate": recipe.LEARNING_RATE,
    }


def model_goes_on(
    MiniVLM, train_step, sizes: Mapping, state: Mapping, rates, batches, betas, weight_decay, learning_rate
) -> Mapping[str, Value]:
    """Train a model of the notebook for a few steps from a state, with an optimizer that looks like the recipe's."""
    device = batches[0][2].device
    model = MiniVLM(**sizes).to(device)
    options = {"lr": learning_rate, "betas": tuple(betas), "weight_decay": weight_decay}
    optimizer = torch.optim.AdamW(model.parameters(), **options, fused=device.type in ("cpu", "cuda"))
    return go_on(model, optimizer, lambda batch: train_step(model, optimizer, tuple(batch)), state, rates, batches)


draw_held_out_and_weights = with_trained(draw_held_out, MODEL_TRAINING)


def answers_with_weights(model, weights: Mapping, prompts: Mapping, patches: Mapping) -> Mapping[str, Value]:
    """Put trained weights into the notebook's model, and return what it answers, and with which logits."""
    load_weights_by_name(dict(model.named_parameters()), weights)
    return answers_of(model, prompts, patches)


def maps_with_weights(
    model, value_weighted_map, weights: Mapping, prompts: Mapping, patches: Mapping
) -> Mapping[str, Value]:
    """Put trained weights into the notebook's model, and return its maps."""
    load_weights_by_name(dict(model.named_parameters()), weights)
    return maps_of(model, value_weighted_map, prompts, patches)


VERIFIED_ANSWERS = (
    begins(MODEL_CELL, model_began, model_begun, MODEL_TRAINING, needs=("values",)),
    goes_on(MODEL_CELL, model_goes_on, draw_segment, needs=("values", "begins")),
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
)
VERIFIED_MAPS = (
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
