"""Lesson 2's two experiments over several seeds: what alignment brings, and what several heads are for.

    python -m benchmarks.alignment [--seeds 5]

Alignment: the share of 450 unseen digits whose nearest word is the right one, and the share of the patches' variance
that a linear readout gets back. Heads: the share of 2,000 unseen scenes in which both named digits are read, and for
each named cell the share in which its best head looks there first.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import torch
from attention.alignment import TokenAligner, explained_variance
from attention.digits import digits
from attention.matching import draw_linear, matching_accuracy, train_aligner, word_vectors
from attention.reader import draw_reading, train_reader
from torch import Tensor, nn

from benchmarks import publish

ALIGN_STEPS, READ_STEPS, LONG_STEPS, SCENES = 200, 600, 2000, 2000


class FirstHalf(nn.Module):
    """Keeps the first 32 numbers: truncation."""

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens[..., :32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    matched = {name: [align(name, seed) for seed in seeds] for name in aligners()}
    read = {heads: [read_two(heads, READ_STEPS, seed) for seed in seeds] for heads in (1, 2, 4)}
    longer = read_two(1, LONG_STEPS, seed=0)
    rows = [
        {"what": name, "right, least": min(one[0] for one in runs), "right, most": max(one[0] for one in runs),
         "variance kept, least": min(one[1] for one in runs), "seconds, most": max(one[2] for one in runs)}
        for name, runs in matched.items()
    ] + [
        {"what": f"{heads} head{'s' * (heads > 1)}", "right, least": min(one[0] for one in runs),
         "right, most": max(one[0] for one in runs), "on the cell, least": min(one[1] for one in runs),
         "seconds, most": max(one[2] for one in runs)}
        for heads, runs in read.items()
    ] + [{"what": f"1 head, {LONG_STEPS} steps", "right, least": longer[0], "right, most": longer[0],
          "on the cell, least": longer[1], "seconds, most": longer[2]}]  # fmt: skip
    figures = {
        "linear_min": min(one[0] for one in matched["linear"]),
        "mlp_min": min(one[0] for one in matched["mlp"]),
        "truncate_max": max(one[0] for one in matched["truncate"]),
        "random_max": max(one[0] for one in matched["random"]),
        "four_heads_min": min(one[0] for one in read[4]),
        "four_heads_on_cell_min": min(one[1] for one in read[4]),
        "two_heads": sorted(one[0] for one in read[2]),
        "one_head_max": max(one[0] for one in (*read[1], longer)),
        "seeds": len(seeds),
    }
    publish("alignment", figures, rows)


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
    """Held-out matching, variance kept, and seconds, of one aligner."""
    started = perf_counter()
    aligner, words = aligners()[name], word_vectors(seed)
    draw_linear(aligner, seed)
    if name not in ("truncate", "random"):
        train_aligner(aligner, words, ALIGN_STEPS, seed)
    patches, labels = digits("test")
    with torch.no_grad():
        aligned = aligner(patches)
    kept = float(explained_variance(patches, aligned))
    return matching_accuracy(aligned, words, labels), kept, perf_counter() - started


def read_two(heads: int, steps: int, seed: int) -> tuple[float, float, float]:
    """Both digits right, the weaker cell's best head, and seconds, of one reader."""
    started = perf_counter()
    reader = train_reader(heads, steps, seed)
    patches, cells, answers = draw_reading(SCENES, torch.Generator().manual_seed(99), "test")
    with torch.no_grad():
        logits, maps = reader(patches, cells)
    both = (logits.argmax(-1) == answers).all(1).float().mean().item()
    looks = (maps.argmax(-1, keepdim=True) == cells.unsqueeze(1)).float().mean(0)
    return both, looks.max(0).values.min().item(), perf_counter() - started


if __name__ == "__main__":
    main()
