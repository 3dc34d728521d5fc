"""Scenes of handwritten digits: the images that the whole course looks at.

The digits are scikit-learn's `load_digits` (Alpaydin and Kaynak 1998, UCI Optical Recognition of Handwritten
Digits): 1,797 images of 8×8 pixels. A scene is a 3×3 grid of them, so each of its 9 patches is one digit of
64 numbers. The images are split before scenes are built: a test scene holds images nobody trained on. The same 13
people wrote both parts (the data set is UCI's test set, and the split goes by image, not by writer).

Axes: B scenes, 9 patches row by row, 64 pixels.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

BLANK = 10  # the label of an empty patch
POSITIONS = tuple(
    "top-left top-center top-right middle-left center middle-right bottom-left bottom-center bottom-right".split()
)
_MEAN, _STD = 0.3, 0.38  # of the pixels, scaled to 0…1
_TRAINING = 1347  # 1,347 digits to train on, 450 held out


class Digits(NamedTuple):
    """Single digits: patches (N, 64) float32, about zero mean and unit variance; labels (N,) int64."""

    patches: Tensor
    labels: Tensor


class Scenes(NamedTuple):
    """patches (B, 9, 64) float32; labels (B, 9) int64, BLANK where a patch is empty."""

    patches: Tensor
    labels: Tensor


@cache
def digits(split: str) -> Digits:
    """Return all digits of one split, "train" (1,347) or "test" (450).

    Raises:
        ValueError: the split is neither.
    """
    if split not in ("train", "test"):
        raise ValueError(f'there is a "train" and a "test" split, not {split!r}')
    table = _handwriting()
    patches = (torch.tensor(table[:, :-1], dtype=torch.float32) / 16 - _MEAN) / _STD
    order = torch.randperm(len(patches), generator=torch.Generator().manual_seed(0))
    chosen = order[:_TRAINING] if split == "train" else order[_TRAINING:]
    return Digits(patches[chosen], torch.tensor(table[:, -1], dtype=torch.long)[chosen])


def _handwriting() -> np.ndarray:
    """scikit-learn's digits, one in a row: 64 pixels from 0 to 16, then the label.

    They are read from its file, because importing scikit-learn takes a second and 80 MB.
    """
    package = find_spec("sklearn")
    if package and package.origin:
        file = Path(package.origin).with_name("datasets") / "data" / "digits.csv.gz"
        if file.is_file():
            return np.loadtxt(file, delimiter=",", dtype=np.uint8)
    from sklearn.datasets import load_digits  # its file is somewhere else, and it knows where

    return np.column_stack(load_digits(return_X_y=True))


@cache
def _by_label(split: str) -> tuple[Tensor, Tensor]:
    """Return which digits show a label (10, most of a label), and how many do (10,)."""
    labels = digits(split).labels
    found = [torch.nonzero(labels == label).squeeze(1) for label in range(10)]
    return torch.nn.utils.rnn.pad_sequence(found, batch_first=True), torch.tensor([len(of) for of in found])


def draw_scenes(count: int, generator: torch.Generator, split: str = "train", fewest: int = 9, most: int = 9) -> Scenes:
    """Return scenes of 3×3 patches with distinct digits, drawn on the CPU.

    Args:
        count: how many scenes, B.
        generator: a CPU generator; the same state gives the same scenes on every machine.
        split: which images, "train" or "test".
        fewest, most: a scene holds between `fewest` and `most` digits (1…9); its other patches are blank.
    """
    patches = digits(split).patches
    scene_labels = torch.rand(count, 10, generator=generator).argsort(1)[:, :9]
    table, sizes = _by_label(split)
    which = (torch.rand(count, 9, generator=generator) * sizes[scene_labels]).long()
    scene_patches = F.embedding(table[scene_labels, which], patches)  # as patches[...], and faster
    held = torch.randint(fewest, most + 1, (count, 1), generator=generator)
    order = torch.rand(count, 9, generator=generator)
    if fewest == 9:
        return Scenes(scene_patches, scene_labels)
    shown = order.argsort(1).argsort(1) < held
    blank = torch.full((64,), -_MEAN / _STD)
    return Scenes(torch.where(shown.unsqueeze(-1), scene_patches, blank), torch.where(shown, scene_labels, BLANK))


def to_images(patches: Tensor) -> Tensor:
    """Put patches (B, 9, 64) together as images (B, 24, 24): what a camera would have seen."""
    count = len(patches)
    return patches.reshape(count, 3, 3, 8, 8).permute(0, 1, 3, 2, 4).reshape(count, 24, 24)
