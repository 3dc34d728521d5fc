"""Encode and decode nested dicts and lists with tensors as JSON and safetensors, inside the sandbox.

grader/sandbox/wire.py is the trusted side's counterpart; it does not trust what this module writes. Nothing is pickled.
A tensor appears in the tree as {"tensor": name}, a dict as {"dict": {…}}, NaN and the like as {"float": text}. What the
trusted side sends may also have {"axes": [order, tensor]}, for a tensor whose numbers lie in another order.
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
MAX_DEPTH = 32


class Refused(Exception):
    """A returned value cannot be evidence; the message is for the student."""


def decode(tree: Any, blob: bytes | memoryview, device: str = "cpu") -> Any:
    """Build the values that the trusted side sent: `blob` contains the tensors, which move to the device."""
    tensors = {name: tensor.to(device) for name, tensor in _tensors(blob).items()}

    def build(node: Any) -> Any:
        if isinstance(node, list):
            return [build(item) for item in node]
        if not isinstance(node, dict):
            return node
        ((kind, value),) = node.items()
        if kind == "dict":
            return {name: build(item) for name, item in value.items()}
        if kind == "axes":  # `clone` keeps the order in memory; without it this would be a view
            order, tensor = value
            return build(tensor).permute(order).clone()
        return float(value) if kind == "float" else tensors[value]

    return build(tree)


def _tensors(blob: bytes | memoryview) -> dict[str, torch.Tensor]:
    """Read tensors in the safetensors format: name → tensor."""
    if not blob:
        return {}
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(bytes(blob[8 : 8 + length]))
    body, tensors = bytearray(blob[8 + length :]), {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, stop = entry["data_offsets"]
        dtype, shape = DTYPES[entry["dtype"]], entry["shape"]
        data = torch.frombuffer(body[start:stop], dtype=dtype) if stop > start else torch.empty(0, dtype=dtype)
        tensors[name] = data.reshape(shape).clone()
    return tensors


def encode(value: Any, max_bytes: int) -> tuple[Any, bytes]:
    """Return nested values as a tree for JSON, and the tensors that the tree names, as safetensors.

    Raises:
        Refused: a value cannot be evidence, the values are nested too deep, or together exceed `max_bytes`.
    """
    tensors: list[torch.Tensor] = []
    left = max_bytes

    def flatten(node: Any, depth: int) -> Any:
        nonlocal left
        left -= 16
        if depth > MAX_DEPTH:
            raise Refused(f"lists or dicts nested more than {MAX_DEPTH} deep came back")
        if left < 0:
            raise Refused(f"more than {max_bytes / 2**20:.0f} MiB came back")
        if isinstance(node, torch.Tensor):
            plain = _plain(node, left)
            left -= plain.numel() * plain.element_size()
            tensors.append(plain)
            return {"tensor": str(len(tensors) - 1)}
        if type(node).__module__ == "numpy" and getattr(node, "shape", None) == ():
            node = node.item()
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, int):
            return int(node)
        if isinstance(node, float):
            return float(node) if math.isfinite(node) else {"float": repr(float(node))}
        if isinstance(node, str):
            left -= len(node)
            if left < 0:
                raise Refused(f"more than {max_bytes / 2**20:.0f} MiB came back")
            return str(node)
        if isinstance(node, dict):
            return {"dict": {str(name): flatten(item, depth + 1) for name, item in node.items()}}
        if isinstance(node, (list, tuple)):
            return [flatten(item, depth + 1) for item in node]
        raise Refused(f"{_article(type(node).__qualname__)} came back where a tensor or a number is expected")

    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        tree = flatten(value, 0)
        return tree, _pack(tensors)


def _plain(tensor: torch.Tensor, max_bytes: int) -> torch.Tensor:
    """Return the tensor's numbers as a plain tensor: on the CPU, contiguous, without gradient.

    Raise Refused if it is sparse, nested, complex or without numbers, or exceeds `max_bytes`.
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
    if tensor.numel() * tensor.element_size() > max_bytes:
        raise Refused(f"a tensor of shape {tuple(tensor.shape)} came back: far more numbers than were asked for")
    return tensor.resolve_neg().cpu().contiguous()


def _pack(tensors: list[torch.Tensor]) -> bytes:
    """Return the tensors in the safetensors format: length of the header, header, numbers."""
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


def _article(name: str) -> str:
    """Return a name after "a" or "an"."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
