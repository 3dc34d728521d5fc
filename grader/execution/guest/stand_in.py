"""Functions that are computed on the trusted side: the sandbox's end of a stand-in.

A call sends its arguments over the interpreter's channel and waits for the answer. Gradients are asked for in the same
way, so that what is computed with such a function can be trained: by the ticket that came with the result, or with all
arguments again where the trusted side has let go of what it kept.
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

MOST = 1 << 26  # bytes of one question; the trusted side has its own limit
_channel: socket.socket | None = None
_owner = 0
_lock = threading.Lock()


def speak_through(channel: socket.socket) -> None:
    """From now on questions go over this channel, from this process alone."""
    global _channel, _owner
    _channel, _owner = channel, os.getpid()


def function(name: str) -> Callable:
    """A function of tensors and numbers that asks the trusted side."""

    def stand_in(*arguments: Any, **options: Any) -> Any:
        given = [list(arguments), options]
        leaves = list(_tensors(given))
        if torch.is_grad_enabled() and any(leaf.requires_grad for leaf in leaves):
            shape: list[Any] = []
            outputs = iter(_Asked.apply(name, given, shape, *leaves))
            return _filled(shape[0], outputs)
        return _ask(name, given, leaves)[0]

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


class _Asked(torch.autograd.Function):
    """One call, differentiable once."""

    @staticmethod
    def forward(ctx: Any, name: str, given: list, shape: list, *leaves: Tensor) -> tuple[Tensor, ...]:
        ctx.name, ctx.given = name, given
        ctx.wanted = [index for index, needed in enumerate(ctx.needs_input_grad[3:]) if needed]
        ctx.save_for_backward(*leaves)
        answer, ctx.ticket = _ask(name, given, list(leaves), ctx.wanted)
        shape.append(answer)
        outputs = tuple(_tensors(answer))
        ctx.mark_non_differentiable(*(one for one in outputs if not one.is_floating_point()))
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *along: Tensor | None) -> tuple[Tensor | None, ...]:
        leaves = ctx.saved_tensors
        gradients = _redeem(ctx.name, ctx.ticket, list(leaves), list(along))
        if gradients is None:
            given = _filled(ctx.given, iter(leaves))
            gradients, _ = _ask(ctx.name, given, list(leaves), ctx.wanted, list(along))
        found: list[Tensor | None] = [None] * len(leaves)
        for index, gradient in zip(ctx.wanted, gradients, strict=True):
            found[index] = gradient
        return (None, None, None, *found)


def _ask(
    name: str, given: list, leaves: list[Tensor], wanted: list[int] | None = None, along: list | None = None
) -> tuple[Any, int | None]:
    """The result, with its ticket where gradients are wanted; or the gradients along `along`."""
    answer, body = _exchange(name, {"function": name, "wanted": wanted or []}, [*given, along])
    return _decoded(answer, body, leaves), answer.get("ticket")


def _redeem(name: str, ticket: int | None, leaves: list[Tensor], along: list) -> Any:
    """The gradients; None where what they need is no longer kept."""
    answer, body = _exchange(name, {"ticket": ticket}, along)
    return None if answer["status"] == "forgotten" else _decoded(answer, body, leaves)


def _exchange(name: str, question: dict, what: list) -> tuple[dict, memoryview]:
    """A question and its answer."""
    try:
        tree, blob = values.encode(what, MOST)
    except values.Refused as refusal:
        raise TypeError(f"{name} takes tensors and numbers ({refusal})") from None
    with _lock:
        if _channel is None or os.getpid() != _owner:
            raise RuntimeError(f"the stand-in for {name} answers in the notebook's own process only")
        frames.send(_channel, json.dumps({**question, "tree": tree}).encode(), blob, magic=frames.QUESTION)
        header, body = frames.receive(_channel, most_header=1 << 26, most_body=1 << 30)
    answer = json.loads(header)
    if answer["status"] == "raised":
        error = getattr(builtins, answer["error"], None)
        kind = error if isinstance(error, type) and issubclass(error, Exception) else RuntimeError
        raise kind(answer["message"])
    return answer, body


def _decoded(answer: dict, body: memoryview, leaves: list[Tensor]) -> Any:
    back = values.decode(answer["tree"], body)
    device = leaves[0].device if leaves else torch.device("cpu")
    return _filled(back, (tensor.to(device) for tensor in _tensors(back)))


def _tensors(value: Any) -> Iterator[Tensor]:
    """All tensors, in the order in which they are written down."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _filled(value: Any, tensors: Iterator[Any]) -> Any:
    """The same with other tensors in their places; what is a list in an answer was a tuple."""
    if isinstance(value, Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {name: _filled(item, tensors) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_filled(item, tensors) for item in value)
    return value
