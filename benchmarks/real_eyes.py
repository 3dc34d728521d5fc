"""Real eyes, measured: python -m benchmarks.real_eyes (some minutes; needs the extra `real`).

Both photos, each cut twice: with its object in the middle, and aside. Writes `real_values.txt`, which says what
is in it; the table has the areas under the deletion curves.

- Deletion: squares of 4 × 4 patches get the picture's mean colour, in the order of a map, in twenty random orders, and in three
  that need no model: from the middle outwards, by contrast, and by how far the colour is from the border's. How alike [CLS] of the last layer is to that of the whole picture is their cosine; 1 is
  the same. The area under the curve is small where an order is good.
- Removal: one of the 72 heads hands on nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from attention.deletion import area_under, deletion_curve
from attention.explanation_maps import attention_rollout
from attention.real.real_changes import (
    contrast_first,
    last_cls,
    mean_colour,
    middle_first,
    order_by,
    pictures_of,
    squares_of,
    unlike_border_first,
)
from attention.real.real_eyes import HEADS, LAYERS, SIDE, RealEyes, load_real_eyes, look
from attention.real.real_measures import distance, evenness, resting, share_in
from attention.real.real_photos import in_box, pictures_aside, sample_pictures
from attention.vit import cls_map, patch_embedding, vit_block
from torch import Tensor
from torch.nn import functional as F

from benchmarks import publish

VALUES = Path(__file__).parents[1] / "source" / "attention" / "real" / "real_values.txt"
RANDOM = 20
NO_MODEL = ("middle first", "contrast first", "unlike the border first")
CURVES = ("mean of the last layer", "its head 2", "its head 3", "rollout", *NO_MODEL, "random orders")


def main() -> None:
    torch.set_num_threads(1)
    eyes = load_real_eyes()
    figures = {
        name: measures_of(eyes, name, picture) for name, picture in (sample_pictures() | pictures_aside()).items()
    }
    for name, picture in sample_pictures().items():
        figures[name]["removed"] = removed(eyes, picture)
    VALUES.write_text(as_text(figures), "utf-8")
    areas = {name: {order: area_under(one[order]).tolist() for order in CURVES} for name, one in figures.items()}
    rows = [
        {"picture": name} | {order: area if order != CURVES[-1] else f"{min(area):.3f} to {max(area):.3f}" for order, area in one.items()}
        for name, one in areas.items()
    ]  # fmt: skip
    publish("real_eyes", areas, rows)


def as_text(figures: dict[str, dict[str, Tensor]]) -> str:
    """JSON of what the lab draws: four digits of each number, two of the curves of random orders."""
    rounded = {
        picture: {
            name: [[round(value, 2) for value in curve] for curve in values.tolist()]
            if name == CURVES[-1]
            else values.double().mul(1e4).round().div(1e4).tolist()
            for name, values in measures.items()
            if not name.startswith("its head")
        }
        for picture, measures in figures.items()
    }
    return json.dumps(rounded, separators=(",", ":")) + "\n"


def measures_of(eyes: RealEyes, name: str, picture: Tensor) -> dict[str, Tensor]:
    """All of a picture but the removal."""
    maps = look(eyes, picture, patch_embedding, vit_block)
    last = cls_map(maps[-1], SIDE, SIDE)
    rollout = cls_map(attention_rollout(list(maps), torch.eye(maps.shape[-1]).unsqueeze(0)), SIDE, SIDE)
    generator = torch.Generator().manual_seed(0)
    by_chance = torch.stack([torch.randperm(16, generator=generator) for _ in range(RANDOM)])
    orders = [
        order_by(last.mean(0)),
        order_by(last[2]),
        order_by(last[3]),
        order_by(rollout),
        middle_first(),
        contrast_first(picture),
        unlike_border_first(picture),
        by_chance,
    ]
    return {
        "share": share_in(cls_map(maps, SIDE, SIDE), in_box(name)),
        "resting": resting(maps),
        "evenness": evenness(maps).mean(1),
        "distance": distance(maps, SIDE).mean(1),
        **{name: curve_of(eyes, picture, order) for name, order in zip(CURVES, orders, strict=True)},
    }


def curve_of(eyes: RealEyes, picture: Tensor, orders: Tensor) -> Tensor:
    """The deletion curve of each of some orders (n, 16): (n, 17), or (17,) of a single one."""
    whole = last_cls(eyes, picture.unsqueeze(0), patch_embedding, vit_block)

    def alike(squares: Tensor) -> Tensor:
        return F.cosine_similarity(last_cls(eyes, pictures_of(squares), patch_embedding, vit_block), whole)

    squares = squares_of(picture.unsqueeze(0))
    return torch.cat([deletion_curve(alike, squares, order[None], mean_colour(picture)) for order in orders]).squeeze(0)


def removed(eyes: RealEyes, picture: Tensor) -> Tensor:
    """How alike [CLS] stays without each head: (12, 6)."""
    whole = last_cls(eyes, picture.unsqueeze(0), patch_embedding, vit_block)

    def without(layer: int, head: int) -> float:
        with one_head_less(eyes, layer, head):
            left = last_cls(eyes, picture.unsqueeze(0), patch_embedding, vit_block)
        return F.cosine_similarity(left, whole).item()

    return torch.tensor([[without(layer, head) for head in range(HEADS)] for layer in range(LAYERS)])


@contextmanager
def one_head_less(eyes: RealEyes, layer: int, head: int) -> Iterator[None]:
    """Let W_O take nothing from one head."""
    weight = eyes.layers[layer].W_O.weight
    width = weight.shape[1] // HEADS
    columns = weight[:, head * width : (head + 1) * width]
    kept = columns.clone()
    columns.zero_()
    try:
        yield
    finally:
        columns.copy_(kept)


if __name__ == "__main__":
    main()
