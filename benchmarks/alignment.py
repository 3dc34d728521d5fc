"""Lesson 2's two experiments over several seeds: what alignment brings, and what several heads are for.

    python -m benchmarks.alignment [--seeds 5]

Alignment: the share of 450 unseen digits whose nearest word is the right one, and the share of the patches' variance
that a linear readout gets back. Heads: the shares of 2,000 unseen scenes in which both named digits are read in order,
and in which the pair is right in any order; the loss there; and for each named cell the share in which its best head
looks there first. Two heads, where it is a matter of luck, and four are tried on four times as many seeds, and two with a
lower learning rate, too.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import NamedTuple

import torch
from attention.alignment import TokenAligner, explained_variance
from attention.data.digits import digits
from attention.experiments.matching import draw_linear, matching_accuracy, train_aligner, word_vectors
from attention.experiments.reader import HalfAndHalf, TwoCellReader, draw_reading, shares_right, train_reader
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import publish

ALIGN_STEPS, READ_STEPS, LONG_STEPS, SCENES = 200, 600, 2000, 2000
RATE, LOW_RATE = 3e-3, 1e-3


class Read(NamedTuple):
    """What one reader does on unseen scenes."""

    both: float  # share: both digits right, in order
    pair: float  # share: the pair right, in any order
    same: float  # share: the same digit given twice
    loss: float
    on_cell: float  # share: the weaker cell's best head looks there first
    seconds: float  # of one core


class FirstHalf(nn.Module):
    """Keeps the first 32 numbers: truncation."""

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens[..., :32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    count = parser.parse_args().seeds
    torch.set_num_threads(1)
    matched = {name: [align(name, seed) for seed in range(count)] for name in aligners()}
    read = {
        f"{heads} head{'s' * (heads > 1)}": [read_two(heads, READ_STEPS, seed) for seed in range(seeds)]
        for heads, seeds in ((1, count), (2, 4 * count), (4, 4 * count), (16, count))
    }
    read["1 head, half and half"] = [read_two(1, READ_STEPS, seed, HalfAndHalf) for seed in range(count)]
    read[f"1 head, {LONG_STEPS} steps"] = [read_two(1, LONG_STEPS, seed=0)]
    read[f"2 heads, rate {LOW_RATE}"] = [read_two(2, READ_STEPS, seed, rate=LOW_RATE) for seed in range(4 * count)]
    two = sorted(run.both for run in read["2 heads"])
    half = read["1 head, half and half"]
    figures = {
        "linear_min": min(one[0] for one in matched["linear"]),
        "mlp_min": min(one[0] for one in matched["mlp"]),
        "truncate_max": max(one[0] for one in matched["truncate"]),
        "random_max": max(one[0] for one in matched["random"]),
        "four_heads_min": min(run.both for run in read["4 heads"]),
        "four_heads_on_cell_min": min(run.on_cell for run in read["4 heads"]),
        "two_heads": two,
        "two_heads_succeed": sum(share > 0.9 for share in two),
        "one_head_max": max(run.both for name in ("1 head", f"1 head, {LONG_STEPS} steps") for run in read[name]),
        "half_pair": [min(run.pair for run in half), max(run.pair for run in half)],
        "half_in_order": [min(run.both for run in half), max(run.both for run in half)],
        "half_loss": [min(run.loss for run in half), max(run.loss for run in half)],
        "one_head_loss": [min(run.loss for run in read["1 head"]), max(run.loss for run in read["1 head"])],
        "by_seed": {name: [round(run.both, 3) for run in runs] for name, runs in read.items()},
        "seeds": count,
    }
    publish("alignment", figures, [*rows_of_aligners(matched), *rows_of_readers(read)])


def rows_of_aligners(matched: dict[str, list[tuple[float, float, float]]]) -> list[dict]:
    """A row of the table for each aligner."""
    return [
        {
            "what": name,
            "seeds": len(runs),
            "right, min": min(one[0] for one in runs),
            "right, max": max(one[0] for one in runs),
            "kept, min": min(one[1] for one in runs),
            "CPU s": min(one[2] for one in runs),
        }
        for name, runs in matched.items()
    ]


def rows_of_readers(read: dict[str, list[Read]]) -> list[dict]:
    """A row of the table for each reader; "right" is both digits in order, "twice" one digit given for both."""
    return [
        {
            "what": name,
            "seeds": len(runs),
            "right, min": min(run.both for run in runs),
            "right, max": max(run.both for run in runs),
            "pair, min": min(run.pair for run in runs),
            "pair, max": max(run.pair for run in runs),
            "twice, min": min(run.same for run in runs),
            "loss, min": min(run.loss for run in runs),
            "loss, max": max(run.loss for run in runs),
            "on cell, min": min(run.on_cell for run in runs),
            "CPU s": min(run.seconds for run in runs),
        }
        for name, runs in read.items()
    ]


def aligners() -> dict[str, nn.Module]:
    """The five ways to bring 64 numbers to 32, untrained."""
    return {
        "truncate": FirstHalf(),
        "random": TokenAligner(64, 32),
        "truncate, then learn": nn.Sequential(FirstHalf(), TokenAligner(32, 32)),
        "linear": TokenAligner(64, 32),
        "mlp": TokenAligner(64, 32, "mlp"),
    }


def align(name: str, seed: int) -> tuple[float, float, float]:
    """Held-out matching, variance kept, and CPU seconds, of one aligner."""
    started = process_time()
    aligner, words = aligners()[name], word_vectors(seed)
    draw_linear(aligner, seed)
    if name not in ("truncate", "random"):
        train_aligner(aligner, words, ALIGN_STEPS, seed)
    patches, labels = digits("test")
    with torch.no_grad():
        aligned = aligner(patches)
    kept = float(explained_variance(patches, aligned))
    return matching_accuracy(aligned, words, labels), kept, process_time() - started


def read_two(heads: int, steps: int, seed: int, kind: type[TwoCellReader] = TwoCellReader, rate: float = RATE) -> Read:
    """Train one reader, and measure what it reads."""
    started = process_time()
    reader = train_reader(heads, steps, seed, kind=kind, rate=rate)
    patches, cells, answers = draw_reading(SCENES, torch.Generator().manual_seed(99), "test")
    with torch.no_grad():
        logits, maps = reader(patches, cells)
    _, _, both, pair = shares_right(logits, answers)
    given = logits.argmax(-1)
    looks = (maps.argmax(-1, keepdim=True) == cells.unsqueeze(1)).float().mean(0)
    return Read(
        both=both,
        pair=pair,
        same=(given[:, 0] == given[:, 1]).double().mean().item(),
        loss=F.cross_entropy(logits.flatten(0, 1), answers.flatten()).item(),
        on_cell=looks.max(0).values.min().item(),
        seconds=process_time() - started,
    )


if __name__ == "__main__":
    main()
