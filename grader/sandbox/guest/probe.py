"""Run a probe with the names that the notebook defines, and encode its result."""

import builtins
import json
import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import lru_cache
from types import CodeType
from typing import Any

import torch
import torch.nn.functional as F
from guest import codec, gpu, places, tripwire
from guest.calling import call_probe
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


def answer(
    request: dict, inputs: Any, blob: bytes | memoryview, namespace: dict, most_bytes: int
) -> tuple[bytes, bytes]:
    """Run a request's probe on one trial, and return the header and the body of the answer.

    The header contains the status of the probe and a JSON tree; the body contains
    the tensors in the tree. The tree has two parts: the values that the probe
    returned, and the inputs after each call that the probe checked for side effects.

    If the request lists built-ins to watch, the tripwire records which of them run.
    """
    wire = tripwire.Tripwire(request["watched"], request["exercise"]) if request["watched"] else None
    tensors = b""
    try:
        with wire.watching() if wire else nullcontext():
            after: list[dict[str, Tensor]] = []
            returned = _run(request, inputs, blob, namespace, after)
            tree, tensors = codec.encode([returned, after], most_bytes)
        head = {"status": "ok", "tree": tree}
    except codec.Refused as refusal:
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


def _run(request: dict, inputs: Any, blob: bytes | memoryview, namespace: dict, after: list[dict[str, Tensor]]) -> Any:
    """Call the probe on the inputs and return its result.

    Args:
        inputs: the JSON tree of the inputs, whose tensors are in `blob`.
        after: a list to which the inputs after each call of `side_effects` are added.
    """
    device = request.get("device", "cpu")
    if device != "cpu":
        gpu.compute_exactly()
    scope: dict[str, Any] = {**NAMES, "__name__": "check", "__builtins__": builtins}
    exec(_compiled(request["source"]), scope)
    held: list[Any] = []
    if looks := scope.get("effects_of"):
        scope["effects_of"] = lambda call, inputs: looks(_holding_results(call, held), inputs)
    if compares := scope.get("side_effects"):
        scope["side_effects"] = _keeping_inputs(compares, after)
    decoded = codec.decode(inputs, blob, device=device, keep_order=True)
    return call_probe(scope[request["function"]], decoded, request["names"], namespace)


def _holding_results(call: Callable, held: list[Any]) -> Callable:
    """Return a function that works like `call` and also keeps its results alive.

    Otherwise, code that runs when a result is deleted could restore a changed input before the check.
    """

    def holding(*arguments: Any, **given: Any) -> Any:
        held.append(call(*arguments, **given))
        return held[-1]

    return holding


def _keeping_inputs(compares: Callable, after: list[dict[str, Tensor]]) -> Callable:
    """Return a function that works like the probe's `side_effects` and also stores the inputs.

    The grader compares these inputs again outside the sandbox.
    """

    def side_effects(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: given[name] for name, value in before.items() if isinstance(value, Tensor)}
        with _NO_MODES():
            after.append({name: _CLONE(_DETACH(value)) for name, value in kept.items() if isinstance(value, Tensor)})
        return compares(before, given)

    return side_effects


@lru_cache(64)  # the trials of a check have the same source
def _compiled(source: str) -> CodeType:
    """Return the compiled source of a probe."""
    return compile(source, "<check>", "exec", dont_inherit=True)
