"""Pairs of colour and digit that training never showed: python -m benchmarks.compositional [--seeds 5].

Each digit lacks one or four of the five colours in training. For every seed, on 1,000 full scenes of unseen
images of each kind: the share of right answers where the pair in question was seen in training and where it was not, and of
maps that are largest on the patch of the answer. All patches but the one in question show seen pairs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from statistics import mean
from time import process_time

import torch
from attention.data.coloured_world import COLOURED_TASKS, COLOURED_WORDS, COLOURS, seen_pairs
from attention.experiments.compositional import (
    aligned_pairs,
    coloured_answers,
    coloured_scores,
    held_out_coloured,
    train_coloured,
)

from benchmarks import measured, publish

PAIRS = ("seen pairs", "unseen pairs")
VARIANTS: dict[str, dict] = {"1 of 5 colours missing": {"missing": 1}, "4 of 5 colours missing": {"missing": 4}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS), help="only these")
    parser.add_argument("--resume", type=Path, help="output of a run that broke off: its runs are not repeated")
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = [(what, seed) for what in options.variants for seed in range(options.seeds)]
    runs = list(measured(jobs, one_run, options.resume))
    found = {what: [run for run in runs if run["job"] == what] for what in options.variants}
    rows = [
        {"what": what, "pairs": pairs, **{task: shares(found[what], pairs, task) for task in COLOURED_TASKS}}
        | ({"mean gap": gaps(found[what])} if pairs == "unseen pairs" else {})
        for what in options.variants
        for pairs in PAIRS
    ]
    figures = {
        what: {pairs: {task: round(average(found[what], pairs, task), 4) for task in COLOURED_TASKS} for pairs in PAIRS}
        for what in options.variants
    }
    publish("compositional", {**figures, "seeds": options.seeds}, rows)


def shares(runs: list[dict], pairs: str, task: str) -> str:
    """The shares of right answers, seed by seed."""
    return " ".join(f"{run['scores'][pairs][task]['right']:.3f}" for run in runs)


def average(runs: list[dict], pairs: str, task: str) -> float:
    """The mean share of right answers over the seeds."""
    return mean(run["scores"][pairs][task]["right"] for run in runs)


def gaps(runs: list[dict]) -> str:
    """The mean difference between seen and unseen pairs, for each kind of question."""
    differences = {task: average(runs, PAIRS[0], task) - average(runs, PAIRS[1], task) for task in COLOURED_TASKS}
    return ", ".join(f"{task} {gap:+.2f}" for task, gap in differences.items())


def one_run(what: str, seed: int) -> dict[str, object]:
    """Train one model, and ask it about seen and unseen pairs."""
    variant = VARIANTS[what]
    missing, start = variant["missing"], process_time()
    model, losses = train_coloured(seed, **variant)
    seconds = process_time() - start
    seen = seen_pairs(missing)
    return {
        "scores": coloured_scores(model, missing),
        "aligner": {"seen": aligned_pairs(model, seen), "unseen": aligned_pairs(model, ~seen)},
        "wrong colours": wrong_colours(model, missing),
        "loss": round(sum(losses[-20:]) / 20, 4),
        "seconds": round(seconds, 1),
    }


def wrong_colours(model: torch.nn.Module, missing: int) -> dict[str, float]:
    """What wrong answers to "which colour" about unseen pairs say, as shares of all answers.

    "of another patch": the model looked most at another patch; "looked right": it looked at the right one and named another
    colour.
    """
    asked = held_out_coloured("colour", 1000, True, missing)
    found = coloured_answers(model, "colour", asked)
    wrong = ~found.right
    looked = found.looks.argmax(-1) == found.target
    counts = Counter(COLOURED_WORDS[word] for word in found.said[wrong].tolist())
    return {
        "looked right": (wrong & looked).float().mean().item(),
        "looked elsewhere": (wrong & ~looked).float().mean().item(),
        "no colour": sum(count for word, count in counts.items() if word not in COLOURS) / len(wrong),
    }


if __name__ == "__main__":
    main()
