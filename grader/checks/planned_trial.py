"""One trial of one check, drawn for a submission, and the request that the sandbox gets for it."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType

from grader.declaration.builtin_names import operators
from grader.declaration.exercise import Check, Exercise
from grader.declaration.trial import Trial
from grader.records import Inputs, Request

# Modules, and packages of modules, whose functions may be sent to the sandbox.
SENT = ("grader.course", "grader.declaration.probes")


@cache
def parameters(probe: Callable) -> tuple[str, ...]:
    """Return the names of a probe's parameters: inputs of the trial, and names in the notebook."""
    return tuple(inspect.signature(probe).parameters)


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """One trial of one check, with its inputs drawn."""

    key: str  # "1.4/values/hidden/0"
    exercise: Exercise
    check: Check
    trial: Trial
    public: bool
    inputs: Inputs
    cell: str  # id of the cell after which the probe runs

    @property
    def takes(self) -> frozenset[str]:
        """The names that the probe takes from the notebook."""
        not_inputs = frozenset(parameters(self.check.probe)) - self.inputs.keys()
        return frozenset(self.check.names.get(name, name) for name in not_inputs)

    @property
    def unchanging(self) -> bool:
        """Whether the probe takes only names that the exercise defines.

        Such a probe changes nothing that other probes use, and may share a fork with them. Any other probe
        may take a trained model, and change it.
        """
        return self.takes <= set(self.exercise.defines)

    @property
    def request(self) -> Request:
        """The request that makes the sandbox run this trial's probe."""
        probe = self.check.probe
        return Request(
            key=self.key,
            source=source_of(probe),
            function=probe.__name__,
            inputs=self.inputs,
            names=self.check.names,
            seconds=self.check.seconds,
            watched=operators(self.exercise.bans),
            group=self.exercise.id if self.unchanging else f"{self.exercise.id}/{self.check.name}",
        )


@cache
def source_of(probe: Callable) -> str:
    """Return the source of a probe and of all functions and exceptions from SENT that it uses; the probe comes last.

    Raises:
        ValueError: the probe is a lambda, a method or a closure: its source would not stand alone.
    """
    if not isinstance(probe, FunctionType) or probe.__closure__ or "<" in probe.__qualname__:
        raise ValueError(f"a probe must be a plain function of module level, not {probe!r}")
    sources: dict[str, str] = {}

    def visit(function: FunctionType) -> None:
        """Add the sources of the functions that a function calls, and then its own."""
        if function.__name__ in sources:
            return
        sources[function.__name__] = ""  # marks the function as visited, so that a cycle of calls ends
        for name in sorted(_global_names(function.__code__)):
            called = function.__globals__.get(name)
            if isinstance(called, FunctionType) and called.__module__.startswith(SENT):
                visit(called)
            elif (
                inspect.isclass(called)
                and issubclass(called, Exception)
                and called.__module__.startswith(SENT)
            ):
                sources[name] = inspect.getsource(called)
        # Insert the function again, at the end, below the functions that it calls.
        del sources[function.__name__]
        sources[function.__name__] = textwrap.dedent(inspect.getsource(function))

    visit(probe)
    return "from __future__ import annotations\n\n" + "\n\n".join(sources.values())


def _global_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that a function uses, inner functions included."""
    nested = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*(_global_names(inner) for inner in nested))
