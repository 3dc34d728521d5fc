"""What was measured of real eyes: for readers without the weights, and what takes minutes.

`python -m benchmarks.real_eyes` writes real_values.txt: an object of JSON, by picture and measure.

- "share", "resting", "removed": a number for each layer and head (12, 6). How much of the map of [CLS] lies in the object's box;
  what [CLS] gives itself; how alike [CLS] stays after the last layer if this head hands on nothing.
- "evenness", "distance": a mean for each layer (12,).
- Orders of squares: how alike [CLS] stays with 0 … 16 of them blanked (17,), the first of them by a map, three without a model; "random orders" has twenty such curves (20, 17).
"""

import json
from pathlib import Path

import torch
from torch import Tensor

VALUES = (Path(__file__).parent / "real_values.txt").read_text("utf-8")


def stored_values() -> dict[str, dict[str, Tensor]]:
    """Return the measures by picture and name."""
    return {
        picture: {name: torch.tensor(numbers) for name, numbers in measures.items()}
        for picture, measures in json.loads(VALUES).items()
    }
