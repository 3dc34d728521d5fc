"""The lab's five broken trainings, their repairs, and every declared wrong repair, over several seeds.

    python -m benchmarks.lab_repairs [--seeds 5] [--record]

The broken pieces are read from the lab, the mended ones are the reference's. For each: the share of right answers and of
maps that are largest on the right patch, on 500 scenes of unseen images, and on how many seeds the gate is passed. A wrong
repair that passes it must be told so in its hint. `--record` writes what the figures of the lab show of a healthy run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import torch
from attention import lab_repairs
from attention.experiments.short_trainings import (
    ALIGNER,
    BONUS,
    GATE,
    MIRROR,
    PADDING,
    SCALE,
    ShortTraining,
    answers_and_maps,
    short_scores,
    train_short,
)
from attention.measures import healthy_runs
from attention.plots.short_training_plots import answer_names, shown_examples, smooth

from benchmarks import publish
from benchmarks.repair import broken_pieces
from grader.course.lesson_6 import LESSON

LAB = Path(__file__).parents[1] / "solutions" / "6-explain.py"
TRAININGS = {"6.5": PADDING, "6.6": SCALE, "6.7": ALIGNER, "6.8": MIRROR, "6.9": BONUS}
# What the notebook calls the broken piece of each exercise.
BROKEN = {"6.5": "broken_look", "6.6": "broken_once", "6.7": "broken_tokens", "6.8": "broken_mirror", "6.9": "broken_loss"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.record:
        record()
        return
    seeds = range(chosen.seeds)
    broken = broken_pieces(LAB)
    rows, wrong = [], {}
    for id, training in TRAININGS.items():
        exercise = LESSON.exercise(id)
        rows.append(measure(id, "broken", training, broken[BROKEN[id]], seeds))
        rows.append(measure(id, "mended", training, exercise.reference[0], seeds))
        for mistake in exercise.mistakes:
            (piece,) = mistake.replaces.values()
            row = measure(id, mistake.name, training, piece, seeds)
            rows.append(row)
            wrong[f"{id} {mistake.name}"] = row["gate passed"]
    of = {kind: [row for row in rows if row["piece"] == kind] for kind in ("broken", "mended")}
    summary = {
        "seeds": len(seeds),
        "mended_right_min": min(row["right, least"] for row in of["mended"]),
        "mended_on_patch_min": min(row["on the patch, least"] for row in of["mended"]),
        "broken_gate_passed": sum(row["gate passed"] for row in of["broken"]),
        "mended_gate_passed": [row["gate passed"] for row in of["mended"]],
        "wrong_gate_passed": wrong,
    }
    publish("lab_repairs", summary, rows)


def measure(id: str, name: str, training: ShortTraining, piece: Callable, seeds: range) -> Mapping[str, Any]:
    """Train with a piece from every seed, and say what came out."""
    started = process_time()
    scores = [score(training, piece, seed) for seed in seeds]
    right, on_patch = ([one[what] for one in scores] for what in ("right", "on the patch"))
    return {
        "exercise": id,
        "piece": name,
        "right, least": min(right),
        "right, most": max(right),
        "on the patch, least": min(on_patch),
        "on the patch, most": max(on_patch),
        "gate passed": sum(min(pair) >= GATE for pair in zip(right, on_patch, strict=True)),
        "seconds": (process_time() - started) / len(seeds),
    }


def score(training: ShortTraining, piece: Callable, seed: int) -> Mapping[str, float]:
    """Train with a piece; one that raises has no model, and nothing right."""
    try:
        return short_scores(training, train_short(training, piece, seed)[0])
    except RuntimeError:
        return {"right": 0.0, "on the patch": 0.0}
    finally:
        torch.set_grad_enabled(True)  # a wrong piece may leave it off


def record() -> None:
    """Write the losses, maps and answers of healthy runs from seed 0 into `attention.measures.healthy_runs`."""
    lines = ["# fmt: off", "HEALTHY = {"]
    for id, training in TRAININGS.items():
        piece = getattr(lab_repairs, LESSON.exercise(id).name)
        model, losses = train_short(training, piece, 0)
        logits, maps = answers_and_maps(model, *shown_examples(training).asked)
        rows = [[round(weight, 2) + 0.0 for weight in row] for row in maps.tolist()]
        lines += [
            f'    "{training.name}": {{',
            f'        "losses": {[round(loss, 2) for loss in smooth(losses)]},',
            '        "maps": [',
            *(f"            {row}," for row in rows),
            "        ],",
            f'        "answers": {json.dumps(answer_names(logits))},',
            "    },",
        ]
    path = Path(healthy_runs.__file__)
    docstring = path.read_text("utf-8").split('"""')[1]
    path.write_text(f'"""{docstring}"""\n\n' + "\n".join([*lines, "}"]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
