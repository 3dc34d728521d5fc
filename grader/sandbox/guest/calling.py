"""Calls a probe, in the same way for an answer in the sandbox and for the reference outside."""

import random
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch

SEED = 0  # of the random numbers that a probe draws


def parameters(probe: Callable) -> tuple[str, ...]:
    """Return the names of a probe's parameters. Each is an input of the trial, or gets a value of the notebook."""
    code = probe.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def call_probe(
    probe: Callable, inputs: Mapping[str, Any], names: Mapping[str, str], definitions: Mapping[str, Any]
) -> Any:
    """Call a probe with the inputs of one trial and return its result.

    Random numbers, gradient mode and default dtype are set to the same state before every call, even if earlier
    code has changed them. They are not restored afterwards.

    Args:
        names: parameter → its name in `definitions`, if the two names differ.
        definitions: the values that the notebook or the reference defines, by
            name. They are passed for parameters that are not inputs.

    Raises:
        NameError: a parameter is neither an input nor defined.
    """
    arguments = {}
    for parameter in parameters(probe):
        name = names.get(parameter, parameter)
        if parameter in inputs:
            arguments[parameter] = inputs[parameter]
        elif name in definitions:
            arguments[parameter] = definitions[name]
        else:
            raise NameError(f"name {name!r} is not defined")
    seed(SEED)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return probe(**arguments)


def seed(number: int) -> None:
    """Seed the random number generators of Python, numpy and torch."""
    random.seed(number)
    numpy.random.seed(number % 2**32)
    # torch.manual_seed() records a stack for each kind of device that is missing, which takes longer than a probe.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
