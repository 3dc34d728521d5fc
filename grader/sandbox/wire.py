"""Converts trees of tensors and JSON values to bytes and back, in the trusted process outside the sandbox.

Incoming bytes are not trusted: sizes are checked before anything is parsed, nothing is unpickled, and every
defect is an EvidenceError whose message the student can read. guest/values.py does the same inside the sandbox.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import numpy as packed_by_numpy
from safetensors import torch as packed_by_torch

from grader.records import Value
from grader.sandbox.guest.values import DTYPES
from grader.sandbox.text import plain

MOST_JSON = 1 << 20  # bytes of the tree without its tensors
MOST_DEPTH = 40
MOST_TENSORS = 4096
MOST_AXES = 16


class EvidenceError(Exception):
    """The sandbox sent something that is no evidence; the message is for the student."""


def encode(value: Value) -> tuple[Any, bytes]:
    """Split a value into a tree for JSON and the bytes of its tensors in the safetensors format.

    In the tree, {"tensor": name} stands for a tensor whose numbers lie in order, and {"axes": [order, tensor]} for one
    whose numbers lie in another order: the axes of `tensor` must be permuted so. Code that works only on numbers in
    order (`.view`) then fails inside the sandbox as it does outside.

    Raises:
        TypeError: a part of the value is neither a tensor nor a JSON value: a fault of the grader.
    """
    tensors: dict[str, torch.Tensor] = {}

    def flatten(node: Value) -> Any:
        if isinstance(node, torch.Tensor):
            name = str(len(tensors))
            node = node.detach().cpu().resolve_neg()
            if node.is_contiguous():
                tensors[name] = node
                return {"tensor": name}
            order = _order_in_memory(node)
            tensors[name] = node.permute(order).contiguous()
            if order == sorted(order):
                return {"tensor": name}
            return {"axes": [[order.index(axis) for axis in range(len(order))], {"tensor": name}]}
        if isinstance(node, float) and not math.isfinite(node):
            return {"float": repr(node)}
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, Mapping):
            return {"dict": {str(name): flatten(item) for name, item in node.items()}}
        if isinstance(node, (list, tuple)):
            return [flatten(item) for item in node]
        raise TypeError(f"{type(node).__qualname__} cannot be sent to the sandbox; tensors and JSON values can")

    tree = flatten(value)
    return tree, _pack(tensors) if tensors else b""


def _pack(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Return tensors in the safetensors format, through NumPy where it has their types: that takes a third of the time."""
    if any(tensor.dtype is torch.bfloat16 for tensor in tensors.values()):
        return packed_by_torch.save({name: tensor.clone() for name, tensor in tensors.items()})
    return packed_by_numpy.save({name: tensor.numpy() for name, tensor in tensors.items()})


def _order_in_memory(tensor: torch.Tensor) -> list[int]:
    """Return a tensor's axes in the order of its memory; as they are, where no order makes it contiguous."""
    axes = list(range(tensor.ndim))
    order = sorted(axes, key=lambda axis: -tensor.stride(axis))
    return order if tensor.permute(order).is_contiguous() else axes


def parse(header: bytes, most: int = MOST_JSON) -> dict[str, Any]:
    """Parse the JSON object with which an answer begins.

    Raises:
        EvidenceError: the header is too large, or no JSON object.
    """
    if len(header) > most:
        raise EvidenceError(f"an answer of {len(header) / 2**20:.0f} MiB beside its tensors came back")
    try:
        answer = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise EvidenceError("the answer of the sandbox is not JSON: something wrote into its channel") from error
    if not isinstance(answer, dict):
        raise EvidenceError("the answer of the sandbox is not an object: something wrote into its channel")
    return answer


def decode(tree: Any, blob: memoryview | bytes) -> Value:
    """Convert the two results of `encode` back to a value of CPU tensors and JSON values.

    Raises:
        EvidenceError: tree or tensors are forged, or hold something that no probe may return.
    """
    tensors = _tensors(blob)

    def build(node: Any, depth: int) -> Value:
        if depth > MOST_DEPTH:
            raise EvidenceError("lists or dicts that are nested too deep came back")
        if isinstance(node, str):
            return plain(node, MOST_JSON)
        if node is None or isinstance(node, (bool, float)):
            return node
        if isinstance(node, int):
            if abs(node) >= 2**63:
                raise EvidenceError("an integer of more than 64 bits came back")
            return node
        if isinstance(node, list):
            return [build(item, depth + 1) for item in node]
        match list(node.items()):
            case [("tensor", str(name))] if name in tensors:
                # `pop`, so that a small tree cannot become a large value by repeating a tensor.
                return tensors.pop(name)
            case [("float", "nan" | "inf" | "-inf" as text)]:
                return float(text)
            case [("dict", dict(items))]:
                return {plain(name, 200): build(item, depth + 1) for name, item in items.items()}
        raise EvidenceError("a value that no probe returns came back: something wrote into the channel")

    return build(tree, 0)


def _tensors(blob: memoryview | bytes) -> dict[str, torch.Tensor]:
    """Read tensors in the safetensors format by name, without the library: check every size, and copy the data only once."""
    blob = memoryview(blob)
    if not blob:
        return {}
    length = int.from_bytes(blob[:8], "little") if len(blob) >= 8 else MOST_JSON + 1
    if length > min(MOST_JSON, len(blob) - 8):
        raise EvidenceError("tensors with a forged header came back")
    try:
        header = json.loads(bytes(blob[8 : 8 + length]))
    except (ValueError, RecursionError) as error:
        raise EvidenceError("tensors with a forged header came back") from error
    if not isinstance(header, dict) or len(header) > MOST_TENSORS:
        raise EvidenceError(f"no tensors, or more than {MOST_TENSORS}, came back")
    body, end = blob[8 + length :], 0
    tensors: dict[str, torch.Tensor] = {}
    for name, entry in header.items():
        match entry:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)]}:
                if start != end or not start <= stop <= len(body):
                    raise EvidenceError("tensors that overlap, or are not all there, came back")
                tensors[name], end = _tensor(dtype, shape, body[start:stop]), stop
            case _:
                raise EvidenceError("tensors with a forged header came back")
    return tensors


def _tensor(dtype_name: str, shape: list, data: memoryview) -> torch.Tensor:
    """Copy bytes into a tensor; raise EvidenceError unless their number fits dtype and shape."""
    dtype = DTYPES.get(dtype_name)
    if dtype is None:
        raise EvidenceError(f"a tensor of dtype {plain(dtype_name, 20)} came back; use a real one")
    if len(shape) > MOST_AXES or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise EvidenceError("a tensor with impossible sizes came back")
    if math.prod(filter(None, shape)) >= 2**40:  # of an empty tensor, too: PyTorch cannot make it
        raise EvidenceError("a tensor with impossible sizes came back")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise EvidenceError("a tensor came back that has another size than it says")
    raw = torch.uint8 if dtype is torch.bool else dtype
    flat = torch.frombuffer(bytearray(data), dtype=raw) if data else torch.empty(0, dtype=raw)
    return (flat != 0 if dtype is torch.bool else flat).reshape(shape)
