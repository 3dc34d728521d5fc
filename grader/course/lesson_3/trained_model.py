"""Probes and judges for the model of 3.8 with trained weights.

A probe calls the student's code and returns values. A judge decides if these values are right. The
judges here do not trust the values of the student's model. They put the same weights into the
reference's model, and compare the returned answers and maps with those that the reference's model
computes.
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

from grader.declare.authoring import Case, Finding, Inputs, InputSampler, build_quietly, failed
from grader.judge.compare import compare

# ---------------------------------------------------------------- inputs and probes


def draw_held_out(sampler: InputSampler, *, scenes: int) -> Inputs:
    """Draw questions about full scenes of held-out digits, by task."""
    inputs: dict = {"prompts": {}, "patches": {}}
    for task, prompt in zip(TASKS, PROMPT_LENGTHS, strict=True):
        questions = draw_questions(scenes, sampler.generator, "test", (task,), fewest=9, most=9)
        inputs["prompts"][task] = questions.token_ids[:, :prompt].clone()
        inputs["patches"][task] = questions.image_patches
    return inputs


def answers_of(model, prompts: Mapping, patches: Mapping) -> dict[str, Mapping]:
    """Return a model's answers to the questions of each task, and the logits of each answered word.

    The logits have the shape (B, words, V).
    """
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


def maps_of(model, value_weighted_map, prompts: Mapping, patches: Mapping) -> dict[str, Mapping]:
    """Return the maps of the model's last block for each task, and the student's value-weighted maps."""
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


# ---------------------------------------------------------------- judges


def judge_answers(case: Case) -> Finding:
    """Pass if the reference's model gives the returned answers and logits with the same weights.

    Words alone are not enough. In all drawn questions, a wrong model may give the right answers
    with the weights of one training run, and other answers with the weights from another processor.
    """
    model, answered = with_given_weights(case), _by_task(case, "answers")
    for task, prompts in case.inputs["prompts"].items():
        answers, wanted = answered.get(task), (len(prompts), dict(zip(TASKS, ANSWER_LENGTHS, strict=True))[task])
        if not isinstance(answers, Tensor) or tuple(answers.shape) != wanted or answers.dtype != prompts.dtype:
            return failed(f"the answers to the {task} questions are missing")
        logits = answer_logits(model, prompts, answers, case.inputs["patches"][task])
        if logits is None or not (are_likeliest(logits, answers) and _same_logits(case, task, logits)):
            text = f"the answers to the {task} questions are not what the trained weights give"
            return failed(f"{text}: does the model compute what 3.3 and 3.4 ask for?")
    return Finding(passed=True)


def judge_maps(case: Case) -> Finding:
    """Pass if the reference's model gives the returned maps with the same weights."""
    model = with_given_weights(case)
    got_maps, got_weighted = _by_task(case, "maps"), _by_task(case, "value-weighted")
    for task, prompts in case.inputs["prompts"].items():
        maps, weighted = compute_maps(model, prompts, case.inputs["patches"][task])
        got = {"map": got_maps.get(task), "value-weighted map": got_weighted.get(task)}
        expected = {"map": maps, "value-weighted map": weighted}
        # Two blocks add up their rounding errors, and exp enlarges them, up to 1e-3 of the largest value.
        finding = compare(got, expected, rtol=100 * case.rtol, device=case.device)
        if not finding.passed:
            return failed(f"{task} questions: {finding.message}, against the same weights")
    return Finding(passed=True)


def with_given_weights(case: Case) -> MiniVLM:
    """Return the reference's model with the weights that the grader chose."""
    model = build_quietly(MiniVLM, **recipe.MODEL).eval().requires_grad_(False)
    model.load_state_dict(dict(case.inputs["weights"]))
    return model


def _by_task(case: Case, name: str) -> Mapping[str, Any]:
    """Return a result of the student's code by task, or an empty mapping if the result is not a mapping."""
    value = case.got.get(name)
    return value if isinstance(value, Mapping) else {}


def answer_logits(model: nn.Module, prompts: Tensor, answers: Tensor, patches: Tensor) -> Tensor | None:
    """Return the logits of each answered word, given the words before it, with the shape (B, words, V).

    Return None if a number in the answers is not the index of a word.
    """
    count = prompts.shape[1]
    if bool((answers < 0).any()) or bool((answers >= recipe.MODEL["vocab_size"]).any()):
        return None
    with torch.no_grad():
        logits, _ = model(torch.cat([prompts, answers], 1), patches)
    return logits[:, count - 1 : -1]


def are_likeliest(logits: Tensor, answers: Tensor) -> bool:
    """Return True if each answered word is the likeliest word.

    A word also counts as likeliest if its logit is within 1e-3 of the largest one, relative to the
    largest absolute logit. Rounding may decide between such words.
    """
    answered = logits.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return bool((answered >= logits.amax(-1) - 1e-3 * logits.abs().amax(-1)).all())


def _same_logits(case: Case, task: str, expected: Tensor) -> bool:
    """Return True if the returned logits are the expected ones.

    The tolerance allows for the rounding errors of two blocks.
    """
    got = {"logits": _by_task(case, "logits").get(task)}
    return compare(got, {"logits": expected}, rtol=100 * case.rtol, device=case.device).passed


def compute_maps(model: MiniVLM, prompts: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    """Return the last block's cross-attention weights (B, H, T, S) and value-weighted map (B, T, S)."""
    image_tokens = model.image_norm(model.image_positions(model.aligner(patches)))
    tokens = model.text_positions(model.embedding(prompts))
    mask = causal_mask(prompts.shape[1])
    for block in model.blocks[:-1]:
        tokens, _ = block(tokens, image_tokens, mask)
    last = model.blocks[-1]
    tokens = last.norm2(tokens + last.self_attn(last.norm1(tokens), mask=mask)[0])
    return last.cross_attn(tokens, image_tokens)[1], value_weighted_map(last.cross_attn, tokens, image_tokens)
