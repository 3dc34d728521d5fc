"""What is asked of the model that a submission trained, and how it is judged.

The judge never takes the model's word. The weights come back as tensors; the reference model is rebuilt from them,
and what the submission says it answers and where it says it looks must be what that model computes. Where the weights
come from is checked too: every training starts from numbers drawn from the seed, and AdamW moves no number by more
than a known multiple of the learning rate in a step (Kingma and Ba 2015, section 2.1), so the recorded path must begin
at that start, end at these weights, and jump nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention import recipe
from attention.grounding import value_weighted_map
from attention.masks import causal_mask
from attention.tokens import ANSWER_LENGTHS, PROMPT_LENGTHS, TASKS, draw_questions
from attention.vlm import MiniVLM
from torch import Tensor, nn

from grader.checks.compare import compare
from grader.declaration.sampler import InputSampler
from grader.records import Case, Finding, Inputs

GATES = {"where": 0.90, "what": 0.95, "read": 0.85}  # right answers, on full scenes of unseen handwriting
GROUNDING_GATE = 0.90  # the largest value-weighted share lies on the patch that is asked about
# With β = (0.9, 0.95), whatever the gradients: |Δ| ≤ lr · (1 − β₁) / √((1 − β₂)(1 − β₁²/β₂)) = 1.165 lr (Cauchy-Schwarz
# on the two running means), and lr · 0.01 · |weight| of decay on top; weights stay below 10.
LONGEST_STEP = 1.3
# Cosine of every weight matrix with its start. Trained here: .52 to 1.00. Trained from another start: about 0.
KINSHIP = 0.3


def draw_held_out(draw: InputSampler, *, scenes: int) -> Inputs:
    """Questions of each kind about full scenes of handwriting that nobody trained on, and the right answers."""
    inputs: dict = {"prompts": {}, "patches": {}, "truth": {}, "cells": {}}
    for task, prompt, answer in zip(TASKS, PROMPT_LENGTHS, ANSWER_LENGTHS, strict=True):
        questions = draw_questions(scenes, draw.generator, "test", (task,), fewest=9, most=9)
        inputs["prompts"][task] = questions.token_ids[:, :prompt].clone()
        inputs["truth"][task] = questions.token_ids[:, prompt : prompt + answer].clone()
        inputs["cells"][task] = questions.cells[:, :answer].clone()
        inputs["patches"][task] = questions.image_patches
    return inputs


def judge_answers(case: Case) -> Finding:
    """The weights were trained here, the answers are what they give, and enough of them are right."""
    model, problem = rebuild(case.got.get("state"))
    if model is None:
        return Finding(passed=False, message=problem)
    if problem := origin(model, case.got.get("path"), case.got.get("seed")):
        return Finding(passed=False, message=problem)
    for task, gate in GATES.items():
        answers = case.got["answers"].get(task)
        truth = case.inputs["truth"][task]
        if not isinstance(answers, Tensor) or answers.shape != truth.shape or answers.dtype != truth.dtype:
            return Finding(passed=False, message=f"no answers to the {task} questions came back")
        if not chosen(model, case.inputs["prompts"][task], answers, case.inputs["patches"][task]):
            text = f"the answers to the {task} questions are not what the trained weights give"
            return Finding(passed=False, message=f"{text}: does the model compute what 3.3 and 3.4 ask for?")
        right = (answers == truth).all(1).double().mean().item()
        if right < gate:
            text = f"{right:.0%} of the {task} questions are answered right, at least {gate:.0%} are needed"
            return Finding(passed=False, message=f"{text}. Check 3.3 to 3.6 and train again")
    return Finding(passed=True)


def judge_maps(case: Case) -> Finding:
    """The maps are what the reference computes from the same weights, and they lie where they should."""
    model, problem = rebuild(case.got.get("state"))
    if model is None:
        return Finding(passed=False, message=problem)
    if problem := origin(model, case.got.get("path"), case.got.get("seed")):
        return Finding(passed=False, message=problem)
    for task, prompts in case.inputs["prompts"].items():
        maps, weighted = maps_of(model, prompts, case.inputs["patches"][task])
        got = {"map": case.got["maps"].get(task), "value-weighted map": case.got["value-weighted"].get(task)}
        # Two blocks add up their rounding, and exp makes more of it: 1e-3 of the largest value.
        wanted = {"map": maps, "value-weighted map": weighted}
        finding = compare(got, wanted, rtol=100 * case.rtol, device=case.device)
        if not finding.passed:
            return Finding(
                passed=False, message=f"{task} questions: {finding.message}, against the same weights"
            )
        rows = got["map"]
        if bool((rows < 0).any()) or not torch.allclose(rows.sum(-1), torch.ones(()), atol=1e-4):
            return Finding(passed=False, message=f"{task} questions: the weights of a map do not sum to 1")
        asked = case.inputs["cells"][task][:, 0]
        found = (got["value-weighted map"][:, -1].argmax(-1) == asked).double().mean().item()
        if found < GROUNDING_GATE:
            text = f"{task} questions: the model looks at the right patch {found:.0%} of the time"
            return Finding(passed=False, message=f"{text}, at least {GROUNDING_GATE:.0%} is needed")
    return Finding(passed=True)


def rebuild(state: object) -> tuple[MiniVLM | None, str]:
    """The reference model with these weights, or what is wrong with them."""
    with torch.random.fork_rng(devices=[]):
        model = MiniVLM(**recipe.MODEL).eval().requires_grad_(False)
    if not isinstance(state, Mapping):
        return None, "no weights came back"
    wanted = dict(model.named_parameters())
    if missing := sorted(set(wanted) - set(state)) or sorted(set(state) - set(wanted)):
        return None, f"the trained model does not have the parameters of 3.4: see {missing[0]}"
    for name, parameter in wanted.items():
        value = state[name]
        if not isinstance(value, Tensor) or value.shape != parameter.shape or value.dtype != parameter.dtype:
            return None, f"the weight {name} has another shape or type than 3.4 gives it"
        if not value.isfinite().all():
            return None, f"the weight {name} holds NaN or infinity: training has diverged"
        parameter.copy_(value)
    return model, ""


def origin(model: MiniVLM, path: object, seed: object) -> str:
    """What is wrong with where the weights come from; empty if nothing is."""
    steps = recipe.ALIGN_STEPS + recipe.STEPS
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**31:
        return "the record of the training holds no seed"
    with torch.random.fork_rng(devices=[]):
        start = MiniVLM(**recipe.MODEL)
    recipe.draw_start(start, seed)
    first, last = recipe.watch(start, seed), recipe.watch(model, seed)
    if not isinstance(path, Tensor) or path.shape != (steps + 1, len(first)) or not path.isfinite().all():
        return f"the record of the training does not hold {steps} steps: run the training cell as it is"
    if not torch.allclose(path[0], first, atol=1e-5):
        return "the training did not begin at the weights that the seed draws"
    if not torch.allclose(path[-1], last, atol=1e-5):
        return "these are not the weights that the training ended with"
    rates = [recipe.LEARNING_RATE] * recipe.ALIGN_STEPS + [
        recipe.learning_rate(step) for step in range(recipe.STEPS)
    ]
    moved = path.diff(dim=0).abs().amax(1)
    if bool((moved > LONGEST_STEP * torch.tensor(rates) + 1e-5).any()):
        return "the weights jumped in a single step, further than training can move them: were they put in?"
    begun = dict(start.named_parameters())
    for name, parameter in model.named_parameters():
        if parameter.ndim > 1:
            with torch.no_grad():
                kinship = torch.cosine_similarity(parameter.flatten(), begun[name].flatten(), dim=0)
            if kinship < KINSHIP:
                return f"the weight {name} does not come from the start of this training: was it put in?"
    return ""


def chosen(model: nn.Module, prompts: Tensor, answers: Tensor, patches: Tensor) -> bool:
    """Whether each word of the answers is the likeliest by the model, given the words before it; ties may differ."""
    count = prompts.shape[1]
    if bool((answers < 0).any()) or bool((answers >= recipe.MODEL["vocab_size"]).any()):
        return False
    with torch.no_grad():
        logits, _ = model(torch.cat([prompts, answers], 1), patches)
    logits = logits[:, count - 1 : -1]
    said = logits.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return bool((said >= logits.amax(-1) - 1e-3 * logits.abs().amax(-1)).all())


def maps_of(model: MiniVLM, prompts: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-attention weights (B, H, T, S) of the last block, and its value-weighted map (B, T, S)."""
    image_tokens = model.image_norm(model.image_positions(model.aligner(patches)))
    tokens = model.text_positions(model.embedding(prompts))
    mask = causal_mask(prompts.shape[1])
    for block in model.blocks[:-1]:
        tokens, _ = block(tokens, image_tokens, mask)
    last = model.blocks[-1]
    tokens = last.norm2(tokens + last.self_attn(last.norm1(tokens), mask=mask)[0])
    return last.cross_attn(tokens, image_tokens)[1], value_weighted_map(last.cross_attn, tokens, image_tokens)
