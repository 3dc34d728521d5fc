"""A second device for machines without a GPU: `elsewhere` computes on the CPU and raises the errors that a GPU raises.

PyTorch lets a backend be written in Python. This one keeps each tensor's numbers in an ordinary tensor, so that every
operation, training too, gives the same numbers as on the CPU. Its purpose: an operation on tensors of two devices raises,
and so does `.numpy()`, both with the messages of a GPU. It does not imitate a GPU's speed, rounding or memory.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map

NAME = "elsewhere"
# Operations that copy numbers from one device to the other.
CARRIES = ("aten::_to_copy", "aten::copy_", "aten::_copy_from", "aten::_local_scalar_dense")
# A GPU takes the numbers of rows and columns from either device.
INDEXES = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
_registered: list[torch.library.Library] = []


class Elsewhere(torch.Tensor):
    """A tensor of the second device; `raw` holds its numbers."""

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> Elsewhere:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            raw.shape,
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            device=f"{NAME}:0",
        )
        made.raw = raw
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})

    def tolist(self) -> Any:
        return self.raw.tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"can't convert {NAME}:0 device type tensor to numpy. Use Tensor.cpu() first")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.numpy()

    def __getitem__(self, index: Any) -> torch.Tensor:
        return super().__getitem__(_lists_as_tensors(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_lists_as_tensors(index), value)

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.raw.untyped_storage()

    def new_tensor(self, data: Any, dtype: torch.dtype | None = None) -> Elsewhere:
        return torch.tensor(data, dtype=dtype or self.dtype, device=self.device)

    def __format__(self, spec: str) -> str:
        return format(self.item() if spec else repr(self), spec)

    def __repr__(self, **_: Any) -> str:
        return f"{self.raw!r} on {NAME}"


def available() -> bool:
    """Tell whether this PyTorch supports a device that is written in Python."""
    return hasattr(backend_registration, "_setup_privateuseone_for_python_backend")


def register() -> str:
    """Register the device with PyTorch, once in this process, and return its name."""
    if not _registered:
        backend_registration._setup_privateuseone_for_python_backend(NAME)
        library = torch.library.Library("_", "IMPL")
        library.fallback(compute_call, "PrivateUse1")
        # PyTorch's own `eye` and `arange` resize an empty tensor, which a wrapper cannot follow.
        resizing = torch.library.Library("aten", "IMPL")
        eye, arange = torch.ops.aten.eye, torch.ops.aten.arange
        for operation in (eye.default, eye.m, arange.default, arange.start, arange.start_step):
            resizing.impl(operation, partial(compute_call, operation), "PrivateUse1")
        _registered.extend((library, resizing))
    return NAME


def carried(make: Any) -> Any:
    """Wrap torch.tensor or torch.as_tensor, which cannot make a tensor on this device: make it on the CPU and move it."""

    def made(data: Any, *, device: Any = None, requires_grad: bool = False, **more: Any) -> torch.Tensor:
        if isinstance(data, Elsewhere):
            return data.to(device=device or data.device, **more)
        tensor = make(data, **more)
        tensor = tensor if device is None else tensor.to(device)
        return tensor.requires_grad_() if requires_grad else tensor

    return made


def _lists_as_tensors(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_lists_as_tensors(part) for part in index)
    return torch.tensor(index) if isinstance(index, list) else index


def compute_call(operation: Any, *args: Any, **kwargs: Any) -> Any:
    return compute(operation, args, kwargs)


def compute(operation: Any, args: tuple, kwargs: dict) -> Any:
    """Compute an operation on the numbers, and put its results on the second device."""
    name, leaves = operation._schema.name, tree_leaves((args, kwargs))
    if name not in CARRIES:
        meeting = tree_leaves((args[0], args[2:])) if name in INDEXES else leaves
        for leaf in meeting:  # a scalar from the CPU may take part, as on a GPU
            if isinstance(leaf, torch.Tensor) and not isinstance(leaf, Elsewhere) and leaf.ndim:
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but {name} got one on {NAME} and one on {leaf.device}"
                )
    result = operation(*tree_map(_here, args), **tree_map(_here, kwargs))
    asked = next((leaf for leaf in leaves if isinstance(leaf, torch.device)), None)
    if asked is not None and asked.type == "cpu":
        return result
    if name.endswith("_"):
        return args[0]  # in place
    if "out" in kwargs:
        return kwargs["out"]
    return tree_map(lambda leaf: Elsewhere(leaf) if isinstance(leaf, torch.Tensor) else leaf, result)


def _here(value: Any) -> Any:
    if isinstance(value, Elsewhere):
        return value.raw
    return torch.device("cpu") if isinstance(value, torch.device) else value


def moved(value: Any, device: str) -> Any:
    """Move all tensors of nested values to a device."""
    return tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, value)
