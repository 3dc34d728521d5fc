"""Real eyes, changed: python -m benchmarks.real_eyes (some minutes; needs the extra `real`).

What is measured is how alike the last [CLS] of a changed run is to that of the whole picture: their cosine; 1 is the same.

- Deletion: squares of 4 × 4 patches get the picture's mean colour, in the order of a map, in twenty random orders, and from the
  middle outwards, which needs no model. The area under the curve is small where an order is good.
- Removal: one of the 72 heads hands on nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from attention.deletion import area_under, deletion_curve
from attention.explanations import attention_rollout
from attention.real_changes import last_cls, mean_colour, middle_first, order_by, pictures_of, squares_of
from attention.real_eyes import HEADS, LAYERS, SIDE, RealEyes, load_real_eyes, look
from attention.real_photos import sample_pictures
from attention.vit import cls_map, patch_embedding, vit_block
from torch import Tensor
from torch.nn import functional as F

from benchmarks import publish

RANDOM = 20


def main() -> None:
    torch.set_num_threads(1)
    eyes = load_real_eyes()
    figures: dict[str, dict] = {}
    for name, picture in sample_pictures().items():
        whole = last_cls(eyes, picture.unsqueeze(0), patch_embedding, vit_block)
        figures[name] = {"areas": areas(eyes, picture, whole), "removed": removed(eyes, picture, whole)}
    rows = [
        {"photo": name, **{order: str(area) for order, area in one["areas"].items()}} for name, one in figures.items()
    ]
    publish("real_eyes", figures, rows)


def areas(eyes: RealEyes, picture: Tensor, whole: Tensor) -> dict[str, float | list[float]]:
    """The area under the deletion curve of each order."""
    maps = look(eyes, picture, patch_embedding, vit_block)
    last = cls_map(maps[-1], SIDE, SIDE)
    itself = torch.eye(maps.shape[-1]).unsqueeze(0)
    orders = {"mean of the last layer": order_by(last.mean(0)), "middle first": middle_first()}
    orders["rollout"] = order_by(cls_map(attention_rollout(list(maps), itself), SIDE, SIDE))
    orders |= {f"head {head}": order_by(last[head]) for head in range(HEADS)}

    def alike(squares: Tensor) -> Tensor:
        return F.cosine_similarity(last_cls(eyes, pictures_of(squares), patch_embedding, vit_block), whole)

    def area(order: Tensor) -> float:
        squares = squares_of(picture.unsqueeze(0))
        return round(area_under(deletion_curve(alike, squares, order, mean_colour(picture))).item(), 4)

    generator = torch.Generator().manual_seed(0)
    by_chance = [torch.randperm(16, generator=generator).unsqueeze(0) for _ in range(RANDOM)]
    return {**{name: area(order) for name, order in orders.items()}, "random": [area(order) for order in by_chance]}


def removed(eyes: RealEyes, picture: Tensor, whole: Tensor) -> list[list[float]]:
    """How alike [CLS] stays without each head: a row for each layer."""

    def without(layer: int, head: int) -> float:
        with one_head_less(eyes, layer, head):
            left = last_cls(eyes, picture.unsqueeze(0), patch_embedding, vit_block)
        return round(F.cosine_similarity(left, whole).item(), 4)

    return [[without(layer, head) for head in range(HEADS)] for layer in range(LAYERS)]


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
