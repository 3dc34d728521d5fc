"""The checks that nearly every exercise has: values, batch dimensions, gradients and side effects."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.declare import probes
from grader.declare.exercise import Check
from grader.declare.sampler import InputSampler
from grader.declare.trial import trials as make_trials
from grader.records import Inputs

Sizes = Mapping[str, Any]
BATCH = "leading batch dimensions are kept"
CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"


def further_check(**fields: Any) -> Check:
    """Make a check that needs the check "values"; `fields` are those of Check."""
    return Check(needs=("values",), **fields)


@dataclass(frozen=True, kw_only=True)
class StandardChecks:
    """Make the usual checks of one function or layer class.

    For a function, `draw` returns its arguments by name. For a layer class, `draw` returns three dicts:
    "sizes" (arguments of the class), "weights" (which the probe puts into the layer, by parameter name) and
    "arguments" (of the layer's call).
    """

    reference: Any  # the right function or class
    # Names for the returned value, or for both values of a pair. None: the probes leave the value out.
    returns: tuple[str | None, ...]
    draw: Callable[..., Inputs]  # draw(sampler, **sizes)
    zero_others: bool = False  # whether the probes set to zero each parameter that "weights" does not name

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
            draw: draws the inputs of this check; None: the `draw` of this StandardChecks.
            only: the name of the single returned value to compare; None: compare all.
            more: further fields of Check; the name is "values" unless one is given here.
        """
        returns = [name if only in (None, name) else None for name in self.returns]

        def draw_inputs(sampler: InputSampler, **sizes: Any) -> Inputs:
            return self._inputs((draw or self.draw)(sampler, **sizes), returns)

        fields = {"name": "values", "probe": self._probe(), **more}
        return self._check(draw_inputs, title, points, trials, examples, fields)

    def further_values(self, name: str, title: str, points: float, *, trials: Sequence[Sizes], **more: Any) -> Check:
        """Make another check of values; it needs the check "values", unless `more` gives other `needs`."""
        fields = {"needs": ("values",), **more}
        return self.values(title, points, trials=trials, name=name, **fields)

    def batch(
        self, points: float, *, trials: Sequence[Sizes], examples: Sequence[Sizes] = (), title: str = BATCH, **more: Any
    ) -> Check:
        """Make the check "batch": values with leading batch dimensions; it needs the check "values"."""
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
        """Make the check "conduct" of gradients, dtype and side effects; it needs the check "values".

        A gradient is that of the sum of output × a random tensor of the output's shape, so that every output
        counts.
        """

        def draw_inputs(sampler: InputSampler, **sizes: Any) -> Inputs:
            inputs = self._inputs((draw or self.draw)(sampler, **sizes), list(self.returns))
            # The reference layer draws weights when it is made, before ours replace them: the global
            # generator, which the caller may use, must not advance.
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
        """Make a Check of trials from sizes; `fields` override the fields that this method sets."""
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
        """Arrange what `draw` returned as the parameters of the probe, and add "returns"."""
        inputs = drawn if inspect.isclass(self.reference) else {"arguments": drawn}
        return {**inputs, "returns": returns}

    def _probe(self) -> Callable[..., dict[str, Any]]:
        """Choose the probe that returns values."""
        if not inspect.isclass(self.reference):
            return probes.call_function
        return probes.call_zeroed_layer if self.zero_others else probes.call_layer

    def _gradient_probe(self) -> Callable[..., dict[str, Any]]:
        """Choose the probe that returns gradients and reports side effects."""
        if not inspect.isclass(self.reference):
            return probes.function_gradients
        return probes.zeroed_layer_gradients if self.zero_others else probes.layer_gradients


def draw_directions(sampler: InputSampler, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Draw grad_outputs for torch.autograd.grad: for each output a tensor of its shape and dtype."""
    return {name: sampler.normal(*output.shape, dtype=output.dtype) for name, output in outputs.items()}
