"""Exercise 3.7: `generate`, which writes answers word by word. The probes use a small model."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from attention.generation import generate
from torch import Tensor

from grader.course.common.model_state import modes, what_learns
from grader.course.lesson_3.small_model import draw_small_weights, small_model
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Value, build_quietly, sizes, written_exercise
from grader.declare.probes import side_effects

TRIES = 10  # questions that a model gets, before another is drawn


def draw_prompts(sampler: InputSampler, *, all_end: bool, **sizes: int) -> Inputs:
    """Draw prompts, and weights of the small model, until its answers suit the check.

    The answers to three or more prompts must have three or more different lengths. In each step,
    the two likeliest words must not be close to a tie.

    Args:
        all_end: let every row end at least a step before max_new_tokens, so that `generate` has to
            stop early. Otherwise at least one row needs all steps.
    """
    while True:
        inputs = draw_prompts_once(sampler, **sizes)
        bias, (prompts, tokens) = inputs["weights"]["head.bias"], inputs["prompt_ids"].shape
        if all_end:  # more draws suit where the end is a likelier word
            bias[inputs["eos_id"]] += 1.0 if len(bias) < 11 else 2.0
        # Several questions to the same model, answered at once: one after the other takes ten times as long.
        questions = [inputs, *(_draw_questions(sampler, prompts, tokens, len(bias)) for _ in range(TRIES))]
        if (suiting := _first_that_suits(inputs, questions[:TRIES], all_end)) is not None:
            return {**inputs, **suiting}


def _first_that_suits(
    inputs: Mapping[str, Any], questions: Sequence[Mapping[str, Tensor]], all_end: bool
) -> dict[str, Tensor] | None:
    """Return the first prompts and images whose answers suit the check (see `draw_prompts`), or None.

    Args:
        questions: the prompts and images to choose from.
    """
    model, most, eos_id = (build_quietly(small_model, inputs["weights"]), inputs["max_new_tokens"], inputs["eos_id"])
    prompt_ids, image_patches = (
        torch.cat([one[name] for one in questions]) for name in ("prompt_ids", "image_patches")
    )
    answers = generate(model, prompt_ids, image_patches, most, eos_id)
    with torch.no_grad():
        best = model(answers, image_patches)[0].topk(2, -1).values
    margins = (best[..., 0] - best[..., 1]).chunk(len(questions))
    ended = (answers[:, prompt_ids.shape[1] :] == eos_id).long()
    lengths = torch.where(ended.any(1), ended.argmax(1), most).chunk(len(questions))
    for one, length, margin in zip(questions, lengths, margins, strict=True):
        steps = min(int(length.max()) + 1, most)  # after them all of these have ended
        apart = margin[:, : prompt_ids.shape[1] + steps].min() > 1e-3
        if len(length.unique()) >= min(len(length), 3) and bool((length < most - 1).all()) == all_end and apart:
            return {name: one[name] for name in ("prompt_ids", "image_patches")}
    return None


def draw_prompts_once(
    sampler: InputSampler, *, prompts: int, tokens: int, max_new_tokens: int, vocabulary: int = 11, eos_id: int = 2
) -> dict[str, Any]:
    """Draw prompts, images and weights of the small model once, whatever the model answers.

    `draw_prompts` calls this function until the answers differ enough in length.
    """
    width = 3 if vocabulary < 11 else 7
    return {
        "weights": draw_small_weights(sampler, vocabulary, width, 5, torch.float64),
        **_draw_questions(sampler, prompts, tokens, vocabulary),
        "max_new_tokens": max_new_tokens,
        "eos_id": eos_id,
    }


def _draw_questions(sampler: InputSampler, prompts: int, tokens: int, vocabulary: int) -> dict[str, Tensor]:
    """Draw the words of some prompts, and an image of three patches for each."""
    return {
        "prompt_ids": sampler.integers(3, vocabulary, prompts, tokens),
        "image_patches": sampler.normal(prompts, 3, 5, dtype=torch.float64),
    }


def generate_values(
    generate, weights: Mapping, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Mapping[str, Value]:
    """Return the words of prompts and answers that `generate` returns for the small model."""
    return {"token_ids": generate(small_model(weights), prompt_ids, image_patches, max_new_tokens, eos_id)}


def generate_purity(
    generate, weights: Mapping, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Mapping[str, Value]:
    """Return how `generate` calls the model, and whether it leaves inputs, model and gradient mode unchanged."""
    model = small_model(weights, dropout=0.5)
    model.train()
    model.look.eval().requires_grad_(False)  # a frozen part, as one often has; it has to stay so
    mode, learns = modes(model), what_learns(model)
    inputs = {"prompt_ids": prompt_ids, "image_patches": image_patches}
    given = {name: tensor.clone() for name, tensor in inputs.items()}
    answer = generate(model=model, **given, max_new_tokens=max_new_tokens, eos_id=eos_id)
    return {
        "in evaluation mode": not any(training for training, _, _ in model.calls),
        "without gradients": not any(gradients for _, gradients, _ in model.calls),
        "every part's mode is as before": modes(model) == mode,
        "parts in training mode": sum(modes(model).values()),
        "what learns is as before": what_learns(model) == learns,
        "parameters that learn": sum(what_learns(model).values()),
        "gradients are on again afterwards": torch.is_grad_enabled(),
        **side_effects(inputs, given),
        "token_ids": answer,
    }


draw_ending = partial(draw_prompts, all_end=True)
draw_going_on = partial(draw_prompts, all_end=False)
GENERATE = written_exercise("3.7 Answering word by word", generate, (
    CheckSpec("values", 5, "the likeliest word, again and again",
        examples=[sizes(prompts=3, tokens=2, max_new_tokens=5, vocabulary=5),
            sizes(prompts=3, tokens=2, max_new_tokens=3, vocabulary=5)],
        trials=[sizes(prompts=7, tokens=3, max_new_tokens=5), sizes(prompts=5, tokens=2, max_new_tokens=11)],
        draw=(draw_going_on, draw_ending), draw_public=(draw_ending, draw_going_on)),
    CheckSpec("limits", 2, "any eos_id, a single prompt, and max_new_tokens = 0",
        examples=[sizes(prompts=3, tokens=2, max_new_tokens=5, vocabulary=5, eos_id=1),
            sizes(prompts=2, tokens=3, max_new_tokens=0, vocabulary=5)],
        trials=[sizes(prompts=5, tokens=2, max_new_tokens=11, eos_id=1),
            sizes(prompts=1, tokens=3, max_new_tokens=7, eos_id=7), sizes(prompts=5, tokens=3, max_new_tokens=0)],
        draw=(draw_ending, draw_ending, draw_prompts_once), draw_public=(draw_ending, draw_prompts_once)),
    CheckSpec("conduct", 3, "in evaluation mode, without gradients, and everything as before",
        examples=[sizes(prompts=3, tokens=2, max_new_tokens=5, vocabulary=5)],
        trials=[sizes(prompts=5, tokens=3, max_new_tokens=7)],
        probe=generate_purity, draw=draw_going_on, draw_public=draw_ending),
),
    probe=generate_values,
    difficulty=2, minutes=10, review="Answering",
    mistakes="""
    in_training_mode: The model runs in training mode, where dropout is random: call model.eval() first.
        model.eval()  →  pass
    all_in_training_after: Your model.train() at the end changes parts that were in evaluation mode. Remember each
        module's mode before, and restore it.
        module.training = training  →  module.training = True
    left_in_evaluation: The model is left in evaluation mode. Put every module back into its old mode.
        module.training = training  →  pass
    with_gradients: Gradients are recorded, which costs memory for nothing: use torch.no_grad().
        @torch.no_grad()  →
    gradients_left_off: Gradients stay switched off after the call, so nothing can be learned. Use `with
        torch.no_grad():`.
        @torch.no_grad()  →
        + torch.set_grad_enabled(False)
    parameters_left_frozen: The parameters stay frozen after the call. Use torch.no_grad() instead: it changes nothing
        in the model.
        + model.requires_grad_(False)
    wakes_frozen_parameters: Parameters that were frozen before are no longer frozen afterwards. Leave the parameters as
        they were.
        = (result, model.requires_grad_(True))[0]
    one_word_at_least: Your code adds a word even if max_new_tokens is 0. Check the limit before you add the first
        word.
        + max_new_tokens = max(max_new_tokens, 1)
    eos_is_two: This code assumes that the end token is 2. Use the argument eos_id.
        + eos_id = 2
    filled_with_padding: Your code fills ended rows with 0. Fill them with eos_id.
        masked_fill(ended, eos_id)  →  masked_fill(ended, 0)
    ended_rows_go_on: In your code rows that have ended get more words. Fill them with eos_id instead.
        .masked_fill(ended, eos_id)  →
    all_must_end_together: In your code a row gets more words after its end, until all rows give the end token in
        the same round. Remember which rows have ended, and fill these with eos_id.
        .masked_fill(ended, eos_id)  →
        ended | (following == eos_id)  →  following == eos_id
    forgets_who_has_ended: In your code each round looks only at the newest word, so a row that has ended gets one
        eos_id and then more words. Remember which rows have ended.
        following = logits[..., -1, :].argmax(-1)  →  said = logits[..., -1, :].argmax(-1); following = said
        ended | (following == eos_id)  →  said == eos_id
    stops_at_the_first_end: Your function stops as soon as one row has ended. Go on until all rows have ended.
        ended.all()  →  ended.any()
    never_stops_early: Your result goes on after every row has ended. Stop as soon as all rows have ended, and return
        only the words up to there.
        ended.all()  →  False
    forgets_the_prompt: Your code gives the model only the last word. Give it everything so far: the prompt and
        the answer.
        model(token_ids,  →  model(token_ids[:, -1:],
    forgets_after_the_first_word: After the first word, your code gives the model only the new word. Give it
        everything so far, in each round.
        model(token_ids,  →  model(token_ids if token_ids is prompt_ids else token_ids[:, -1:],
    stops_one_round_late: Your code runs one round too many: it adds a word after every row has ended. Stop before
        that round.
        ended = ended | (following == eos_id)  →  before, ended = ended, ended | (following == eos_id)
        ended.all()  →  before.all()
    first_image_for_all: Your code uses the first image for every prompt. Row b of the prompts belongs to image b.
        model(token_ids, image_patches)  →  model(token_ids, image_patches[:1].expand_as(image_patches))
    reads_the_first_position: Your code takes the next word from the first position. Take it from the last
        position.
        logits[..., -1, :]  →  logits[..., 0, :]
    without_the_prompt (slip): Only the answer is returned. Return the prompt and the answer together.
        = result[:, prompt_ids.shape[1] :]
    one_word_too_many: One word too many is added. max_new_tokens is the largest number of new words.
        range(max_new_tokens)  →  range(max_new_tokens + 1)
    one_word_short: One word too few is added. Up to max_new_tokens words may be added.
        range(max_new_tokens)  →  range(max_new_tokens - 1)
    prompt_counted: Your code uses max_new_tokens as the length of prompt and answer together. Count only the new
        words.
        range(max_new_tokens)  →  range(max_new_tokens - prompt_ids.shape[1])
    samples: Your code draws each word at random. Greedy means to take the likeliest word: argmax.
        + torch.manual_seed(1)
        logits[..., -1, :].argmax(-1)  →  torch.multinomial(logits[..., -1, :].softmax(-1), 1).squeeze(-1)
""")  # fmt: skip
