"""The models of assets/explorer.html, as PyTorch has them."""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from attention.data.digits import digits
from attention.experiments.recipe import MODEL
from attention.measures.evaluation import BLANK_PATCH
from attention.plots.explorer import models_of
from attention.vlm import MiniVLM
from torch import Tensor

from examples.make import ROOT

COMMITTED = ROOT / "assets" / "explorer.html"


def in_page(file: Path) -> list[MiniVLM]:
    """The models that a page holds, as PyTorch has them."""
    models = []
    for state in models_of(file).values():
        model = MiniVLM(**MODEL)
        model.load_state_dict(state)
        models.append(model.eval())
    return models


def without(model: MiniVLM, off: list[str]) -> MiniVLM:
    """A copy in which some heads add nothing: their columns of W_O are 0."""
    silent = copy.deepcopy(model)
    width = MODEL["d_model"] // MODEL["num_heads"]
    for key in off:
        layer, head = key.split("/")
        start = int(head) * width
        with torch.no_grad():
            silent.get_submodule(layer).W_O.weight[:, start : start + width] = 0.0
    return silent


def patches_of(scene: list[int | None]) -> Tensor:
    """A scene (9, 64) of digits of the test split; None is blank."""
    return torch.stack([BLANK_PATCH if place is None else digits("test").patches[place] for place in scene])
