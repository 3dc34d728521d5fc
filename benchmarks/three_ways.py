"""Three ways to bring an image into a text model, side by side: python -m benchmarks.three_ways [--seeds 20].

On the lab's small task (`experiments.three_ways`): for every way and seed the share of right answers and of maps that are
largest on the patch in question, on 2,000 full scenes of unseen images; FLOPs for a question and for one batch of training;
CPU seconds. Then gates that begin open; other numbers of learned queries; all of lesson 3's questions with two blocks; and
what new layers do to the answers of lesson 3's trained model before they have learned anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from time import process_time
from unittest.mock import patch

import torch
from attention.data.tokens import MAX_TOKENS, TASKS
from attention.experiments import recipe
from attention.experiments.three_ways import (
    GATED,
    QUERIES,
    WAYS,
    WayLayers,
    WayVLM,
    added_layers,
    counted_flops,
    new_layers,
    over_patches,
    train_way,
    way_scores,
)
from attention.generation import generate
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from attention.measures.evaluation import accuracy, held_out, prompt_of
from attention.open_vlm import OpenVLM, answer_step
from torch import Tensor, nn

from benchmarks import measured, publish

LAYERS = WayLayers(ConcatenatedAttention, GatedCrossAttention, LearnedQueries)
LESSON_SCENES = 1000
NEW_LAYER = "new layers in lesson 3's model"
NEW_LAYERS = {
    "as it was": (0, 0.0),
    "32 closed gates": (32, 0.0),
    "1 open gate": (1, 100.0),
    "8 open gates": (8, 100.0),
    "32 open gates": (32, 100.0),
}
COUNTED = {f"{count} learned queries": {"way": QUERIES, "num_queries": count} for count in (1, 2, 9, 16)}
SMALL: dict[str, dict] = {
    **{way: {"way": way} for way in WAYS},
    "gate open at the start": {"way": GATED, "gate": 1.0},
    **COUNTED,
}
LONGER = {NEW_LAYER: ""} | {f"lesson 3, {way}": way for way in WAYS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="of the small task")
    parser.add_argument("--few", type=int, default=5, help="seeds for the numbers of learned queries")
    parser.add_argument("--longer", type=int, default=5, help="seeds of the comparisons on lesson 3's questions")
    parser.add_argument("--resume", type=Path, help="output of a run that broke off: its runs are not repeated")
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = [
        (what, seed) for seed in range(options.seeds) for what in SMALL if seed < options.few or what not in COUNTED
    ]
    jobs += [(what, seed) for seed in range(options.longer) for what in LONGER]
    runs = list(measured(jobs, one_run, options.resume))
    found = {what: [run for run in runs if run["job"] == what] for what in (*SMALL, *LONGER)}
    rows = [row(what, found[what]) for what in SMALL]
    rows += [lesson_row(what, found[what]) for what in LONGER if what != NEW_LAYER]
    for name in NEW_LAYERS:
        rows.append(
            {"what": f"lesson 3's model, new layers: {name}", **spread([run[name] for run in found[NEW_LAYER]])}
        )
    figures = {what: {"right": [run["right"] for run in found[what]]} for what in SMALL}
    publish("three_ways", {**figures, "seeds": options.seeds, "few": options.few, "longer": options.longer}, rows)


def one_run(what: str, seed: int) -> dict[str, object]:
    """Measure one line of the table for one seed."""
    if what == NEW_LAYER:
        return new_layer(seed)
    return small_task(seed=seed, **SMALL[what]) if what in SMALL else lesson_task(LONGER[what], seed)


def small_task(way: str, seed: int, **options: float) -> dict[str, object]:
    """Train one way on the small task, and measure it."""
    start = process_time()
    model, _ = train_way(way, LAYERS, seed, **options)
    seconds = process_time() - start
    scores = way_scores(model)
    gates = [round(block.gated.gate.tanh().item(), 3) for block in model.blocks if block.gated is not None]
    return {
        "right": round(scores["right"], 4),
        "on the patch": round(scores["on the patch"], 4),
        "by place": [round(share, 3) for share in scores["by place"].tolist()],
        "flops": counted_flops(model),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "gates": gates,
        "seconds": round(seconds, 2),
    }


def row(name: str, runs: list[dict]) -> dict[str, object]:
    """A line of the table: from the worst seed to the best."""
    return {
        "what": name,
        **spread([run["right"] for run in runs]),
        "on the patch, least": min(run["on the patch"] for run in runs),
        "below .9": sum(run["right"] < 0.9 for run in runs),
        "FLOPs": runs[0]["flops"],
        "parameters": runs[0]["parameters"],
        "CPU seconds, median": median(run["seconds"] for run in runs),
    }


def lesson_row(name: str, runs: list[dict]) -> dict[str, object]:
    """A line of the table on lesson 3's questions: the shares of right answers, seed by seed."""
    shares = {f"{task}, by seed": " ".join(f"{run[task]:.2f}" for run in runs) for task in TASKS}
    return {"what": name, **shares, "CPU seconds, median": median(run["seconds"] for run in runs)}


def spread(shares: list[float]) -> dict[str, float]:
    """The least, the mean and the largest of some shares."""
    return {"right, least": min(shares), "mean": mean(shares), "most": max(shares)}


class LessonWay(WayVLM):
    """A way on all of lesson 3's questions: as wide and as deep as its model, with its aligner, and with word positions."""

    def __init__(self, way: str) -> None:
        super().__init__(way, LAYERS, width=64, num_heads=4, num_blocks=2)
        self.aligner = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64))
        self.text_positions = nn.Parameter(torch.empty(MAX_TOKENS, 64))

    def embed(self, token_ids: Tensor) -> Tensor:
        return self.embedding(token_ids) + self.text_positions[: token_ids.shape[-1]]


def draw_lesson_start(draw_start: Callable) -> Callable:
    """The recipe's start, with closed gates and learned queries as large as image tokens."""

    def draw(model: nn.Module, seed: int) -> None:
        draw_start(model, seed)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(".gate"):
                    parameter.zero_()
                elif name.endswith(".queries"):
                    parameter.mul_(parameter.shape[-1] ** 0.5 * 3**0.5)

    return draw


def lesson_task(way: str, seed: int) -> dict[str, float]:
    """Train one way by lesson 3's recipe; the share of right answers of each kind, and of maps on the patch of "where"."""
    model, start = LessonWay(way), process_time()
    with patch.object(recipe, "draw_start", draw_lesson_start(recipe.draw_start)):
        recipe.train(model, answer_step, seed)
    seconds = process_time() - start
    held = {task: held_out(task, LESSON_SCENES, seed=100 + index) for index, task in enumerate(TASKS)}
    right = {task: round(accuracy(model, generate, task, asked), 4) for task, asked in held.items()}
    with torch.no_grad():
        looks = {
            f"{task} on the patch": round(
                (over_patches(model, model(prompt_of(task, asked), asked.image_patches)[1])[:, -1].argmax(-1)
                 == asked.cells[:, 0]).float().mean().item(), 4)
            for task, asked in held.items()
        }  # fmt: skip
    return {**right, **looks, "seconds": round(seconds, 2)}


def new_layer(seed: int) -> dict[str, float]:
    """The shares of right answers to "read" with layers that have learned nothing in front of lesson 3's trained model."""
    model = OpenVLM(**recipe.MODEL)
    recipe.train(model, answer_step, seed)
    asked = held_out("read", LESSON_SCENES, seed=102)
    shares = {}
    for name, (count, gate) in NEW_LAYERS.items():
        torch.manual_seed(seed)
        with added_layers(model, new_layers(GatedCrossAttention, count, gate)):
            shares[name] = round(accuracy(model, generate, "read", asked), 4)
    return shares


if __name__ == "__main__":
    main()
