"""Measure how much each part of lesson 3's recipe helps: python -m benchmarks.recipe_parts [--seeds 5].

The model is trained with the recipe as it is, and with one change at a time:

- without one of the recipe's parts, or with a hundredth of the learning rate;
- with another first stage: these could refute that nearness to the right word is the part that helps;
- with questions about absent digits from the first step (a quarter or half of the "where" questions);
- with four learned queries between image and text, or with blocks that look before they read, or without the
  feed-forward step.

For each seed it prints the accuracy on 2,000 held-out full scenes of each kind, how often the model names a place for
an absent digit, and how well weight and probability separate shown digits from absent ones.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import torch
from attention.data.tokens import TASKS, WORDS, Questions, draw_questions
from attention.experiments import recipe
from attention.experiments.image_summary import ImageSummary
from attention.experiments.recipe import align_step
from attention.generation import generate
from attention.measures.evaluation import held_out, looked, prompt_of, where_it_points
from attention.training import train_step
from attention.vlm import MiniVLM, VisionLanguageBlock
from torch import Tensor, nn

from benchmarks.training import SCENES, right

FULL_SCENES = {"draw_questions": lambda *given, **named: draw_questions(*given, **{**named, "fewest": 9, "most": 9})}
NO_WARM_UP = {"WARM_UP": 1}


class Variant(NamedTuple):
    """What is changed: names of the recipe, whether the patches are aligned first, and the model."""

    changes: Mapping[str, object] = {}
    aligned: bool = True
    model: Callable[[MiniVLM], None] = lambda model: None


def summarise(model: MiniVLM) -> None:
    """Put four learned queries between the image and the text."""
    model.image_norm = ImageSummary(4, recipe.MODEL["d_model"], recipe.MODEL["num_heads"])


class LooksFirst(VisionLanguageBlock):
    """A block in which the words look at the image before they look at each other."""

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens = text_tokens + looked
        text_tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        return text_tokens + self.ffn(self.norm3(text_tokens)), weights


class Nothing(nn.Module):
    """Stands where the feed-forward step stood, and adds nothing."""

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.zeros_like(tokens)


def look_first(model: MiniVLM) -> None:
    for block in model.blocks:
        block.__class__ = LooksFirst


def think_nothing(model: MiniVLM) -> None:
    for block in model.blocks:
        block.ffn = Nothing()


def pull_to_wrong_words(model: MiniVLM, optimizer: torch.optim.Optimizer, patches: Tensor, labels: Tensor) -> float:
    """Pull each digit to the word of the next one, and 9 to the word of 0."""
    return align_step(model, optimizer, patches, (labels + 1) % 10)


def lengthen(model: MiniVLM, optimizer: torch.optim.Optimizer, patches: Tensor, labels: Tensor) -> float:
    """Give the vectors of an untrained aligner the size of the words' vectors; nothing is learned."""
    words, last = model.embedding.weight[WORDS.index("0") : WORDS.index("9") + 1], model.aligner[2]
    with torch.no_grad():
        factor = words.square().mean().sqrt() / model.aligner(patches).square().mean().sqrt()
        last.weight.mul_(factor)
        last.bias.mul_(factor)
    return 0.0


VARIANTS = {
    "as it is": Variant(),
    "not aligned first": Variant(aligned=False),
    "pulled to wrong words first": Variant({"align_step": pull_to_wrong_words}),
    "only made longer first": Variant({"align_step": lengthen}),
    "not aligned first, twice the steps": Variant({"STEPS": 2 * recipe.STEPS}, aligned=False),
    "full scenes from the start": Variant(FULL_SCENES),
    "no warm-up": Variant(NO_WARM_UP),
    "full scenes from the start, not aligned": Variant(FULL_SCENES, aligned=False),
    "a quarter of the digits absent": Variant({"draw_questions": partial(draw_questions, absent=0.25)}),
    "half of the digits absent": Variant({"draw_questions": partial(draw_questions, absent=0.5)}),
    "four learned queries": Variant(model=summarise),
    "cross-attention before self-attention": Variant(model=look_first),
    "no feed-forward": Variant(model=think_nothing),
    "a hundredth of the learning rate": Variant({"LEARNING_RATE": recipe.LEARNING_RATE / 100}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS), help="only these")
    options = parser.parse_args()
    torch.set_num_threads(1)
    held = {task: held_out(task, SCENES, seed=100 + index) for index, task in enumerate(TASKS)}
    lacking = held_out("where", SCENES, seed=100 + len(TASKS), absent=1.0)
    for name in options.variants:
        for seed in range(options.seeds):
            model = trained(name, seed)
            print(json.dumps({"variant": name, "seed": seed, **measure(model, held, lacking)}), flush=True)
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    print(json.dumps({"benchmark": "recipe_parts", "seeds": options.seeds, "versions": versions}))


def measure(model: MiniVLM, held: Mapping[str, Questions], lacking: Questions) -> dict[str, float]:
    """Return the figures of one model; `lacking` has questions about digits that the scene does not show."""
    points = where_it_points(model, generate, lacking)["a place"]
    apart = told_apart(model, held["where"], lacking)
    return {**right(model, held), "false places": round(points, 4), **apart}


def told_apart(model: MiniVLM, shown: Questions, lacking: Questions) -> dict[str, float]:
    """How often a shown digit has a larger value than one that the scene lacks: 1 is always, a half is chance.

    The value is the largest weight of the head that looks most at shown digits, or the probability of the word that is said.
    Learned queries stand between the words and the patches: then no weight belongs to a patch, and it is left out.
    """
    weights, probabilities = [], []
    for questions in (shown, lacking):
        prompts = prompt_of("where", questions)
        weights.append(looked(model, prompts, questions.image_patches)[2][:, :, -1])
        with torch.no_grad():
            probabilities.append(model(prompts, questions.image_patches)[0][:, -1].softmax(-1).amax(-1))
    values = {"probability": probabilities}
    if weights[0].shape[-1] == shown.image_patches.shape[1]:
        on_target = weights[0][torch.arange(len(shown.cells)), :, shown.cells[:, 0]].mean(0)
        values["weight"] = [of_all[:, on_target.argmax()].amax(-1) for of_all in weights]
    return {
        f"told apart by {name}": round((of_shown.unsqueeze(1) > of_absent).float().mean().item(), 4)
        for name, (of_shown, of_absent) in values.items()
    }


def trained(name: str, seed: int) -> MiniVLM:
    """A model trained by one variant of the recipe."""
    variant, model = VARIANTS[name], MiniVLM(**recipe.MODEL)
    variant.model(model)
    with replaced(variant.changes):
        aligned = recipe.ALIGN_STEPS if variant.aligned else 0
        recipe.train(model, train_step, seed, steps=recipe.STEPS, align_steps=aligned)
    return model


@contextmanager
def replaced(changes: Mapping[str, object]) -> Iterator[None]:
    """Put other values in the place of some of the recipe's names, for a while."""
    if not changes:
        yield
        return
    with patch.multiple(recipe, **changes):
        yield


if __name__ == "__main__":
    main()
