"""What the reference and the recognised mistakes return on a submission's trials, computed in this process."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.checks.planned_trial import PlannedTrial, parameters
from grader.declaration.exercise import Check, Mistake
from grader.records import Evidence, Inputs, Status, Value


def run_here(check: Check, namespace: Mapping[str, object], inputs: Inputs, key: str = "") -> Evidence:
    """Run a probe in this process, on definitions that we trust: the reference, or a recognised mistake.

    The inputs are cloned first. An exception becomes evidence, as it does in the sandbox.
    """
    arguments = {}
    for parameter in parameters(check.probe):
        name = check.names.get(parameter, parameter)
        if parameter in inputs:
            arguments[parameter] = _clone(inputs[parameter])
        elif name in namespace:
            arguments[parameter] = namespace[name]
        else:  # a name that only a training cell defines
            message = f"name '{name}' is not defined"
            return Evidence(key=key, status=Status.RAISED, error="NameError", message=message)
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(0)
            if torch.cuda.is_initialized():  # torch.manual_seed would record a traceback if it is not
                torch.cuda.manual_seed_all(0)
            return Evidence(key=key, status=Status.OK, values=check.probe(**arguments))
    except Exception as error:
        lineage = tuple(base.__name__ for base in type(error).__mro__)
        return Evidence(
            key=key, status=Status.RAISED, error=type(error).__name__, lineage=lineage, message=str(error)
        )


def _clone(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, Mapping):
        return {name: _clone(inner) for name, inner in value.items()}
    return [_clone(inner) for inner in value] if isinstance(value, (list, tuple)) else value


class ReferenceResults:
    """What the reference and the mistakes return on the trials of one submission; each runs once."""

    def __init__(self, reference: Mapping[str, Any]) -> None:
        self._reference = reference
        self._results: dict[tuple[str, str], Evidence] = {}

    def right(self, trial: PlannedTrial) -> Evidence:
        """Return what the reference returns."""
        return self._run(trial, "", {})

    def wrong(self, trial: PlannedTrial, mistake: Mistake) -> Evidence:
        """Return what an answer with this mistake returns."""
        return self._run(trial, mistake.name, mistake.replaces)

    def _run(self, trial: PlannedTrial, name: str, replaces: Mapping[str, object]) -> Evidence:
        if (trial.key, name) not in self._results:
            namespace = {**self._reference, **replaces}
            self._results[trial.key, name] = run_here(trial.check, namespace, trial.inputs, trial.key)
        return self._results[trial.key, name]
