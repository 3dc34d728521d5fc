"""What [CLS] looks at in the two photos, computed by the published file itself, for two of its layers.

`assets/real_maps.py` writes real_maps.txt, with onnxruntime: a line for each photo, layer and head, with 257 weights in units of
0.00001. Rounding to these is off by 0.000005 at most.
"""

from pathlib import Path

import torch
from torch import Tensor

from attention.real.real_eyes import HEADS
from attention.real.real_photos import PHOTOS

STORED_LAYERS = (7, 11)
STORED = (Path(__file__).parent / "real_maps.txt").read_text("utf-8")


def stored_rows() -> dict[str, Tensor]:
    """Return the row of [CLS] in the weights of the stored layers, for each photo.

    The result is (2, 6, 257); the weight on itself comes first.
    """
    numbers = torch.tensor([[int(number) for number in line.split()] for line in STORED.splitlines()])
    rows = numbers.reshape(len(PHOTOS), len(STORED_LAYERS), HEADS, -1) / 100_000
    return dict(zip(PHOTOS, rows, strict=True))
