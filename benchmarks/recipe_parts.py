"""What each part of lesson 3's recipe is good for: python -m benchmarks.recipe_parts [--seeds 3].

The recipe as it is, then with one part left out at a time; with digits that the scene lacks from the first step,
instead of afterwards; and with four learned queries between the image and the text. For every seed: accuracy on 2,000 held-out full scenes of each kind,
and how often a place is named for a digit that the scene lacks.
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
from attention import recipe
from attention.evaluation import held_out, where_it_points
from attention.generation import generate
from attention.image_summary import ImageSummary
from attention.tokens import TASKS, draw_questions
from attention.training import train_step
from attention.vlm import MiniVLM

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


VARIANTS = {
    "as it is": Variant(),
    "not aligned first": Variant(aligned=False),
    "full scenes from the start": Variant(FULL_SCENES),
    "no warm-up": Variant(NO_WARM_UP),
    "full scenes from the start, not aligned": Variant(FULL_SCENES, aligned=False),
    "a quarter of the digits absent": Variant({"draw_questions": partial(draw_questions, absent=0.25)}),
    "four learned queries": Variant(model=summarise),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS), help="only these")
    options = parser.parse_args()
    torch.set_num_threads(1)
    held = {task: held_out(task, SCENES, seed=100 + index) for index, task in enumerate(TASKS)}
    lacking = held_out("where", SCENES, seed=100 + len(TASKS), absent=1.0)
    for name in options.variants:
        for seed in range(options.seeds):
            model = trained(name, seed)
            points = where_it_points(model, generate, lacking)["a place"]
            run = {"variant": name, "seed": seed, **right(model, held), "false places": round(points, 4)}
            print(json.dumps(run), flush=True)
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    print(json.dumps({"benchmark": "recipe_parts", "seeds": options.seeds, "versions": versions}))


def trained(name: str, seed: int) -> MiniVLM:
    """A model trained by one variant of the recipe."""
    variant, model = VARIANTS[name], MiniVLM(**recipe.MODEL)
    variant.model(model)
    with replaced(variant.changes):
        recipe.train(model, train_step, seed, align_steps=recipe.ALIGN_STEPS if variant.aligned else 0)
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
