"""Probes and judges of the model that a submission trained (exercise 3.8).

A judge does not trust what the model returns. The probe returns the weights as tensors; the judge rebuilds
the reference model from them and compares the answers and maps that came back with what that model computes.
It also checks that the weights come from this training. Every training starts from weights that the seed
draws, and AdamW moves no weight by more than a known multiple of the learning rate in a step (Kingma and Ba
2015, section 2.1). The training cell records some of the weights after every step; this record is the path.
The path must begin at the weights that the seed draws, end at the returned weights, and contain no longer
step.
"""

from collections.abc import Mapping
from typing import Any

import torch
from attention.data.tokens import ANSWER_LENGTHS, PROMPT_LENGTHS, TASKS, draw_questions
from attention.experiments import recipe
from attention.grounding import value_weighted_map
from attention.masks import causal_mask
from attention.vlm import MiniVLM
from torch import Tensor, nn

from grader.course.trainings.loaded import load_returned, unlike_start
from grader.declare.authoring import Case, Finding, Inputs, InputSampler, Value, build_quietly, failed
from grader.judge.compare import compare

# The least share of right answers to each kind of question, on full scenes of held-out digits.
GATES = {"where": 0.90, "what": 0.95, "read": 0.85}
# The least share of questions whose value-weighted map is largest on the patch that the question is about.
GROUNDING_GATE = 0.90
# The longest step of a weight, as a multiple of the learning rate lr. With β = (0.9, 0.95), whatever the
# gradients: |Δ| ≤ lr · (1 − β₁) / √((1 − β₂)(1 − β₁²/β₂)) = 1.165 lr (Cauchy-Schwarz on the two running
# means). Weight decay adds lr · 0.01 · |weight|, and weights stay below 10: 1.265 lr in all.
LONGEST_STEP = 1.3
# Below this learning rate a step may be too short to change a number of float32.
LEAST_RATE = 1e-5
# The least cosine of a trained weight matrix with its initial values. Trained from them: .52 to 1.00. Trained
# from other initial values: about 0.
LEAST_COSINE = 0.3

# ---------------------------------------------------------------- inputs and probes


def draw_held_out(sampler: InputSampler, *, scenes: int) -> Inputs:
    """Draw questions on full scenes of held-out digits, the right answers, and the cells asked about."""
    inputs: dict = {"prompts": {}, "patches": {}, "truth": {}, "cells": {}}
    for task, prompt, answer in zip(TASKS, PROMPT_LENGTHS, ANSWER_LENGTHS, strict=True):
        questions = draw_questions(scenes, sampler.generator, "test", (task,), fewest=9, most=9)
        inputs["prompts"][task] = questions.token_ids[:, :prompt].clone()
        inputs["truth"][task] = questions.token_ids[:, prompt : prompt + answer].clone()
        inputs["cells"][task] = questions.cells[:, :answer].clone()
        inputs["patches"][task] = questions.image_patches
    return inputs


def trained_answers(model, record: Mapping, prompts: Mapping, patches: Mapping) -> Mapping[str, Value]:
    """Return the trained weights, the record of the training, and what the model answers, word by word."""
    return {**training_result(model, record), **answers_of(model, prompts, patches)}


def answers_of(model, prompts: Mapping, patches: Mapping) -> dict[str, Mapping]:
    """Return what a model answers to the questions of each task, word by word, and the logits of each word: (B, words, V)."""
    device = next(model.parameters()).device
    model.eval()
    answers, scores = {}, {}
    with torch.no_grad():
        for task, token_ids in prompts.items():
            token_ids, said = token_ids.to(device), []
            for _ in range(3 if task == "read" else 1):
                said.append(model(token_ids, patches[task].to(device))[0][:, -1])
                token_ids = torch.cat([token_ids, said[-1].argmax(-1, keepdim=True)], 1)
            answers[task] = token_ids[:, prompts[task].shape[1] :].cpu()
            scores[task] = torch.stack(said, 1).float().cpu()
    return {"answers": answers, "logits": scores}


def trained_maps(model, record: Mapping, value_weighted_map, prompts: Mapping, patches: Mapping) -> Mapping[str, Value]:
    """Return the trained weights, the record, the model's own maps, and the student's value-weighted ones."""
    return {**training_result(model, record), **maps_of(model, value_weighted_map, prompts, patches)}


def maps_of(model, value_weighted_map, prompts: Mapping, patches: Mapping) -> dict[str, Mapping]:
    """Return a model's own maps of its last block, and the student's value-weighted ones, for each task."""
    device = next(model.parameters()).device
    model.eval()
    cross_attn = model.blocks[-1].cross_attn
    maps, weighted = {}, {}
    for task, token_ids in prompts.items():
        inputs: list = []
        forward = cross_attn.forward

        def record_inputs(tokens, context=None, *rest, inputs=inputs, forward=forward, **more):
            inputs.append((tokens, context))
            return forward(tokens, context, *rest, **more)

        cross_attn.forward = record_inputs
        try:
            with torch.no_grad():
                _, weights = model(token_ids.to(device), patches[task].to(device))
        finally:
            del cross_attn.forward
        with torch.no_grad():
            maps[task] = weights[-1].cpu()
            weighted[task] = value_weighted_map(cross_attn, *inputs[0]).cpu()
    return {"maps": maps, "value-weighted": weighted}


def training_result(model, record: Mapping) -> dict[str, Value]:
    """Return what a training leaves behind: the weights by name, and the recorded path."""
    state = {name: value.detach().cpu() for name, value in model.named_parameters()}
    return {"state": state, "path": record["path"]}


# ---------------------------------------------------------------- judges


def judge_answers(case: Case) -> Finding:
    """Pass if the weights come from this training, they give these answers and their logits, and enough are right.

    Words alone would not do: a wrong model may answer as the right one in all questions that were drawn, with the weights
    of one training, and not with those that a training on another processor ends with.

    How many are right is not asked where the weights are the grader's own: then the answers are the reference's, or wrong.
    """
    model, problem = rebuild_trained(case)
    if model is None:
        return failed(problem)
    answered = _by_task(case, "answers")
    for task, gate in GATES.items():
        answers = answered.get(task)
        truth = case.inputs["truth"][task]
        if not isinstance(answers, Tensor) or answers.shape != truth.shape or answers.dtype != truth.dtype:
            return failed(f"no answers to the {task} questions came back")
        prompts, patches = case.inputs["prompts"][task], case.inputs["patches"][task]
        logits = answer_logits(model, prompts, answers, patches)
        if logits is None or not (are_likeliest(logits, answers) and _same_logits(case, task, logits)):
            text = f"the answers to the {task} questions are not what the trained weights give"
            return failed(f"{text}: does the model compute what 3.3 and 3.4 ask for?")
        right = (answers == truth).all(1).double().mean().item()
        if right < gate and not _chosen_weights(case):
            text = f"{right:.0%} of the {task} questions are answered right, at least {gate:.0%} are needed"
            return failed(f"{text}. Check 3.3 to 3.6 and train again")
    return Finding(passed=True)


def judge_maps(case: Case) -> Finding:
    """Pass if the weights come from this training, give these maps, and enough show the right patch: see `judge_answers`."""
    model, problem = rebuild_trained(case)
    if model is None:
        return failed(problem)
    got_maps, got_weighted = _by_task(case, "maps"), _by_task(case, "value-weighted")
    for task, prompts in case.inputs["prompts"].items():
        maps, weighted = compute_maps(model, prompts, case.inputs["patches"][task])
        got = {"map": got_maps.get(task), "value-weighted map": got_weighted.get(task)}
        expected = {"map": maps, "value-weighted map": weighted}
        # Two blocks add up their rounding errors, and exp enlarges them, up to 1e-3 of the largest value.
        finding = compare(got, expected, rtol=100 * case.rtol, device=case.device)
        if not finding.passed:
            return failed(f"{task} questions: {finding.message}, against the same weights")
        rows, weighted = got_maps[task], got_weighted[task]
        if bool((rows < 0).any()) or not torch.allclose(rows.sum(-1), torch.ones(()), atol=1e-4):
            return failed(f"{task} questions: the weights of a map do not sum to 1")
        right_patch = case.inputs["cells"][task][:, 0]
        on_it = (weighted[:, -1].argmax(-1) == right_patch).double().mean().item()
        if on_it < GROUNDING_GATE and not _chosen_weights(case):
            text = f"{task} questions: the model looks at the right patch {on_it:.0%} of the time"
            return failed(f"{text}, at least {GROUNDING_GATE:.0%} is needed")
    return Finding(passed=True)


def _chosen_weights(case: Case) -> bool:
    """Tell whether the grader itself put weights into the notebook's model."""
    return "weights" in case.inputs


def _by_task(case: Case, name: str) -> Mapping[str, Any]:
    """Return what came back for each task under a name; nothing if that is no mapping."""
    value = case.got.get(name)
    return value if isinstance(value, Mapping) else {}


def rebuild_trained(case: Case) -> tuple[MiniVLM | None, str]:
    """Rebuild the reference model from the weights that came back; return None and a message if they are refused.

    Weights that the grader itself put into the notebook's model need no origin.
    """
    if _chosen_weights(case):
        return load_weights(case.inputs["weights"])
    model, problem = load_weights(case.got.get("state"))
    if model is not None:
        problem = check_origin(model, case.got.get("path"), case.inputs["seed"])
    return (None, problem) if problem else (model, "")


def load_weights(state: object) -> tuple[MiniVLM | None, str]:
    """Load weights into a reference model; return None and a message if they do not fit."""
    model = build_quietly(MiniVLM, **recipe.MODEL).eval()
    if not isinstance(state, Mapping):
        return None, "no weights came back"
    wanted = dict(model.named_parameters())
    if missing := sorted(set(wanted) - set(state)) or sorted(set(state) - set(wanted)):
        return None, f"the trained model does not have the parameters of 3.4: see {missing[0]}"
    problem = load_returned(model, state, "", "3.4 gives it")
    return (None if problem else model), problem


def check_origin(model: MiniVLM, path: object, seed: int) -> str:
    """Return a message if the model cannot come from the training of this notebook, "" if it can.

    Args:
        path: the numbers of `recipe.watch` before the training and after each step; untrusted.
        seed: draws the initial weights.
    """
    steps = recipe.ALIGN_STEPS + recipe.STEPS
    start = build_quietly(MiniVLM, **recipe.MODEL)
    recipe.draw_start(start, seed)
    first, last = recipe.watch(start, seed), recipe.watch(model, seed)
    form = (steps + 1, len(first)), first.dtype
    if not isinstance(path, Tensor) or (path.shape, path.dtype) != form or not path.isfinite().all():
        return f"the record of the training does not hold {steps} steps: run the training cell as it is"
    if not torch.allclose(path[0], first, atol=1e-5):
        return "the training did not begin at the weights that the seed draws"
    if not torch.allclose(path[-1], last, atol=1e-5):
        return "these are not the weights that the training ended with"
    align_rates = [recipe.LEARNING_RATE] * recipe.ALIGN_STEPS
    rates = torch.tensor(align_rates + [recipe.learning_rate(step) for step in range(recipe.STEPS)])
    moved = path.diff(dim=0).abs().amax(1)
    if bool((moved > LONGEST_STEP * rates + 1e-5).any()):
        return "the weights jumped in a single step, further than training can move them: were they put in?"
    if still := int((moved[rates > LEAST_RATE] == 0).sum()):
        return f"{still} of the {steps} steps moved no weight: does train_step take a step each time?"
    return unlike_start(model, start, LEAST_COSINE)


def answer_logits(model: nn.Module, prompts: Tensor, answers: Tensor, patches: Tensor) -> Tensor | None:
    """Compute the logits of each answered word, given the words before it: (B, words, V). None if a word is none."""
    count = prompts.shape[1]
    if bool((answers < 0).any()) or bool((answers >= recipe.MODEL["vocab_size"]).any()):
        return None
    with torch.no_grad():
        logits, _ = model(torch.cat([prompts, answers], 1), patches)
    return logits[:, count - 1 : -1]


def are_likeliest(logits: Tensor, answers: Tensor) -> bool:
    """Tell whether each answered word is the likeliest one.

    A word within 1e-3 of the largest logit counts as likeliest: rounding may decide between such words.
    """
    answered = logits.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return bool((answered >= logits.amax(-1) - 1e-3 * logits.abs().amax(-1)).all())


def _same_logits(case: Case, task: str, expected: Tensor) -> bool:
    """Tell whether the logits that came back are the expected ones, within what two blocks add up of rounding errors."""
    got = {"logits": _by_task(case, "logits").get(task)}
    return compare(got, {"logits": expected}, rtol=100 * case.rtol, device=case.device).passed


def compute_maps(model: MiniVLM, prompts: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the last block's cross-attention weights (B, H, T, S) and value-weighted map (B, T, S)."""
    image_tokens = model.image_norm(model.image_positions(model.aligner(patches)))
    tokens = model.text_positions(model.embedding(prompts))
    mask = causal_mask(prompts.shape[1])
    for block in model.blocks[:-1]:
        tokens, _ = block(tokens, image_tokens, mask)
    last = model.blocks[-1]
    tokens = last.norm2(tokens + last.self_attn(last.norm1(tokens), mask=mask)[0])
    return last.cross_attn(tokens, image_tokens)[1], value_weighted_map(last.cross_attn, tokens, image_tokens)
