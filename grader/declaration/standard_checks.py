"""The checks that nearly every exercise has: values, batch dimensions, gradients with dtype and purity."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.declaration import probes
from grader.declaration.exercise import Check
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials as make_trials
from grader.records import Inputs

Sizes = Mapping[str, Any]
CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"


@dataclass(frozen=True, kw_only=True)
class StandardChecks:
    """Make the usual checks of one function or layer class.

    For a function, `draw` gives its arguments by name. For a class it gives three dicts: "sizes" (what makes a layer),
    "weights" (what is put into it, by parameter name) and "arguments" (what it is called with).
    """

    reference: Any  # the right function or class
    returns: tuple[str, ...]  # names for what comes back: one value or a pair
    draw: Callable[..., Inputs]  # draw(sampler, **sizes)

    def values(
        self,
        title: str,
        points: float,
        *,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes] = (),
        **more: Any,
    ) -> Check:
        """Make the check that every returned value equals the reference's; `more` goes to Check as it is."""
        probe = probes.call_layer if inspect.isclass(self.reference) else probes.call_function
        more = {"name": "values", "probe": probe, **more}
        return self._check(self._draw, title, points, trials, examples, more)

    def batch(
        self, points: float, *, trials: Sequence[Sizes], examples: Sequence[Sizes] = (), **more: Any
    ) -> Check:
        """Make the check of leading batch dimensions: the values, for inputs of such shapes."""
        more = {"name": "batch", "needs": ("values",), **more}
        return self.values(
            "leading batch dimensions are kept", points, trials=trials, examples=examples, **more
        )

    def conduct(self, points: float, *, trials: Sequence[Sizes], **more: Any) -> Check:
        """Make the check of gradients, dtype and side effects; its gradients are taken along random directions."""
        probe = probes.layer_gradients if inspect.isclass(self.reference) else probes.function_gradients
        more = {"name": "conduct", "needs": ("values",), "probe": probe, **more}
        return self._check(self._draw_with_gradients, CONDUCT, points, trials, (), more)

    def _check(
        self,
        draw: Callable[..., Inputs],
        title: str,
        points: float,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes],
        more: Mapping[str, Any],
    ) -> Check:
        parameter = "layer_class" if inspect.isclass(self.reference) else "function"
        return Check(
            title=title,
            points=points,
            trials=make_trials(draw, *trials),
            examples=make_trials(draw, *examples),
            names={parameter: self.reference.__name__},
            **more,
        )

    def _draw(self, sampler: InputSampler, **sizes: Any) -> Inputs:
        drawn = self.draw(sampler, **sizes)
        inputs = drawn if inspect.isclass(self.reference) else {"arguments": drawn}
        return {**inputs, "returns": list(self.returns)}

    def _draw_with_gradients(self, sampler: InputSampler, **sizes: Any) -> Inputs:
        inputs = self._draw(sampler, **sizes)
        with torch.random.fork_rng(devices=[]), torch.no_grad():  # a layer draws weights, which are replaced
            probe = probes.call_layer if inspect.isclass(self.reference) else probes.call_function
            outputs = probe(self.reference, **inputs)
        directions = {
            name: sampler.normal(*output.shape, dtype=output.dtype) for name, output in outputs.items()
        }
        return {**inputs, "grad_outputs": directions}
