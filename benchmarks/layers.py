"""What more layers bring to lesson 3's model: python -m benchmarks.layers [--seeds 5].

Models of 1, 2 and 4 blocks, of which the last one looks at the image, trained by the lesson's recipe. For every seed:
accuracy and value-weighted grounding on 2,000 held-out full scenes of each kind, the right answers to "where" after every
100 steps, on 200 of them, and the seconds of the training.
"""

from __future__ import annotations

import argparse
import json
import platform
from time import process_time

import torch
from attention.data.tokens import TASKS
from attention.experiments import recipe
from attention.generation import generate
from attention.measures.evaluation import accuracy, held_out
from attention.training import train_step
from attention.vlm import MiniVLM

from benchmarks.training import SCENES, looks, right

LAYERS = (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = []
    for layers in LAYERS:
        for seed in range(options.seeds):
            run, by_step = one_run(layers, seed)
            runs.append(run)
            print(json.dumps(run), flush=True)
            print(json.dumps({"where by step": by_step, "layers": layers, "seed": seed}), flush=True)
    figures = {
        f"{layers} layers, {name}, {word}": pick(run[name] for run in runs if run["layers"] == layers)
        for layers in LAYERS
        for name in (*TASKS, "grounding", "cpu_seconds")
        for word, pick in (("least", min), ("most", max))
    }
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    print(json.dumps({"benchmark": "layers", "figures": figures, "seeds": options.seeds, "versions": versions}))


def one_run(layers: int, seed: int) -> tuple[dict, list[float]]:
    """Train one model and measure it; also its right answers to "where" after every 100 steps."""
    held = {task: held_out(task, SCENES, seed=100 + index) for index, task in enumerate(TASKS)}
    model = MiniVLM(**{**recipe.MODEL, "num_layers": layers})
    start = process_time()
    record = recipe.train(model, train_step, seed)
    seconds = round(process_time() - start, 1)
    grounding = looks(model, held)["where"]["value-weighted"]
    some = held_out("where", 200)
    earlier = [recipe.at_checkpoint(model, record, step) for step in record["checkpoints"]]
    by_step = [round(accuracy(one, generate, "where", some), 3) for one in earlier]
    found = {"layers": layers, "seed": seed, **right(model, held), "grounding": grounding, "cpu_seconds": seconds}
    return found, by_step


if __name__ == "__main__":
    main()
