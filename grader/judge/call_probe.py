"""Calls a check's probe in this process, in the same way as the sandbox does.

A probe is a function that calls the student's code and returns the result. The grader calls probes here with the
reference, and the notebook calls them for the self-check.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy
import torch
from torch import Tensor

from grader.judge.compare import with_tensors
from grader.records import Inputs
from grader.sandbox.guest.calling import call_probe, parameters


def missing_name(probe: Callable, names: Mapping[str, str], inputs: Inputs, namespace: Mapping[str, Any]) -> str:
    """Return the first name that a probe needs and that is not defined, or "" if all names are defined.

    The name is spelt as in the notebook.
    """
    taken = (names.get(parameter, parameter) for parameter in parameters(probe) if parameter not in inputs)
    return next((name for name in taken if name not in namespace), "")


def call_here(probe: Callable, names: Mapping[str, str], inputs: Inputs, namespace: Mapping[str, Any]) -> Any:
    """Return the result of a probe for clones of the inputs. Afterwards restore the state of this process.

    Args:
        names: the notebook's name for a parameter, if it differs from the parameter's.
        namespace: the definitions that the probe may use, by name.

    Raises:
        NameError: the namespace lacks a name that the probe needs.
        Exception: the exception that the probe raises.
    """
    given = with_tensors(inputs, Tensor.clone)
    with _same_state():
        return call_probe(probe, given, names, namespace)


@contextmanager
def _same_state() -> Iterator[None]:
    """Restore random numbers, gradient mode and default dtype when the context ends."""
    of_python, of_numpy, dtype = random.getstate(), numpy.random.get_state(), torch.get_default_dtype()
    # To ask for GPUs before anything uses one would take seconds.
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            yield
    finally:
        random.setstate(of_python)
        numpy.random.set_state(of_numpy)
        torch.set_default_dtype(dtype)


__all__ = ["call_here", "missing_name", "parameters"]
