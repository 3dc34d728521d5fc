"""Functions with which probes describe a model: the modes of its parts, and its parameters.

A probe is a function that calls the student's code and returns the values to compare.
"""

from collections.abc import Callable

import torch
from torch import nn


def modes(model: nn.Module) -> dict[str, bool]:
    """Map the name of each part of a model to True if the part is in training mode."""
    return {name: part.training for name, part in model.named_modules()}


def what_learns(model: nn.Module) -> dict[str, bool]:
    """Map the name of each parameter of a model to True if the parameter requires gradients."""
    return {name: parameter.requires_grad for name, parameter in model.named_parameters()}


def list_parameters(layer: nn.Module) -> list[str]:
    """Return the names and shapes of a layer's parameters, sorted by name: ["W_K.weight (3, 7)", …]."""
    return [f"{name} {tuple(parameter.shape)}" for name, parameter in sorted(layer.named_parameters())]


def make_with_nan(make: Callable[[], nn.Module]) -> nn.Module:
    """Return the layer that `make` makes. Numbers that `make` never sets are NaN.

    Without this function, such numbers would be whatever the allocated memory contained before.
    """
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        return make()
    finally:
        torch.use_deterministic_algorithms(before)
