"""Compute, in this process, the results of the reference and of the declared mistakes on a submission's trials."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check, Mistake
from grader.judge.call_probe import call_here
from grader.judge.planned_trial import PlannedTrial
from grader.records import Evidence, Inputs, Place, Status, Value


class RefuseUnpairedKeys(TorchFunctionMode):
    """Raises ValueError if attention is called with different numbers of keys and values.

    PyTorch's kernel for the CPU does not check this. It reads beyond the end of the shorter tensor, so the result of a
    wrong answer would depend on unrelated memory.
    """

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if function is F.scaled_dot_product_attention:
            self.compare(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

    @staticmethod
    def compare(query: Tensor, key: Tensor, value: Tensor, *rest: object, **options: object) -> None:
        """Raise ValueError if the number of keys differs from the number of values.

        The parameters are those of `scaled_dot_product_attention`.
        """
        if key.shape[-2:-1] != value.shape[-2:-1]:
            raise ValueError(f"keys of shape {tuple(key.shape)} do not go with values of {tuple(value.shape)}")


def run_here(
    check: Check,
    namespace: Mapping[str, object],
    inputs: Inputs,
    key: str = "",
    place_of: Callable[[Exception], Place] = lambda error: Place(),
    guarded: bool = True,
) -> Evidence:
    """Run a check's probe in this process, with the definitions of the reference or of a declared mistake.

    An exception becomes evidence, as it does in the sandbox.

    Args:
        namespace: the definitions, by name.
        key: the key that the evidence gets.
        place_of: returns the place of an exception, if the definitions come from a notebook.
        guarded: check the number of keys in each call of attention, as `RefuseUnpairedKeys` does. The reference does
            not need this check, which takes a tenth of the time.
    """
    try:
        with RefuseUnpairedKeys() if guarded else nullcontext():
            values = call_here(check.probe, check.names, inputs, namespace)
        return Evidence(key=key, status=Status.OK, values=values)
    except Exception as error:
        lineage = tuple(base.__name__ for base in type(error).__mro__)
        return Evidence(
            key=key,
            status=Status.RAISED,
            error=type(error).__name__,
            lineage=lineage,
            message=str(error),
            place=place_of(error),
        )


Results = dict[tuple[str, str], Evidence]  # by a trial's key and the name of a change


class ReferenceResults:
    """The results of the reference and of declared mistakes on the trials of one submission.

    Each result is computed only once.
    """

    def __init__(self, reference: Mapping[str, Any], public: Results | None = None) -> None:
        """Start without results for hidden trials. Results for public trials are stored in `public`.

        Args:
            reference: the definitions of the reference, by name.
            public: the results for public trials, which all submissions of a lesson share; None for a new, empty store.
        """
        self.reference = reference
        self._results: Results = {}
        self._public: Results = {} if public is None else public

    def right(self, trial: PlannedTrial) -> Evidence:
        """Return the evidence of the reference for a trial."""
        return self.changed(trial, "")

    def wrong(self, trial: PlannedTrial, mistake: Mistake) -> Evidence:
        """Return the evidence of an answer with this mistake for a trial."""
        return self.changed(trial, mistake.name, mistake.replaces)

    def expected(self, trial: PlannedTrial) -> Mapping[str, Value]:
        """Return the values that an answer to a trial is compared with.

        They are computed by `Check.expects` if the check declares it, and otherwise by the reference.

        Raises:
            DeclarationError: the reference raises an exception on this trial.
        """
        if trial.check.expects:
            return trial.check.expects(trial.inputs)
        right = self.right(trial)
        if right.status is not Status.OK:
            said = f"the reference raised {right.error}: {right.message}. Give it other inputs"
            raise DeclarationError(f"exercise {trial.exercise.id}, {trial.trial.describe}: {said}")
        return right.values

    def changed(self, trial: PlannedTrial, name: str, replaces: Mapping[str, object] | None = None) -> Evidence:
        """Return the evidence of the reference with some definitions replaced.

        A trial runs only once for each `name`.

        Args:
            name: the name of the change; "" for the reference itself.
            replaces: the new definitions, by name.
        """
        results = self._public if trial.public else self._results
        if (trial.key, name) not in results:
            namespace = {**self.reference, **(replaces or {})}
            results[trial.key, name] = run_here(trial.check, namespace, trial.inputs, trial.key, guarded=bool(name))
        return results[trial.key, name]
