"""Weights that came back from a notebook, in a model of the reference."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn


def load_returned(model: nn.Module, state: object, missing: str, given: str = "it was given") -> str:
    """Copy weights that came back into a model, which learns no more; return a message if they do not fit, "" if they do.

    Args:
        state: the weights by parameter name; untrusted.
        missing: what to say where these are not the model's parameters.
        given: where a weight has its shape and type from.
    """
    wanted = dict(model.requires_grad_(False).named_parameters())
    if not isinstance(state, Mapping) or set(state) != set(wanted):
        return missing
    for name, parameter in wanted.items():
        value = state[name]
        if not isinstance(value, Tensor) or value.shape != parameter.shape or value.dtype != parameter.dtype:
            return f"the weight {name} has another shape or type than {given}"
        if not value.isfinite().all():
            return f"the weight {name} holds NaN or infinity: training has diverged"
        parameter.copy_(value)
    return ""


def unlike_start(model: nn.Module, start: nn.Module, least: float) -> str:
    """Return a message on the first weight matrix whose cosine with its initial values is below `least`; "" if there is none."""
    before = dict(start.named_parameters())
    for name, parameter in model.named_parameters():
        if parameter.ndim > 1:
            with torch.no_grad():
                cosine = torch.cosine_similarity(parameter.flatten(), before[name].flatten(), dim=0)
            if cosine < least:
                return f"the weight {name} does not come from the start of this training: was it put in?"
    return ""
