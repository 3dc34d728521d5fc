"""What a call must leave as it was in a model: the mode of every part, and which parameters learn."""

from torch import nn


def modes(model: nn.Module) -> dict[str, bool]:
    """Map every part of a model, by name, to whether it is in training mode."""
    return {name: part.training for name, part in model.named_modules()}


def what_learns(model: nn.Module) -> dict[str, bool]:
    """Map every parameter of a model, by name, to whether it asks for gradients."""
    return {name: parameter.requires_grad for name, parameter in model.named_parameters()}
