"""Stand-ins, the sandbox's side: functions whose calls the trusted side computes (grader/execution/stand_ins.py).

A call sends its arguments over the interpreter's channel and waits for the result. When the student's code
calls `backward`, the stand-in requests the gradients in the same way: it sends the ticket that came with the
result or, if the trusted side has dropped the result, all arguments again.
"""

from __future__ import annotations

import builtins
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from guest import frames, values
from torch import Tensor
from torch.autograd.function import once_differentiable

MAX_BYTES = 1 << 26  # of one call; the trusted side has its own, lower limit
# The channel to the init, and the id of the only process that may use it.
_channel: socket.socket | None = None
_owner = 0
_lock = threading.Lock()


def use_channel(channel: socket.socket) -> None:
    """Send all later calls over this channel; in forks of this process, calls raise an error."""
    global _channel, _owner
    _channel, _owner = channel, os.getpid()


def function(name: str) -> Callable:
    """Make the stand-in for a function of tensors and numbers: the trusted side computes its calls."""

    def stand_in(*arguments: Any, **options: Any) -> Any:
        inputs = [list(arguments), options]
        tensors = list(_tensors(inputs))
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            shape: list[Any] = []
            outputs = iter(_RemoteCall.apply(name, inputs, shape, *tensors))
            return _with_tensors(shape[0], outputs)
        return _call(name, inputs, tensors)[0]

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


class _RemoteCall(torch.autograd.Function):
    """One call of a stand-in, for autograd; differentiable once."""

    @staticmethod
    def forward(ctx: Any, name: str, inputs: list, shape: list, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Send the call and return the tensors of its result.

        Args:
            inputs: the arguments and options, with tensors.
            shape: an empty list; the whole result is appended, because autograd passes on only tensors.
            tensors: the tensors in `inputs`, in order.
        """
        ctx.name, ctx.inputs = name, inputs
        ctx.wanted = [index for index, needed in enumerate(ctx.needs_input_grad[3:]) if needed]
        ctx.save_for_backward(*tensors)
        answer, ctx.ticket = _call(name, inputs, list(tensors), ctx.wanted)
        shape.append(answer)
        outputs = tuple(_tensors(answer))
        ctx.mark_non_differentiable(*(output for output in outputs if not output.is_floating_point()))
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        """Request the gradients of `tensors` from the trusted side; return None for the other arguments."""
        tensors = ctx.saved_tensors
        gradients = _gradients_by_ticket(ctx.name, ctx.ticket, list(tensors), list(grad_outputs))
        if gradients is None:
            inputs = _with_tensors(ctx.inputs, iter(tensors))
            gradients, _ = _call(ctx.name, inputs, list(tensors), ctx.wanted, list(grad_outputs))
        by_position: list[Tensor | None] = [None] * len(tensors)
        for index, gradient in zip(ctx.wanted, gradients, strict=True):
            by_position[index] = gradient
        return (None, None, None, *by_position)


def _call(
    name: str,
    inputs: list,
    tensors: list[Tensor],
    wanted: list[int] | None = None,
    grad_outputs: list | None = None,
) -> tuple[Any, int | None]:
    """Send a call with all its arguments and return the result, and the result's ticket if there is one.

    With `grad_outputs`, return the gradients instead of the result.

    Args:
        tensors: the tensors in `inputs`.
        wanted: positions, in `tensors`, of those whose gradients `backward` will need.
    """
    answer, body = _exchange(name, {"function": name, "wanted": wanted or []}, [*inputs, grad_outputs])
    return _decoded(answer, body, tensors), answer.get("ticket")


def _gradients_by_ticket(name: str, ticket: int | None, tensors: list[Tensor], grad_outputs: list) -> Any:
    """Request the gradients of an earlier call; return None if the trusted side has dropped its result."""
    answer, body = _exchange(name, {"ticket": ticket}, grad_outputs)
    return None if answer["status"] == "forgotten" else _decoded(answer, body, tensors)


def _exchange(name: str, question: dict, tree: list) -> tuple[dict, memoryview]:
    """Send a call and return the header and the tensors of the answer; raise the error that the answer contains."""
    try:
        encoded, blob = values.encode(tree, MAX_BYTES)
    except values.Refused as refusal:
        raise TypeError(f"{name} takes tensors and numbers ({refusal})") from None
    with _lock:
        if _channel is None or os.getpid() != _owner:
            raise RuntimeError(f"the stand-in for {name} answers in the notebook's own process only")
        frames.send(_channel, json.dumps({**question, "tree": encoded}).encode(), blob, magic=frames.QUESTION)
        header, body = frames.receive(_channel, most_header=1 << 26, most_body=1 << 30)
    answer = json.loads(header)
    if answer["status"] == "raised":
        error = getattr(builtins, answer["error"], None)
        kind = error if isinstance(error, type) and issubclass(error, Exception) else RuntimeError
        raise kind(answer["message"])
    return answer, body


def _decoded(answer: dict, body: memoryview, tensors: list[Tensor]) -> Any:
    """Decode an answer's values, and move their tensors to the device of the call's first tensor."""
    result = values.decode(answer["tree"], body)
    device = tensors[0].device if tensors else torch.device("cpu")
    return _with_tensors(result, (tensor.to(device) for tensor in _tensors(result)))


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield all tensors of nested values, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _with_tensors(value: Any, tensors: Iterator[Any]) -> Any:
    """Copy nested values, and replace their tensors, in order, by those of `tensors`.

    Lists become tuples: JSON has no tuples, so a function's tuple arrives as a list.
    """
    if isinstance(value, Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {name: _with_tensors(item, tensors) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_with_tensors(item, tensors) for item in value)
    return value
