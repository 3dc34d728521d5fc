"""Stored measurements of two joined towers, for readers without their weights, and of what takes minutes.

`python -m benchmarks.real_alignment` writes real_joined.txt, an object of JSON:

- "recall": by row of the table, then "first" and "among ten": a number for each of five splits.
- "quarters": by row, a number for each split.
- "named": for some held-out emoji, its sign, its name, and the five nearest names with their
  similarities.
- "photos": for each photo of the sections before, the five nearest of all names with their
  similarities.
- "asked": for each text of `ASKED`, the six nearest pictures: signs and names.
- "scene": a picture of four emoji, three hexadecimal digits for each pixel; their names; a map of
  12 × 12 for each, in hundredths.
"""

import json
from pathlib import Path

import torch
from torch import Tensor

STORED_JOINED = (Path(__file__).parent / "real_joined.txt").read_text("utf-8")
SHOWN_EMOJI = 8
ASKED = (
    "a birthday party",
    "an animal that lives in the sea",
    "something to drink",
    "a red fruit",
    "no dog",
    "the dog chases the cat",
    "the cat chases the dog",
)


def stored_joined() -> dict:
    """Return what is stored, with the scene's picture (3, 84, 84) and maps (4, 12, 12) as tensors."""
    stored = json.loads(STORED_JOINED)
    scene = stored["scene"]
    maps = torch.tensor(scene["maps"]) / 100
    return stored | {"scene": {"names": scene["names"], "picture": from_hex(scene["pixels"]), "maps": maps}}


def as_hex(picture: Tensor) -> list[str]:
    """Write a picture (3, H, W) of numbers 0 … 1 as H texts, with a digit of 0 … f for each colour of each pixel."""
    digits = (15 * picture).round().int().permute(1, 2, 0).flatten(1)
    return ["".join(f"{digit:x}" for digit in row) for row in digits.tolist()]


def from_hex(rows: list[str]) -> Tensor:
    """Read what `as_hex` wrote: (3, H, W)."""
    digits = torch.tensor([[int(digit, 16) for digit in row] for row in rows])
    return digits.unflatten(1, (-1, 3)).permute(2, 0, 1) / 15
