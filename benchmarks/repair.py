"""Lesson 3's three broken trainings and their repairs, over several seeds.

    python -m benchmarks.repair [--seeds 20]

The broken pieces are read from the lesson, the mended ones are the reference's. For each training: the share of right
answers and of maps that are largest on the right patch, on 500 full scenes of unseen images, and what `diagnose` finds.
And what it finds in untrained models of the lesson's own size.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time

import jupytext
import torch
from attention.diagnostics import diagnose
from attention.experiments import recipe
from attention.experiments.pocket_vlm import pocket_questions, pocket_scores, train_pocket
from attention.measures.evaluation import held_out
from attention.repairs import look_at_image, shuffle_questions, start_stage_two
from attention.vlm import MiniVLM
from torch.nn import functional

from benchmarks import publish

LESSON = Path(__file__).parents[1] / "solutions" / "3-vlm.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    broken = broken_pieces(LESSON)
    pieces: dict[str, dict[str, Callable]] = {
        "collapse, broken": {"look": broken["broken_look"]},
        "collapse, mended": {"look": look_at_image},
        "stands still, broken": {"start_stage_two": broken["broken_start"]},
        "stands still, mended": {"start_stage_two": start_stage_two},
        "misaligned, broken": {"shuffle_questions": broken["broken_shuffle"]},
        "misaligned, mended": {"shuffle_questions": shuffle_questions},
    }
    rows, figures = [], {}
    for name, piece in pieces.items():
        runs = [train_once(seed, piece) for seed in seeds]
        right, on_patch = ([run[what] for run in runs] for what in ("right", "on the patch"))
        found = Counter(", ".join(run["found"]) or "nothing" for run in runs)
        rows.append(
            {"training": name, "right, least": min(right), "right, most": max(right), "on the patch, least": min(on_patch),
             "on the patch, most": max(on_patch), "seconds": max(run["seconds"] for run in runs),
             "found": "; ".join(f"{findings} ({count})" for findings, count in found.most_common())}
        )  # fmt: skip
        figures[name] = {
            "right": [min(right), max(right)],
            "on the patch": [min(on_patch), max(on_patch)],
            "found": found,
        }
    figures["untrained"] = {"found": Counter(", ".join(findings_untrained(seed)) for seed in seeds)}
    figures["seeds"] = len(seeds)
    for name, measured in figures.items():
        print(name, json.dumps(measured))
    gates = [figures[name] for name in pieces if name.endswith("mended")]
    summary = {
        "seeds": len(seeds),
        "mended_right_min": min(one["right"][0] for one in gates),
        "mended_on_patch_min": min(one["on the patch"][0] for one in gates),
        "broken_right_max": max(figures[name]["right"][1] for name in pieces if name.endswith("broken")),
    }
    publish("repair", summary, rows)


def broken_pieces(lesson: Path) -> Mapping[str, Callable]:
    """Read the functions of a lesson's script whose names begin with "broken_"."""
    names: dict = {"torch": torch, "F": functional}
    for cell in jupytext.read(lesson, fmt="py:percent").cells:
        if cell.cell_type == "code" and "def broken_" in cell.source:
            found = [node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)]
            exec(compile(ast.Module(body=found, type_ignores=[]), str(lesson), "exec"), names)
    return names


def train_once(seed: int, piece: Mapping[str, Callable]) -> dict:
    """Train a pocket-sized model with one piece replaced, and measure it."""
    started = process_time()
    model, _ = train_pocket(seed, **piece)
    seconds = process_time() - started
    check_up = pocket_questions(128, torch.Generator().manual_seed(seed), "test").batch
    return {**pocket_scores(model), "seconds": seconds, "found": diagnose(model, check_up)}


def findings_untrained(seed: int) -> list[str]:
    """Diagnose the lesson's model before its training, as the lesson does."""
    model = MiniVLM(**recipe.MODEL)
    recipe.draw_start(model, seed)
    return diagnose(model, held_out("where", 128).batch)


if __name__ == "__main__":
    main()
