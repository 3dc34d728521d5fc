"""Stand-ins, the trusted side: compute functions of tensors for calls that arrive from a sandbox.

Calls are not trusted: names, trees and tensors are parsed as evidence is, and limits hold for the number of calls, the
bytes of each, the memory and the time of its computation (operator_budget.py), and the time of all calls together.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.evidence.text import plain, without_paths
from grader.evidence.wire import EvidenceError, decode, encode, parse
from grader.execution.guest import library_internals
from grader.execution.operator_budget import (
    BudgetExceeded,
    MetaDeviceNeeded,
    OperatorBudget,
    import_meta_device,
    tensors_in,
)

MAX_CALLS = 20_000  # a training of 300 steps makes some 1,000
MAX_CALL_BYTES = 8 << 20  # sent with one call
# Of all calls together. This time does not count against the limit of the cell or probe that calls, so it
# needs its own.
MAX_TOTAL_SECONDS = 30.0
# The newest results are kept, because their gradients may be requested.
MAX_KEPT = 64
MAX_KEPT_BYTES = 16 << 20


@dataclass(frozen=True)
class _KeptResult:
    """A result whose gradients the sandbox may request later."""

    outputs: list[Tensor]
    wanted: list[Tensor]  # the argument tensors whose gradients the sandbox may request
    size: int  # bytes of the arguments and of all intermediate results


class StandIns:
    """The functions that one submission may call, and what it has left of its limits."""

    def __init__(self, functions: Mapping[str, Callable]) -> None:
        self._functions = functions
        self._calls_left, self._seconds_left = MAX_CALLS, MAX_TOTAL_SECONDS
        self._kept: OrderedDict[int, _KeptResult] = OrderedDict()  # by ticket, oldest first
        self._last_ticket = 0

    def answer(self, header: bytes, blob: bytes | memoryview) -> tuple[bytes, bytes]:
        """Compute one call, and return header and tensors of the answer. Never raises.

        A call is {function, wanted, tree: [arguments, options, None or grad_outputs]}, or {ticket, tree: grad_outputs}.
        If gradients are wanted and no grad_outputs are given, the result comes with a ticket. The answer to a ticket
        whose result was dropped has the status "forgotten".
        """
        started = time.monotonic()
        try:
            if self._calls_left <= 0 or self._seconds_left <= 0:
                raise BudgetExceeded("the stand-in was asked too often, or for too much, and answers no more")
            self._calls_left -= 1
            if len(blob) > MAX_CALL_BYTES:
                raise BudgetExceeded(f"a stand-in takes {MAX_CALL_BYTES >> 20} MiB at most")
            try:
                result, more = self._compute(parse(header), blob)
            except MetaDeviceNeeded:
                import_meta_device()
                started = time.monotonic()  # the import does not count against MAX_TOTAL_SECONDS
                result, more = self._compute(parse(header), blob)
            tree, tensors = encode(result)
            head: dict[str, Any] = {"status": "ok", "tree": tree, **more}
        except Exception as error:  # every error goes back to the code that called the stand-in
            head, tensors = _error(error), b""
        finally:
            self._seconds_left -= time.monotonic() - started
        return json.dumps(head).encode(), tensors

    def _compute(self, call: Mapping[str, Any], blob: bytes | memoryview) -> tuple[Any, dict[str, Any]]:
        """Return the result or the gradients that a call requests, and fields for the answer's header."""
        tree = decode(call.get("tree"), blob)
        with (
            _one_thread(),
            OperatorBudget() as budget,
            torch.random.fork_rng(devices=[]),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            if "ticket" in call:
                return self._gradients_of_kept(call["ticket"], tree)
            name = call.get("function")
            function = self._functions.get(name) if isinstance(name, str) else None
            match tree:
                case [list(arguments), dict(options), None | list() as grad_outputs] if function is not None:
                    pass
                case _:
                    raise EvidenceError("this is no question for a stand-in")
            inputs = list(tensors_in([arguments, options]))
            wanted = [inputs[index] for index in _indices(call.get("wanted"), len(inputs))]
            if not wanted and grad_outputs is None:
                with torch.no_grad():
                    return function(*arguments, **options), {}
            for tensor in wanted:
                tensor.requires_grad_()
            with torch.enable_grad():
                result = function(*arguments, **options)
            outputs = list(tensors_in(result))
            if grad_outputs is not None:
                return _gradients(outputs, wanted, grad_outputs), {}
            return result, {"ticket": self._keep(_KeptResult(outputs, wanted, len(blob) + budget.made))}

    def _keep(self, result: _KeptResult) -> int:
        """Keep a result and return its ticket; drop the oldest results beyond the limits."""
        self._last_ticket += 1
        self._kept[self._last_ticket] = result
        while len(self._kept) > MAX_KEPT or sum(kept.size for kept in self._kept.values()) > MAX_KEPT_BYTES:
            self._kept.popitem(last=False)
        return self._last_ticket

    def _gradients_of_kept(self, ticket: Any, grad_outputs: Any) -> tuple[Any, dict[str, Any]]:
        """Return the gradients of a kept result and drop it, because computing them frees its graph."""
        if type(ticket) is not int or not isinstance(grad_outputs, list):
            raise EvidenceError("this is no question for a stand-in")
        kept = self._kept.pop(ticket, None)
        if kept is None:
            return None, {"status": "forgotten"}
        return _gradients(kept.outputs, kept.wanted, grad_outputs), {}


def _gradients(outputs: list[Tensor], wanted: list[Tensor], grad_outputs: list) -> list[Tensor | None]:
    """Return the gradients of the outputs with respect to the wanted tensors.

    None stands for a tensor that does not influence the outputs.
    """
    if len(grad_outputs) != len(outputs):
        raise EvidenceError("a gradient is asked for along other outputs than there are")
    pairs = [
        (output, grad_output)
        for output, grad_output in zip(outputs, grad_outputs, strict=True)
        if output.requires_grad and isinstance(grad_output, Tensor)
    ]
    if not pairs:
        return [None] * len(wanted)
    if any(grad_output.shape != output.shape for output, grad_output in pairs):
        raise EvidenceError("a gradient is asked for along another shape than the output's")
    differentiable, directions = zip(*pairs, strict=True)
    return library_internals.gradients(differentiable, wanted, directions)


def _error(error: Exception) -> dict[str, Any]:
    """Return an error as the answer's header, without paths of this machine."""
    name = type(error).__name__
    kind = "RuntimeError" if isinstance(error, (BudgetExceeded, EvidenceError)) else name
    lines = str(error).strip().splitlines() or [""]
    return {"status": "raised", "error": kind, "message": without_paths(plain(lines[0], 300))}


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread: the tensors are small, so more threads would mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _indices(reported: Any, count: int) -> list[int]:
    """Return the positions, among `count` argument tensors, of those whose gradients a call requests.

    Raises:
        EvidenceError: these are no such positions.
    """
    if not isinstance(reported, list) or len(reported) > count:
        raise EvidenceError("this is no question for a stand-in")
    if not all(type(index) is int and 0 <= index < count for index in reported):
        raise EvidenceError("this is no question for a stand-in")
    return reported
