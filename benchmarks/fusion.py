"""Lesson 2's practice over several seeds: one direction against two, and what depth does to the size of tokens.

    python -m benchmarks.fusion [--seeds 5]

Two words ask about each other's digit (`pair_finder`). Measured on 2,000 unseen scenes: how often a word says where
the other word's digit stands (chance is 1/8 for a word that knows where its own digit stands, 1/9 for one that does
not), how often a patch knows whether it is named (always "no" is right for 7 of 9), and the standard deviation of the
words after the last layer over that before the first, at the start and after training.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

import torch
from attention.alignment import TokenAligner
from attention.experiments.matching import train_aligner, word_vectors
from attention.experiments.pair_finder import PairFinder, as_tokens, draw_finder, draw_pairs, finder_right, train_finder

from benchmarks import publish

FINDERS = {
    "one direction, 2 layers": dict(layers=2, both=False),
    "both directions, 1 layer": dict(layers=1),
    "both directions, 2 layers": dict(layers=2),
    "6 layers, update / √6": dict(layers=6),
    "6 layers, update whole": dict(layers=6, add=1.0),
    "6 layers, added twice": dict(layers=6, keep=2.0, add=1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    runs = {name: [find(options, seed) for seed in seeds] for name, options in FINDERS.items()}
    rows = [
        {
            "what": name,
            "places, least": min(run["places"] for run in found),
            "places, most": max(run["places"] for run in found),
            "named, least": min(run["named"] for run in found),
            "growth at the start": median(run["start"] for run in found),
            "growth, trained": median(run["trained"] for run in found),
            "CPU seconds, least": min(run["seconds"] for run in found),
        }
        for name, found in runs.items()
    ]
    figures = {
        name: {"places": [run["places"] for run in found], "growth": [run["trained"] for run in found]}
        for name, found in runs.items()
    }
    publish("fusion", {**figures, "seeds": len(seeds)}, rows)


def find(options: dict, seed: int) -> dict[str, float]:
    """Train one finder, and measure what it finds and how its words grow."""
    words, aligner, finder = word_vectors(0), TokenAligner(64, 32), PairFinder(**options)
    train_aligner(aligner, words, 200, seed)
    draw_finder(finder, seed)
    start = growth(finder, words, aligner)
    started = process_time()
    train_finder(finder, words, aligner, seed)
    seconds = process_time() - started
    places, named = finder_right(finder, words, aligner)
    return {
        "places": places,
        "named": named,
        "start": start,
        "trained": growth(finder, words, aligner),
        "seconds": seconds,
    }


def growth(finder: PairFinder, words: torch.Tensor, aligner: TokenAligner) -> float:
    """How much larger the words' standard deviation is after the last layer than before the first."""
    pairs = draw_pairs(500, torch.Generator().manual_seed(99), "test")
    with torch.no_grad():
        states = finder.fuse(*as_tokens(pairs, words, aligner))
    return (states[-1][0].std() / states[0][0].std()).item()


if __name__ == "__main__":
    main()
