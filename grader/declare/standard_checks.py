"""The two checks that most functions and layers have: one of values, and one of gradients and side effects."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.declare import probes
from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check
from grader.declare.sampler import InputSampler
from grader.declare.trial import Sizes, Trial
from grader.declare.trial import trials as make_trials
from grader.records import Inputs

DrawInputs = Callable[..., Inputs]  # draw(sampler, **sizes)
CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"
TITLES = {"batch": "leading batch dimensions are kept", "conduct": CONDUCT}
SHARED = {"function", "layer_class"}  # parameters of a probe that any exercise can use


@dataclass(frozen=True, kw_only=True)
class StandardChecks:
    """Creates the checks of one function or layer class.

    For a function, `draw` returns its arguments by name. For a layer class, `draw` returns three dicts:
    "sizes" (the arguments of the class), "weights" (which the probe loads into the layer, by parameter name) and
    "arguments" (the arguments of the layer's call).
    """

    reference: Any  # the right function or class
    # Names for the returned value, or for both values of a pair. None: the probes leave the value out.
    returns: tuple[str | None, ...]
    draw: DrawInputs | None = None
    zero_others: bool = False  # whether the probes set to zero each parameter that "weights" does not name

    def check(
        self,
        name: str,
        points: float,
        title: str = "",
        *,
        trials: Sequence[Sizes],
        examples: Sequence[Sizes] = (),
        only: str | None = None,
        draw: DrawInputs | Sequence[DrawInputs] | None = None,
        draw_public: DrawInputs | Sequence[DrawInputs] | None = None,
        **fields: Any,
    ) -> Check:
        """Return a check that every returned value equals the reference's.

        The check "conduct" verifies gradients, dtype and side effects instead.

        A `probe` in the fields replaces the standard probe. If it takes `function` or `layer_class`, it gets the same
        inputs as the standard probe, with directions for the gradients if it takes `grad_outputs`. Any other probe gets
        the drawn inputs unchanged, and so does a probe if the fields contain `names`.

        Args:
            title: may be "" for the checks "batch" and "conduct", which have standard titles.
            trials, examples: sizes of the hidden trials and of the public ones.
            only: the name of the single returned value to compare; None: compare all.
            draw: draws the inputs of this check. It may be a list with one function for each trial.
                None: the `draw` of this StandardChecks.
            draw_public: draws the inputs of the public trials; None: `draw` does.
            fields: further fields of Check.

        Raises:
            DeclarationError: there is no function that draws the inputs, or no title.
        """
        draw, title = draw or self.draw, title or TITLES.get(name, "")
        if not (draw and title):
            missing = "a title" if draw else "a draw"
            raise DeclarationError(f"check {name!r} of {self.reference.__name__}: give {missing}")
        own = fields.get("probe")
        asked = inspect.signature(own).parameters if own else {}
        arrange = None
        if not own or ("names" not in fields and SHARED & asked.keys()):
            gradients = "grad_outputs" in asked if own else name == "conduct"
            parameter = "layer_class" if inspect.isclass(self.reference) else "function"
            fields = {"probe": self._probe(gradients), "names": {parameter: self.reference.__name__}, **fields}
            arrange = partial(
                self._arranged, [each if only in (None, each) else None for each in self.returns], gradients
            )
        hidden, public = _trials(draw, trials, arrange), _trials(draw_public or draw, examples, arrange)
        return Check(name=name, title=title, points=points, trials=hidden, examples=public, **fields)

    def _arranged(self, returns: list[str | None], gradients: bool, draw: DrawInputs) -> DrawInputs:
        """Return a function that draws inputs with `draw`, and arranges them as the parameters of the standard probe.

        It adds "returns" and, if needed, directions for the gradients. Each gradient
        is that of the sum of output × direction, where the direction is a random
        tensor of the output's shape. So every number in an output has an effect.
        """

        def draw_inputs(sampler: InputSampler, **sizes: Any) -> Inputs:
            drawn = draw(sampler, **sizes)
            inputs = {**(drawn if inspect.isclass(self.reference) else {"arguments": drawn}), "returns": returns}
            if not gradients:
                return inputs
            # The reference layer draws weights when it is made, before ours replace them: the global
            # generator, which the caller may use, must not advance.
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                outputs = self._probe(gradients=False)(self.reference, **inputs)
            return {**inputs, "grad_outputs": draw_directions(sampler, outputs)}

        return draw_inputs

    def _probe(self, gradients: bool) -> Callable[..., dict[str, Any]]:
        """Return the standard probe for the function or layer class.

        Args:
            gradients: return the probe for gradients and side effects, not the one for values.
        """
        if not inspect.isclass(self.reference):
            return probes.function_gradients if gradients else probes.call_function
        if self.zero_others:
            return probes.zeroed_layer_gradients if gradients else probes.call_zeroed_layer
        return probes.layer_gradients if gradients else probes.call_layer


def _trials(
    draw: DrawInputs | Sequence[DrawInputs], sizes: Sequence[Sizes], arrange: Callable[[DrawInputs], DrawInputs] | None
) -> tuple[Trial, ...]:
    """Return a trial for each set of sizes.

    Args:
        draw: one function for all trials, or a list with one function for each trial.
        arrange: wraps each of these functions; None for no wrapper.
    """
    draws = draw if isinstance(draw, Sequence) else [draw] * len(sizes)
    arranged = map(arrange, draws) if arrange else draws
    return tuple(trial for one, some in zip(arranged, sizes, strict=True) for trial in make_trials(one, some))


def draw_directions(sampler: InputSampler, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Draw a random direction for each output: a tensor of the output's shape and dtype, for torch.autograd.grad."""
    return {name: sampler.normal(*output.shape, dtype=output.dtype) for name, output in outputs.items()}
