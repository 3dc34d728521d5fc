"""The checks that nearly every exercise has: values, batch dimensions, gradients with dtype and purity."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.declaration import probes
from grader.declaration.exercise import Check
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials as make_trials
from grader.records import Inputs

Sizes = Mapping[str, Any]
BATCH = "leading batch dimensions are kept"
CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"


@dataclass(frozen=True, kw_only=True)
class StandardChecks:
    """Make the usual checks of one function or layer class.

    For a function, `draw` gives its arguments by name. For a class it gives three dicts: "sizes" (what makes a layer),
    "weights" (what is put into it, by parameter name) and "arguments" (what it is called with).
    """

    reference: Any  # the right function or class
    returns: tuple[str | None, ...]  # names for what comes back: one value or a pair; None: it is left out
    draw: Callable[..., Inputs]  # draw(sampler, **sizes)
    zero_others: bool = False  # whether parameters of a layer that "weights" does not name are set to zero

    def values(
        self,
        title: str,
        points: float,
        *,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes] = (),
        draw: Callable[..., Inputs] | None = None,
        only: str | None = None,
        **more: Any,
    ) -> Check:
        """Make the check that every returned value equals the reference's.

        Args:
            trials: sizes of the hidden trials.
            examples: sizes of the public ones.
            draw: draws the arguments of this check; None: the `draw` that all checks share.
            only: the one of the returned values that is compared; None: all are.
            more: fields of Check; name="values" unless given.
        """
        returns = [name if only in (None, name) else None for name in self.returns]

        def draw_inputs(sampler: InputSampler, **sizes: Any) -> Inputs:
            return self._inputs((draw or self.draw)(sampler, **sizes), returns)

        fields = {"name": "values", "probe": self._probe(), **more}
        return self._check(draw_inputs, title, points, trials, examples, fields)

    def further_values(
        self, name: str, title: str, points: float, *, trials: Sequence[Sizes], **more: Any
    ) -> Check:
        """Make another check of values, which earns its points only where the check "values" passes."""
        fields = {"needs": ("values",), **more}
        return self.values(title, points, trials=trials, name=name, **fields)

    def batch(
        self,
        points: float,
        *,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes] = (),
        title: str = BATCH,
        **more: Any,
    ) -> Check:
        """Make the check of leading batch dimensions: the values, for inputs of such shapes."""
        return self.further_values("batch", title, points, trials=trials, examples=examples, **more)

    def conduct(
        self,
        points: float,
        *,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes] = (),
        title: str = CONDUCT,
        draw: Callable[..., Inputs] | None = None,
        **more: Any,
    ) -> Check:
        """Make the check of gradients, dtype and side effects; its gradients are taken along random directions."""

        def draw_inputs(sampler: InputSampler, **sizes: Any) -> Inputs:
            inputs = self._inputs((draw or self.draw)(sampler, **sizes), list(self.returns))
            # A layer draws weights when it is made; they are replaced, and must not move the caller's random numbers.
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                outputs = self._probe()(self.reference, **inputs)
            return {**inputs, "grad_outputs": draw_directions(sampler, outputs)}

        fields = {"name": "conduct", "needs": ("values",), "probe": self._gradient_probe(), **more}
        return self._check(draw_inputs, title, points, trials, examples, fields)

    def _check(
        self,
        draw: Callable[..., Inputs],
        title: str,
        points: float,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes],
        fields: Mapping[str, Any],
    ) -> Check:
        parameter = "layer_class" if inspect.isclass(self.reference) else "function"
        given = {
            "title": title,
            "points": points,
            "trials": make_trials(draw, *trials),
            "examples": make_trials(draw, *examples),
            "names": {parameter: self.reference.__name__},
        }
        return Check(**{**given, **fields})

    def _inputs(self, drawn: Inputs, returns: list[str | None]) -> Inputs:
        inputs = drawn if inspect.isclass(self.reference) else {"arguments": drawn}
        return {**inputs, "returns": returns}

    def _probe(self) -> Callable[..., dict[str, Any]]:
        if not inspect.isclass(self.reference):
            return probes.call_function
        return probes.call_zeroed_layer if self.zero_others else probes.call_layer

    def _gradient_probe(self) -> Callable[..., dict[str, Any]]:
        if not inspect.isclass(self.reference):
            return probes.function_gradients
        return probes.zeroed_layer_gradients if self.zero_others else probes.layer_gradients


def draw_directions(sampler: InputSampler, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Draw for each output a direction of its shape and dtype, along which its gradient is taken."""
    return {name: sampler.normal(*output.shape, dtype=output.dtype) for name, output in outputs.items()}
