"""Call a check's probe in this process: for the reference and declared mistakes, and in the notebook for its self-check."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from grader.judge.compare import with_tensors
from grader.records import Inputs


class MissingName(Exception):
    """A probe takes a name that nothing defines.

    Args:
        name: the name, as the notebook spells it.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@cache
def parameters(probe: Callable) -> tuple[str, ...]:
    """Return the names of a probe's parameters; each is an input of the trial, or stands for a name in the notebook."""
    return tuple(inspect.signature(probe).parameters)


def call_probe(probe: Callable, names: Mapping[str, str], inputs: Inputs, namespace: Mapping[str, Any]) -> Any:
    """Return what a probe returns; all random numbers afterwards are as if it had not been called.

    The probe gets clones of the inputs, and random numbers from seed 0. Gradients are on, as in the sandbox, and warnings are
    not shown.

    Args:
        names: the notebook's name for a parameter, where the two differ.
        namespace: the definitions that the probe may take, by name.

    Raises:
        MissingName: the namespace lacks a name that the probe takes.
        Exception: what the probe raises.
    """
    arguments = {}
    for parameter in parameters(probe):
        name = names.get(parameter, parameter)
        if parameter not in inputs and name not in namespace:
            raise MissingName(name)
        arguments[parameter] = with_tensors(inputs[parameter], Tensor.clone) if parameter in inputs else namespace[name]
    # To ask for GPUs before anything uses one would take seconds.
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with warnings.catch_warnings(), torch.random.fork_rng(devices=devices), torch.enable_grad():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        if devices:
            torch.cuda.manual_seed_all(0)
        return probe(**arguments)
