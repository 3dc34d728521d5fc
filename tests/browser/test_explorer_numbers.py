"""The explorer computes what PyTorch computes: 200 scenes for each kind of question, in a real browser."""

from __future__ import annotations

import random

import pytest
import torch
from attention.data.digits import digits
from attention.data.tokens import EOS, TASKS, Questions, draw_questions
from attention.generation import generate
from attention.grounding import value_weighted_map
from attention.measures.evaluation import looked
from attention.vlm import MiniVLM
from playwright.sync_api import Page
from torch import Tensor

from tests.browser.explorer_models import COMMITTED, in_page, patches_of, without

SCENES, CLOSE = 200, 1e-4
LAYERS = ("blocks.0.self_attn", "blocks.1.self_attn", "blocks.1.cross_attn")
PASSES = """
    ([number, cases]) => cases.map(({prompt, tokens, scene, off}) => {
        const [model, patches, silent] = [models[number], patchesOf(scene, digits, data), new Set(off)];
        const {logits, attentions} = forward(model, tokens, patches, silent);
        const arrays = nested => Array.from(nested, inner => typeof inner === "number" ? inner : arrays(inner));
        const weights = Object.fromEntries(Object.entries(attentions).map(([name, one]) => [name, arrays(one.weights)]));
        const said = answer(model, prompt, patches, data.end, MOST_WORDS, silent).words.map(({id}) => id);
        return {logits: arrays(logits), weights, weighted: arrays(attentions["blocks.1.cross_attn"].weighted), said};
    })
"""


def in_pytorch(model: MiniVLM, prompt: Tensor, tokens: Tensor, patches: Tensor) -> dict:
    """Logits, all maps and the value-weighted map of one question, and the words of the answer."""
    met: dict[str, Tensor] = {}
    handles = [
        model.get_submodule(name).register_forward_hook(lambda *given, name=name: met.update({name: given[-1][1][0]}))
        for name in LAYERS
    ]
    with torch.no_grad():
        logits, _ = model(tokens.unsqueeze(0), patches.unsqueeze(0))
    for handle in handles:
        handle.remove()
    asking, image_tokens, _ = looked(model, tokens.unsqueeze(0), patches.unsqueeze(0))
    with torch.no_grad():
        weighted = value_weighted_map(model.blocks[-1].cross_attn, asking, image_tokens)
    said = generate(model, prompt.unsqueeze(0), patches.unsqueeze(0), 4, EOS)[0, len(prompt) :].tolist()
    said = said[: said.index(EOS) if EOS in said[1:] else None]
    return {"logits": logits[0], "weights": met, "weighted": weighted[0], "said": said}


def differences(
    page: Page, number: int, model: MiniVLM, questions: Questions, chance: random.Random
) -> dict[str, float]:
    """The largest between page and PyTorch, over all questions: of scores, maps and value-weighted maps.

    The answers must be equal. Every second scene has blank patches, and of every third question one to four heads are off.
    """
    cases = []
    for case in range(len(questions.labels)):
        scene: list[int | None] = places_of(questions.image_patches[case])
        for place in chance.sample(range(9), chance.randint(1, 4)) if case % 2 else ():
            scene[place] = None
        off = {f"{chance.choice(LAYERS)}/{chance.randrange(4)}" for _ in range(chance.randint(1, 4))}
        length = int(questions.prompt_lengths[case])
        ids = questions.token_ids[case, : length + case % 2]  # with the first word of the answer, too
        cases.append((ids[:length], ids, scene, sorted(off) if case % 3 == 0 else []))
    sent = [
        {"prompt": prompt.tolist(), "tokens": ids.tolist(), "scene": scene, "off": off}
        for prompt, ids, scene, off in cases
    ]
    largest = {"scores": 0.0, "maps": 0.0, "value-weighted": 0.0}
    for ours, (prompt, ids, scene, off) in zip(page.evaluate(PASSES, [number, sent]), cases, strict=True):
        theirs = in_pytorch(without(model, off), prompt, ids, patches_of(scene))
        assert ours["said"] == theirs["said"]
        pairs = [("maps", ours["weights"][name], theirs["weights"][name]) for name in LAYERS]
        pairs += [("scores", ours["logits"], theirs["logits"])]
        pairs += [("value-weighted", ours["weighted"], theirs["weighted"])]
        for what, one, other in pairs:
            assert torch.tensor(one).shape == other.shape
            largest[what] = max(largest[what], (torch.tensor(one) - other).abs().max().item())
    return largest


def places_of(patches: Tensor) -> list[int]:
    """Which digits of the test split a scene (9, 64) shows."""
    return [int((digits("test").patches == patch).all(-1).nonzero()[0]) for patch in patches]


@pytest.mark.fast_cases("where")
@pytest.mark.parametrize("task", TASKS)
def test_the_page_computes_what_pytorch_computes(offline_page: Page, task: str) -> None:
    offline_page.goto(COMMITTED.as_uri())
    for number, model in enumerate(in_page(COMMITTED)):
        generator = torch.Generator().manual_seed(TASKS.index(task))
        count = SCENES if number == 0 else SCENES // 4
        questions = draw_questions(count, generator, "test", (task,), fewest=9, absent=0.3)
        found = differences(offline_page, number, model, questions, random.Random(number))
        print(task, found)
        assert max(found.values()) < CLOSE
