"""Stand-ins: functions of tensors that student code may call, and that are computed on this side of the wall.

What asks is not trusted: names, trees and tensors are parsed as evidence is, and everything is bounded: how often is
asked, what is sent, what is made on the way to the answer, and how long all answers take together. An operator's
result is sized before it is computed: by its shape rule where it is one of the common operators, else on the meta device.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from grader.evidence.text import plain
from grader.evidence.wire import EvidenceError, decode, encode, parse

MOST_CALLS = 20_000  # a training of 300 steps takes some 1,000
MOST_BYTES_IN = 8 << 20  # of one question
MOST_BYTES = 64 << 20  # of all tensors that one answer makes, results on the way included
MOST_SECONDS = 5.0  # for one answer, looked at between two operators
MOST_SECONDS_IN_ALL = 30.0  # this is no time of the student's, so it must have an end of its own
MOST_KEPT = 64  # results whose gradients may still be asked for, the newest; 16 MiB of them
MOST_BYTES_KEPT = 16 << 20
PATH = re.compile(r"(?:/[\w.+-]+){2,}")


MOST_SIZES = 10_000  # remembered, for training asks the same again and again
_sizes: dict[tuple, int] = {}
_warmed: list[bool] = []  # filled once the meta device was used
WIDEST = 8  # bytes of a number, which an operator may make of a narrower one
MATRIX_PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.bmm)
LIKE_THE_FIRST = (torch.ops.aten._unsafe_view, torch.ops.aten.clone, torch.ops.aten._softmax)


class TooMuch(Exception):
    """The question asks for more than is computed for anybody."""


class _NotWarm(BaseException):
    """The meta device is needed and was never used; no Exception, so that no function takes it for its own."""


@dataclass(frozen=True)
class _Kept:
    """A result whose gradients may be asked for."""

    outputs: list[Tensor]
    wanted: list[Tensor]  # the arguments that the gradients are for
    size: int  # bytes, of arguments and of all that was made


class StandIns:
    """The functions that one submission may call, and what it has left."""

    def __init__(self, functions: Mapping[str, Callable]) -> None:
        self._functions = functions
        self._calls, self._seconds = MOST_CALLS, MOST_SECONDS_IN_ALL
        self._kept: OrderedDict[int, _Kept] = OrderedDict()  # by ticket
        self._tickets = 0

    def answer(self, header: bytes, blob: bytes | memoryview) -> tuple[bytes, bytes]:
        """Header and tensors of the answer to one question. Never raises.

        A question is {function, wanted, tree: [arguments, options, None or the outputs' gradients]}, or {ticket, tree: the
        outputs' gradients}. Where gradients are wanted and none are given yet, the result comes with a ticket; a
        ticket that is no longer known is answered with the status "forgotten".
        """
        started = time.monotonic()
        try:
            if self._calls <= 0 or self._seconds <= 0:
                raise TooMuch("the stand-in was asked too often, or for too much, and answers no more")
            self._calls -= 1
            if len(blob) > MOST_BYTES_IN:
                raise TooMuch(f"a stand-in takes {MOST_BYTES_IN >> 20} MiB at most")
            try:
                answer, also = self._compute(parse(header), blob)
            except _NotWarm:
                _warm_up()
                started = time.monotonic()
                answer, also = self._compute(parse(header), blob)
            tree, tensors = encode(answer)
            head: dict[str, Any] = {"status": "ok", "tree": tree, **also}
        except Exception as error:  # whatever it is: it goes back to whoever asked
            kind = "RuntimeError" if isinstance(error, (TooMuch, EvidenceError)) else type(error).__name__
            lines = str(error).strip().splitlines() or [""]
            head, tensors = (
                {"status": "raised", "error": kind, "message": PATH.sub("…", plain(lines[0], 300))},
                b"",
            )
        finally:
            self._seconds -= time.monotonic() - started
        return json.dumps(head).encode(), tensors

    def _compute(self, question: Mapping[str, Any], blob: bytes | memoryview) -> tuple[Any, dict[str, Any]]:
        """The answer, and what else its header says."""
        tree = decode(question.get("tree"), blob)
        with _one_thread(), _Bounded() as bound, torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "ticket" in question:
                return self._redeem(question["ticket"], tree)
            name = question.get("function")
            function = self._functions.get(name) if isinstance(name, str) else None
            match tree:
                case [list(arguments), dict(options), None | list() as along] if function is not None:
                    pass
                case _:
                    raise EvidenceError("this is no question for a stand-in")
            leaves = list(_tensors([arguments, options]))
            wanted = [leaves[index] for index in _indices(question.get("wanted"), len(leaves))]
            if not wanted and along is None:
                with torch.no_grad():
                    return function(*arguments, **options), {}
            for leaf in wanted:
                leaf.requires_grad_()
            with torch.enable_grad():
                result = function(*arguments, **options)
            outputs = list(_tensors(result))
            if along is not None:
                return _gradients(outputs, wanted, along), {}
            return result, {"ticket": self._keep(_Kept(outputs, wanted, len(blob) + bound.made))}

    def _keep(self, result: _Kept) -> int:
        """Its ticket. The oldest go where there is no room."""
        self._tickets += 1
        self._kept[self._tickets] = result
        while len(self._kept) > MOST_KEPT or sum(one.size for one in self._kept.values()) > MOST_BYTES_KEPT:
            self._kept.popitem(last=False)
        return self._tickets

    def _redeem(self, ticket: Any, along: Any) -> tuple[Any, dict[str, Any]]:
        """The gradients, once: they use up what was kept."""
        if type(ticket) is not int or not isinstance(along, list):
            raise EvidenceError("this is no question for a stand-in")
        kept = self._kept.pop(ticket, None)
        if kept is None:
            return None, {"status": "forgotten"}
        return _gradients(kept.outputs, kept.wanted, along), {}


def _gradients(outputs: list[Tensor], wanted: list[Tensor], along: list) -> list[Tensor | None]:
    if len(along) != len(outputs):
        raise EvidenceError("a gradient is asked for along other outputs than there are")
    pairs = [
        (output, direction)
        for output, direction in zip(outputs, along, strict=True)
        if output.requires_grad and isinstance(direction, Tensor)
    ]
    if not pairs:
        return [None] * len(wanted)
    if any(direction.shape != output.shape for output, direction in pairs):
        raise EvidenceError("a gradient is asked for along another shape than the output's")
    through, directions = zip(*pairs, strict=True)
    # What torch.autograd.grad() ends in. Along directions that imports a computer algebra system first, for 0.4 s.
    found = torch.autograd.Variable._execution_engine.run_backward(
        through,
        directions,
        keep_graph=False,
        create_graph=False,
        inputs=tuple(wanted),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    return list(found)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Several threads would mostly wait for each other: the tensors are small, and whoever asks waits as well."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Bounded(TorchDispatchMode):
    """Lets operators through as long as what they make fits."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._deadline = MOST_BYTES, time.monotonic() + MOST_SECONDS

    @property
    def made(self) -> int:
        """Bytes, so far."""
        return MOST_BYTES - self._left

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; the guard against that would import the compiler."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if time.monotonic() > self._deadline:
            raise TooMuch(f"it takes more than {MOST_SECONDS:g} s")
        if not (func.is_view or func._schema.is_mutable):
            self._left -= _size(func, args, kwargs)
            if self._left < 0:
                raise TooMuch(f"it takes more than {MOST_BYTES >> 20} MiB")
        return func(*args, **kwargs)


def _size(func, args: tuple, kwargs: Mapping[str, Any]) -> int:
    """The bytes that an operator will make; 0 where only its inputs' numbers tell, which bound it."""
    if torch.Tag.pointwise in func.tags:
        tensors = list(_tensors((args, kwargs)))
        return _elements_of_broadcast(tensors) * max((WIDEST, *(one.element_size() for one in tensors)))
    if func.overloadpacket in LIKE_THE_FIRST:
        return args[0].numel() * args[0].element_size()
    if func.overloadpacket in MATRIX_PRODUCTS:
        return args[0].shape[:-1].numel() * args[1].shape[-1] * args[0].element_size()
    args, kwargs = tree_map_only(Tensor, _Shape.of, (args, dict(kwargs)))
    key = func, repr(args), repr(kwargs)
    if key not in _sizes:
        if not _warmed:
            raise _NotWarm
        if len(_sizes) >= MOST_SIZES:
            _sizes.clear()
        _sizes[key] = _size_on_meta(func, args, kwargs)
    return _sizes[key]


def _elements_of_broadcast(tensors: list[Tensor]) -> int:
    """At most; of shapes that do not fit the operator will say so itself."""
    return prod(map(max, zip_longest(*(reversed(one.shape) for one in tensors), fillvalue=1)))


def _size_on_meta(func, args: tuple, kwargs: Mapping[str, Any]) -> int:
    args, kwargs = tree_map_only(_Shape, _Shape.bare, (args, dict(kwargs)))
    if any(argument.name == "device" for argument in func._schema.arguments):
        kwargs["device"] = torch.device("meta")
    try:
        made = func(*args, **kwargs)
    except Exception:  # no shape without numbers; or an error, which the operator itself will raise
        return 0
    return sum(one.numel() * one.element_size() for one in _tensors(made))


def _warm_up() -> None:
    """The first operator on the meta device imports for seconds, and 60 MB: not before it must, and on nobody's time."""
    if not _warmed:
        one = torch.zeros(1, device="meta")
        torch.ops.aten.add.Tensor(one, one)
        _warmed.append(True)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A tensor without its numbers: what its operators' sizes depend on."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: Tensor) -> _Shape:
        return cls(tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def bare(self) -> Tensor:
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype, device="meta")


def _indices(given: Any, count: int) -> list[int]:
    if not isinstance(given, list) or len(given) > count:
        raise EvidenceError("this is no question for a stand-in")
    if not all(type(index) is int and 0 <= index < count for index in given):
        raise EvidenceError("this is no question for a stand-in")
    return given


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
