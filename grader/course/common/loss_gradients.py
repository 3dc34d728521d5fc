"""Gradients of a loss of attention weights that students write (1.9 and 6.9)."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.declare.probes import effects_of, purity_and_gradients
from grader.records import Value


def gradients_through_softmax(function, arguments: Mapping[str, Any]) -> Mapping[str, Value]:
    """Return side effects of a loss, and its gradients with respect to scores.

    The softmax of the argument `scores` gives the weights for the loss. The gradients of two right
    answers may differ with respect to the weights, because a loss may use that the weights sum to
    1. They agree with respect to the scores.
    """

    def call(scores: Tensor, **others: Any) -> dict[str, Tensor]:
        return {"loss": function(weights=torch.softmax(scores, -1), **others)}

    others = {name: value for name, value in arguments.items() if name != "scores"}
    effects = effects_of(function, {**others, "weights": torch.softmax(arguments["scores"], -1)})
    if not effects["inputs unchanged"]:
        return effects
    return purity_and_gradients(call, arguments, {"loss": torch.ones((), dtype=arguments["scores"].dtype)})
