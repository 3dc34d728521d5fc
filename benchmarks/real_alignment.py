"""Two real towers joined, measured: python -m benchmarks.real_alignment (minutes; needs `make real`).

A vision transformer and a sentence model, both frozen, 1,392 emoji with their names, five splits
into 1,112 pairs to train on and 280 that are held out. Each row is trained five times, once on each
split, and everything is counted on held-out pairs.

- Recall: is the right one of 280 names the nearest to a picture, or among the ten nearest? "near"
  counts only names that differ from a name of the training in a single word, "far" only the others;
  both rank among all 280.
- Quarters: four held-out emoji in one picture; is the mean share of a name's patches largest in the
  quarter of its emoji?

Writes real_joined.txt, which the lab shows where the packages are missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from attention.contrastive import contrastive_loss, sigmoid_loss
from attention.experiments.joining import (
    HELD_OUT,
    JOIN_STEPS,
    has_near_name,
    in_another_order,
    new_aligner,
    quarters,
    similarities,
    split_pairs,
    train_to_join,
    vectors_by_chance,
)
from attention.patch_maps import patch_map
from attention.real.real_emoji import RealEmoji, load_real_emoji, side_by_side
from attention.real.real_eyes import RealEyes, load_real_eyes
from attention.real.real_joined import ASKED, SHOWN_EMOJI, as_hex
from attention.real.real_photos import sample_pictures
from attention.real.real_towers import patch_tokens, text_vectors
from attention.real.real_words import RealWords, block_of_torch, load_real_words
from attention.retrieval import rank_names, recall_at_k
from attention.vit import patch_embedding, vit_block
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import publish

STORED = Path(__file__).parents[1] / "source" / "attention" / "real" / "real_joined.txt"
SEEDS = range(5)
SIZES = (70, 139, 278, 556, 1112)  # pairs to train on
SCENES = 40  # of each split


@dataclass(frozen=True)
class Towers:
    """Return the outputs of both towers for the emoji; they are computed once."""

    emoji: RealEmoji
    eyes: RealEyes
    words: RealWords
    patches: Tensor  # (1392, 36, 384)
    texts: Tensor  # (1392, 384)


def load_towers() -> Towers:
    """Read the packages, and compute the tokens of all pictures and the vectors of all names."""
    emoji, eyes, words = load_real_emoji(), load_real_eyes(), load_real_words()
    patches = patch_tokens(eyes, emoji.pictures, patch_embedding, vit_block)
    return Towers(emoji, eyes, words, patches, text_vectors(words, emoji.names, batched_block))


def batched_block(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, None]:
    """Let PyTorch's own layer compute tokens (B, T, 384). The maps are not needed."""
    return torch.stack([block_of_torch(layer, one)[0] for one in tokens]), torch.empty(0)


@dataclass(frozen=True)
class Row:
    """How one row of the table is trained."""

    method: str = "linear"
    loss: Callable[[Tensor, Tensor], Tensor] = contrastive_loss
    texts: Callable[[Tensor, int], Tensor] = lambda texts, seed: texts  # those that are trained on
    steps: int = JOIN_STEPS
    pairs: int = max(SIZES)


ROWS = {
    "linear": Row(),
    "mlp": Row(method="mlp"),
    "sigmoid loss": Row(loss=sigmoid_loss),
    "pairs shuffled": Row(texts=in_another_order),
    "untrained": Row(steps=0),
} | {f"{size} pairs": Row(pairs=size) for size in SIZES[:-1]}


def join(towers: Towers, row: Row, seed: int) -> tuple[nn.Module, Tensor, Tensor]:
    """Train an aligner on one split, and return it with the indices of the trained and of the held-out pairs."""
    train, held_out = split_pairs(len(towers.texts), seed)
    train = train[: row.pairs]
    aligner = new_aligner(row.method)
    texts = row.texts(towers.texts[train], seed)
    train_to_join(aligner, towers.patches[train].mean(1), texts, row.loss, seed, row.steps)
    return aligner.eval(), train, held_out


def measure(towers: Towers, row: Row, seed: int) -> dict[str, float]:
    """Train one row on one split, and count what it finds."""
    aligner, train, held_out = join(towers, row, seed)
    images = towers.patches.mean(1)
    found = similarities(aligner, images[held_out], towers.texts[held_out])
    names = towers.emoji.names
    near = has_near_name([names[one] for one in held_out], [names[one] for one in train])
    target = torch.arange(HELD_OUT)
    own = similarities(aligner, images[train], row.texts(towers.texts[train], seed))
    return {
        "first": recall_at_k(found, target, 1).item(),
        "among ten": recall_at_k(found, target, 10).item(),
        "middle rank": float((found >= found.diag()[:, None]).sum(1).median()),
        "near, among ten": recall_at_k(found[near], target[near], 10).item(),
        "far, among ten": recall_at_k(found[~near], target[~near], 10).item(),
        "near names": int(near.sum()),
        "trained pairs, first": recall_at_k(own, torch.arange(len(train)), 1).item(),
    }


def measure_meaningless(towers: Towers, seed: int) -> dict[str, float]:
    """Measure the row in which each name, held out or not, has a vector drawn by chance."""
    chance = Towers(towers.emoji, towers.eyes, towers.words, towers.patches, vectors_by_chance(towers.texts, seed))
    return measure(chance, Row(), seed)


def scenes(towers: Towers, seed: int) -> tuple[Tensor, Tensor]:
    """Draw pictures of four held-out emoji: their indices (S, 4) and the tokens of their patches (S, 144, 384)."""
    held_out = split_pairs(len(towers.texts), seed)[1]
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.stack([held_out[torch.randperm(HELD_OUT, generator=generator)[:4]] for _ in range(SCENES)])
    pictures = torch.stack([side_by_side(towers.emoji.pictures[four]) for four in drawn])
    return drawn, patch_tokens(towers.eyes, pictures, patch_embedding, vit_block)


@torch.no_grad()
def maps_of(aligner: nn.Module, tokens: Tensor, texts: Tensor) -> Tensor:
    """Compute the maps (..., 12, 12) of texts (..., 384) over tokens (..., 144, 384)."""
    return patch_map(aligner(tokens), texts).unflatten(-1, (12, 12))


def in_right_quarter(towers: Towers, aligner: nn.Module, drawn: Tensor, tokens: Tensor) -> float:
    """Return the share of names whose map is brightest, on average, in the quarter of their emoji."""
    each = tokens.unsqueeze(1).expand(-1, 4, -1, -1)
    brightest = quarters(maps_of(aligner, each, towers.texts[drawn])).argmax(-1)
    return (brightest == torch.arange(4)).float().mean().item()


def measure_quarters(towers: Towers) -> dict[str, list[float]]:
    """Measure three rows on the scenes of each split."""
    found: dict[str, list[float]] = {"linear": [], "pairs shuffled": [], "untrained": []}
    for seed in SEEDS:
        drawn, tokens = scenes(towers, seed)
        for name, values in found.items():
            values.append(in_right_quarter(towers, join(towers, ROWS[name], seed)[0], drawn, tokens))
    return found


def main() -> None:
    torch.set_num_threads(1)
    towers = load_towers()
    figures: dict[str, Any] = {name: [measure(towers, row, seed) for seed in SEEDS] for name, row in ROWS.items()}
    figures["meaningless vectors"] = [measure_meaningless(towers, seed) for seed in SEEDS]
    figures["quarters"] = measure_quarters(towers)
    STORED.write_text(as_text(towers, figures), "utf-8")
    publish("real_alignment", figures, list(table(figures)))


def table(figures: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a row for the table: the least and the most of the five splits."""
    for name, runs in figures.items():
        if name != "quarters":
            yield {"trained": name} | {column: spread([run[column] for run in runs]) for column in runs[0]}
    for name, values in figures["quarters"].items():
        yield {"trained": f"{name}: right quarter", "first": spread(values)}


def spread(values: list[float]) -> str:
    """Write the least and the most of some numbers."""
    digits = 0 if max(values) > 1 else 3
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def as_text(towers: Towers, figures: dict[str, Any]) -> str:
    """Write the JSON that the lab shows without the packages; real_joined.py says what is in it."""
    aligner, _, held_out = join(towers, ROWS["linear"], 0)
    names, signs = towers.emoji.names, towers.emoji.signs
    unseen = [names[one] for one in held_out]
    images = aligner(towers.patches.mean(1)).detach()
    photos = {
        name: aligner(patch_tokens(towers.eyes, picture[None], patch_embedding, vit_block).mean(1)[0])
        for name, picture in sample_pictures().items()
    }
    drawn, tokens = scenes(towers, 0)
    maps = maps_of(aligner, tokens[0].expand(4, -1, -1), towers.texts[drawn[0]])
    asked = text_vectors(towers.words, ASKED, batched_block)
    stored = {
        "recall": {
            name: {column: [round(run[column], 3) for run in runs] for column in ("first", "among ten")}
            for name, runs in figures.items()
            if name != "quarters"
        },
        "quarters": {name: [round(value, 3) for value in values] for name, values in figures["quarters"].items()},
        "named": [
            [signs[one], names[one], named(rank_names(images[one], towers.texts[held_out], 5), unseen)]
            for one in held_out[:SHOWN_EMOJI].tolist()
        ],
        "photos": {name: named(rank_names(one, towers.texts, 5), names) for name, one in photos.items()},
        "asked": [
            [text, [[signs[index], names[index]] for index in row]]
            for text, row in zip(ASKED, rank_names(asked, images, 6)[1].tolist(), strict=True)
        ],
        "scene": {
            "names": [names[one] for one in drawn[0]],
            "pixels": as_hex(F.avg_pool2d(side_by_side(towers.emoji.pictures[drawn[0]]), 2)),
            "maps": [(100 * one).round().int().tolist() for one in maps],
        },
    }
    parts = (f'"{name}":{json.dumps(part, ensure_ascii=False, separators=(",", ":"))}' for name, part in stored.items())
    return "{" + ",\n".join(parts) + "}\n"


def named(ranked: tuple[Tensor, Tensor], names: Sequence[str]) -> list[list]:
    """Write what `rank_names` found as pairs of a similarity and a name."""
    return [[round(value, 2), names[index]] for value, index in zip(*(one.tolist() for one in ranked), strict=True)]


if __name__ == "__main__":
    main()
