"""Converts nested values with tensors to JSON and bytes, and back. Both ends of the sandbox use this module.

In the JSON tree, {"tensor": name} stands for a tensor, {"dict": {…}} for a dict, and
{"float": text} for NaN and infinities. {"axes": [order, tensor]} stands for a tensor whose axes
must be permuted in this order. The bytes contain the tensors in the safetensors format. `decode`
trusts nothing: it checks sizes before it reads, and unpickles nothing.
"""

import json
import math
import struct
from typing import Any

import torch

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST_BYTES = 1 << 30  # of a value, if the caller sets no limit
MOST_JSON = 1 << 20  # bytes of a tree, and of the header before tensors
MOST_DEPTH = 32
MOST_TENSORS = 4096
MOST_AXES = 16


class Refused(Exception):
    """A value must not cross the sandbox's boundary, or the bytes do not encode one. The student reads the message."""


def encode(value: Any, most_bytes: int = MOST_BYTES, *, keep_order: bool = False) -> tuple[Any, bytes]:
    """Split a value into a JSON tree and the bytes of its tensors.

    Args:
        most_bytes: the limit on the size of the value, in bytes.
        keep_order: keep the order of a tensor's numbers in memory, so that `.view` fails as it does outside.

    Raises:
        Refused: a part of the value is neither a plain tensor nor a JSON value, or the value is too large or too deep.
    """
    tensors: list[torch.Tensor] = []
    left = most_bytes

    def take(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise Refused(f"more than {most_bytes / 2**20:.0f} MiB came back")

    def flatten(node: Any, depth: int) -> Any:
        """Append the tensors of a value to `tensors`. Return the JSON tree, which refers to them by their indices."""
        if depth > MOST_DEPTH:
            raise Refused(f"lists or dicts nested more than {MOST_DEPTH} deep came back")
        take(16)
        if isinstance(node, torch.Tensor):
            tensor = _plain(node, left)
            take(tensor.numel() * tensor.element_size())
            order = _order_in_memory(tensor) if keep_order else list(range(tensor.ndim))
            tensors.append(tensor.permute(order).contiguous())
            leaf = {"tensor": str(len(tensors) - 1)}
            return leaf if order == sorted(order) else {"axes": [[order.index(axis) for axis in sorted(order)], leaf]}
        if type(node).__module__ == "numpy" and getattr(node, "shape", None) == ():
            node = node.item()
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, int):
            return int(node)
        if isinstance(node, float):
            return float(node) if math.isfinite(node) else {"float": repr(float(node))}
        if isinstance(node, str):
            take(len(node))
            return str(node)
        if isinstance(node, dict):
            return {"dict": {str(name): flatten(item, depth + 1) for name, item in node.items()}}
        if isinstance(node, (list, tuple)):
            return [flatten(item, depth + 1) for item in node]
        raise Refused(f"{_article(type(node).__qualname__)} came back where a tensor or a number is expected")

    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        return flatten(value, 0), _pack(tensors)


def decode(tree: Any, blob: bytes | memoryview, *, device: str = "cpu", keep_order: bool = False) -> Any:
    """Convert a JSON tree and bytes, the two results of `encode`, back to a value with tensors on this device.

    Args:
        keep_order: accept tensors that were encoded with `keep_order`; if it is False, they are refused.

    Raises:
        Refused: the tree or the bytes are forged, or contain something that `encode` does not write.
    """
    tensors = _tensors(blob)

    def build(node: Any, depth: int) -> Any:
        if depth > MOST_DEPTH:
            raise Refused("lists or dicts that are nested too deep came back")
        if node is None or isinstance(node, (bool, float, str)):
            return node
        if isinstance(node, int):
            if abs(node) >= 2**63:
                raise Refused("an integer of more than 64 bits came back")
            return node
        if isinstance(node, list):
            return [build(item, depth + 1) for item in node]
        match list(node.items()):
            case [("tensor", str(name))] if name in tensors:
                # `pop`, so that a small tree cannot become a large value by repeating a tensor.
                return tensors.pop(name).to(device)
            case [("axes", [list(order), dict(leaf)])] if keep_order:
                # `clone` keeps the order in memory; without it this would be a view.
                return build(leaf, depth + 1).permute(order).clone()
            case [("float", "nan" | "inf" | "-inf" as text)]:
                return float(text)
            case [("dict", dict(items))]:
                return {name: build(item, depth + 1) for name, item in items.items()}
        raise Refused("a value that no probe returns came back: something wrote into the channel")

    return build(tree, 0)


def _plain(tensor: torch.Tensor, most_bytes: int) -> torch.Tensor:
    """Return a tensor's numbers as a plain tensor on the CPU, without gradient.

    Raises:
        Refused: the tensor is sparse, nested, complex or without numbers, or is larger than `most_bytes`.
    """
    tensor = tensor.detach()
    if type(tensor) is not torch.Tensor:
        tensor = tensor.as_subclass(torch.Tensor)
    if tensor.is_nested or tensor.layout != torch.strided:
        raise Refused(f"a tensor of layout {str(tensor.layout).removeprefix('torch.')} came back, not a plain one")
    if tensor.is_meta:
        raise Refused("a tensor on the meta device came back: it has a shape but no numbers")
    if tensor.dtype not in NAMES:
        raise Refused(f"a tensor of dtype {str(tensor.dtype).removeprefix('torch.')} came back; use a real one")
    if tensor.numel() * tensor.element_size() > most_bytes:
        raise Refused(f"a tensor of shape {tuple(tensor.shape)} came back: far more numbers than were asked for")
    return tensor.resolve_neg().cpu()


def _order_in_memory(tensor: torch.Tensor) -> list[int]:
    """Return a tensor's axes in the order of its memory, or in their own order if none makes the tensor contiguous."""
    axes = list(range(tensor.ndim))
    if tensor.is_contiguous():
        return axes
    order = sorted(axes, key=lambda axis: -tensor.stride(axis))
    return order if tensor.permute(order).is_contiguous() else axes


def _pack(tensors: list[torch.Tensor]) -> bytes:
    """Return tensors in the safetensors format: the length of the header, the header, and the numbers."""
    if not tensors:
        return b""
    header, parts, offset = {}, [], 0
    for index, tensor in enumerate(tensors):
        data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        stop = offset + len(data)
        shape = list(tensor.shape)
        header[str(index)] = {"dtype": NAMES[tensor.dtype], "shape": shape, "data_offsets": [offset, stop]}
        parts.append(data)
        offset = stop
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def _tensors(blob: memoryview | bytes) -> dict[str, torch.Tensor]:
    """Read tensors in the safetensors format, check every size, and return them by name.

    Raises:
        Refused: the bytes are forged.
    """
    blob = memoryview(blob)
    if not blob:
        return {}
    length = int.from_bytes(blob[:8], "little") if len(blob) >= 8 else MOST_JSON + 1
    if length > min(MOST_JSON, len(blob) - 8):
        raise Refused("tensors with a forged header came back")
    try:
        header = json.loads(bytes(blob[8 : 8 + length]))
    except (ValueError, RecursionError) as error:
        raise Refused("tensors with a forged header came back") from error
    if not isinstance(header, dict) or len(header) > MOST_TENSORS:
        raise Refused(f"no tensors, or more than {MOST_TENSORS}, came back")
    body, end = blob[8 + length :], 0
    tensors: dict[str, torch.Tensor] = {}
    for name, entry in header.items():
        match entry:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)]}:
                if start != end or not start <= stop <= len(body):
                    raise Refused("tensors that overlap, or are not all there, came back")
                tensors[name], end = _tensor(dtype, shape, body[start:stop]), stop
            case _:
                raise Refused("tensors with a forged header came back")
    return tensors


def _tensor(dtype_name: str, shape: list, data: memoryview) -> torch.Tensor:
    """Copy bytes into a tensor.

    Raises:
        Refused: dtype or shape are not allowed, or need another number of bytes.
    """
    dtype = DTYPES.get(dtype_name)
    if dtype is None:
        raise Refused(f"a tensor of dtype {dtype_name[:20]} came back; use a real one")
    if len(shape) > MOST_AXES or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise Refused("a tensor with impossible sizes came back")
    if math.prod(filter(None, shape)) >= 2**40:  # of an empty tensor, too: PyTorch cannot make it
        raise Refused("a tensor with impossible sizes came back")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise Refused("a tensor came back that has another size than it says")
    raw = torch.uint8 if dtype is torch.bool else dtype
    flat = torch.frombuffer(bytearray(data), dtype=raw) if data else torch.empty(0, dtype=raw)
    # `clone`, so that the tensor is no view, which some operations in place refuse.
    return (flat != 0 if dtype is torch.bool else flat).reshape(shape).clone()


def _article(name: str) -> str:
    """Return a name with the article "a" or "an" in front."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
