"""Run a probe with the names that the notebook has defined, and encode what it returns."""

import builtins
import json
import math
import random
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from guest import gpu, places, tripwire, values
from guest.shell import error_text
from torch import Tensor, nn

# PyTorch's own, whatever the student's code puts in their place.
_CLONE, _DETACH, _NO_MODES = Tensor.clone, Tensor.detach, torch._C.DisableTorchFunction
# The names that every probe can use.
NAMES = {
    "torch": torch,
    "nn": nn,
    "F": F,
    "math": math,
    "Tensor": Tensor,
    "Mapping": Mapping,
    "Callable": Callable,
    "Any": Any,
}


def answer(request: dict, blob: bytes | memoryview, namespace: dict, most_bytes: int) -> tuple[bytes, bytes]:
    """Run the probe of one request; return header and body of the answer: how it ended, and the tensors.

    The tree of the answer is a pair: what the probe returned, and what became of the inputs of the calls that it compared.

    If the request lists built-ins to watch, the tripwire records which of them run.
    """
    wire = tripwire.Tripwire(request["watched"], request["exercise"]) if request["watched"] else None
    tensors = b""
    try:
        with wire.watching() if wire else nullcontext():
            after: list[dict[str, Tensor]] = []
            returned = _run(request, blob, namespace, after)
            tree, tensors = values.encode([returned, after], most_bytes)
        head = {"status": "ok", "tree": tree}
    except values.Refused as refusal:
        head = {"status": "refused", "message": str(refusal)}
    except BaseException as error:
        lineage = [base.__name__ for base in type(error).__mro__][:20]
        head = {
            "status": "raised",
            "error": type(error).__name__,
            "lineage": lineage,
            "message": error_text(error),
            "place": places.place_in_probe(error),
        }
    trips = wire.trips if wire else []
    try:
        return json.dumps({**head, "trips": trips}).encode(), tensors
    except ValueError as error:  # an integer with more digits than Python converts to text
        return json.dumps({"status": "refused", "message": error_text(error), "trips": trips}).encode(), b""


def _run(request: dict, blob: bytes | memoryview, namespace: dict, after: list[dict[str, Tensor]]) -> Any:
    """Call the probe and return its result; a parameter gets the request's input, or else the notebook's value, of its name.

    For each call of `side_effects` in the probe, the inputs as they are then are added to `after`.
    """
    device = request.get("device", "cpu")
    if device != "cpu":
        gpu.compute_exactly()
    inputs = values.decode(request["inputs"], blob, device)
    scope: dict[str, Any] = {**NAMES, "__name__": "check", "__builtins__": builtins}
    exec(_compiled(request["source"]), scope)
    held: list[Any] = []
    if looks := scope.get("effects_of"):
        scope["effects_of"] = lambda call, inputs: looks(_holding_results(call, held), inputs)
    if compares := scope.get("side_effects"):
        scope["side_effects"] = _keeping_inputs(compares, after)
    function = scope[request["function"]]
    code = function.__code__
    arguments = {}
    for parameter in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        name = request["names"].get(parameter, parameter)
        if parameter in inputs:
            arguments[parameter] = inputs[parameter]
        elif name in namespace:
            arguments[parameter] = namespace[name]
        else:
            raise NameError(f"name {name!r} is not defined")
    seed(0)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**arguments)


def _holding_results(call: Callable, held: list[Any]) -> Callable:
    """Return a call whose results stay alive: what runs when one is thrown away must not mend an input before the look."""

    def holding(*arguments: Any, **given: Any) -> Any:
        held.append(call(*arguments, **given))
        return held[-1]

    return holding


def _keeping_inputs(compares: Callable, after: list[dict[str, Tensor]]) -> Callable:
    """Return the probe's `side_effects`, which also keeps the inputs: the grader compares them again, outside."""

    def side_effects(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: given[name] for name, value in before.items() if isinstance(value, Tensor)}
        with _NO_MODES():
            after.append({name: _CLONE(_DETACH(value)) for name, value in kept.items() if isinstance(value, Tensor)})
        return compares(before, given)

    return side_effects


@lru_cache(64)  # the trials of a check have the same source
def _compiled(source: str) -> CodeType:
    """Compile the source of a probe."""
    return compile(source, "<check>", "exec", dont_inherit=True)


def seed(number: int) -> None:
    """Seed the random number generators of Python, numpy and torch."""
    random.seed(number)
    numpy.random.seed(number % 2**32)
    # torch.manual_seed() records a stack for each kind of device that is missing, which takes longer than a probe.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
