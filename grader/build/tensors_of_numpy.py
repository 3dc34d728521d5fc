"""Replaces PyTorch in the self-check of a lesson that does not use it: the few functions it needs, based on NumPy.

The builder puts this module into the notebook under the name `torch`. Only the modules of the
self-check import it, so students of such a lesson do not need PyTorch. The names, and the text of a
dtype, are PyTorch's.
"""

import builtins
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from math import prod
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

inf = np.inf


class Dtype:
    """The type of a tensor's numbers. NumPy itself has no bfloat16."""

    def __init__(self, name: str, of_numpy: Any) -> None:
        self.name, self.of_numpy = name, of_numpy

    def __repr__(self) -> str:
        return f"torch.{self.name}"


NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
DTYPES = {np.dtype(name): Dtype(name, np.dtype(name)) for name in NAMES}


class Size(tuple):
    """The shape of a tensor."""

    def numel(self) -> int:
        return prod(self)


class Tensor:
    """A NumPy array with the methods of a tensor."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    @property
    def dtype(self) -> Dtype:
        return DTYPES[self.array.dtype]

    @property
    def shape(self) -> Size:
        return Size(self.array.shape)

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def numel(self) -> int:
        return self.array.size

    def is_floating_point(self) -> builtins.bool:
        return self.array.dtype.kind == "f"

    def detach(self) -> "Tensor":
        return self

    cpu = contiguous = detach

    def clone(self) -> "Tensor":
        return Tensor(self.array.copy())

    def numpy(self) -> np.ndarray:
        return self.array

    def item(self) -> Any:
        return self.array.item()

    def tolist(self) -> Any:
        return self.array.tolist()

    def to(self, dtype: Dtype) -> "Tensor":
        with np.errstate(all="ignore"):
            return Tensor(self.array.astype(dtype.of_numpy))

    def double(self) -> "Tensor":
        return Tensor(self.array.astype(np.float64))

    def long(self) -> "Tensor":
        return Tensor(self.array.astype(np.int64))

    def __getitem__(self, index: Any) -> "Tensor":
        return Tensor(self.array[tuple(map(_plain, index)) if isinstance(index, tuple) else _plain(index)])

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator["Tensor"]:
        return map(Tensor, self.array)

    def __bool__(self) -> builtins.bool:
        return builtins.bool(self.array)

    def __float__(self) -> float:
        return float(self.array.item())

    def __int__(self) -> int:
        return int(self.array.item())

    __hash__ = object.__hash__  # a tensor is equal in places, and not as a whole

    def reshape(self, *shape: Any) -> "Tensor":
        return Tensor(self.array.reshape(*shape))

    def flatten(self) -> "Tensor":
        return Tensor(self.array.reshape(-1))

    def squeeze(self, axis: int | None = None) -> "Tensor":
        return Tensor(self.array.squeeze(axis))

    def unsqueeze(self, axis: int) -> "Tensor":
        return Tensor(np.expand_dims(self.array, axis))

    def expand(self, shape: Sequence[int]) -> "Tensor":
        return Tensor(np.broadcast_to(self.array, shape))

    def permute(self, order: Sequence[int]) -> "Tensor":
        return Tensor(self.array.transpose(order))

    def movedim(self, source: Sequence[int], target: Sequence[int]) -> "Tensor":
        return Tensor(np.moveaxis(self.array, source, target))

    def diagonal(self, dim1: int, dim2: int) -> "Tensor":
        return Tensor(self.array.diagonal(axis1=dim1, axis2=dim2))

    def narrow(self, axis: int, start: int, length: int) -> "Tensor":
        return Tensor(self.array.take(range(start, start + length), axis))

    def nonzero(self) -> "Tensor":
        return Tensor(np.argwhere(self.array))

    def nan_to_num(self, nan: float = 0.0, posinf: float | None = None) -> "Tensor":
        return Tensor(np.nan_to_num(self.array, nan=nan, posinf=posinf))


def _plain(value: Any) -> Any:
    """Return the array of a tensor, and any other value unchanged."""
    return value.array if isinstance(value, Tensor) else value


def _method(function: Any) -> Any:
    """Return a method that calls a NumPy function on the tensor and on the arguments of the method."""

    def apply(self: Tensor, *given: Any) -> Any:
        with np.errstate(all="ignore"):
            result = function(self.array, *map(_plain, given))
        return NotImplemented if result is NotImplemented else Tensor(result)

    return apply


for _name in ("abs", "all", "any", "isfinite", "isnan", "max", "mean", "sqrt", "square", "sum"):
    setattr(Tensor, _name, _method(getattr(np, _name)))
_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor".split()
for _name in [*_BINARY, *(f"r{_name}" for _name in _BINARY), *"eq ne lt le gt ge invert neg abs".split()]:
    setattr(Tensor, f"__{_name}__", _method(getattr(np.ndarray, f"__{_name}__")))


# ---------------------------------------------------------------- functions


def tensor(numbers: Any, dtype: Dtype | None = None) -> Tensor:
    array = np.array(numbers, dtype and dtype.of_numpy)
    return Tensor(array.astype(np.float32) if dtype is None and array.dtype == np.float64 else array)


def from_numpy(array: np.ndarray) -> Tensor:
    if array.dtype not in DTYPES:
        raise TypeError(f"a tensor cannot hold numbers of the type {array.dtype}")
    return Tensor(array)


def arange(start: int, end: int, dtype: Dtype) -> Tensor:
    return Tensor(np.arange(start, end, dtype=dtype.of_numpy))


def cos(one: Tensor) -> Tensor:
    return Tensor(np.cos(one.array))


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return Tensor(np.stack([one.array for one in tensors], axis))


def cat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return Tensor(np.concatenate([one.array for one in tensors], axis))


def where(mask: Tensor, one: Any, other: Any) -> Tensor:
    return Tensor(np.where(mask.array, _plain(one), _plain(other)))


def equal(one: Tensor, other: Tensor) -> builtins.bool:
    return np.array_equal(one.array, other.array)


def isclose(one: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: builtins.bool) -> Tensor:
    return Tensor(np.isclose(one.array, other.array, rtol=rtol, atol=atol, equal_nan=equal_nan))


# ------------------------------------------------------------ what has no meaning for arrays, and the names of dtypes


def _nothing(*_: Any, **__: Any) -> None:
    return None


set_grad_enabled = set_default_dtype = get_default_dtype = _nothing
enable_grad = nullcontext
default_generator = SimpleNamespace(manual_seed=_nothing)
random = SimpleNamespace(fork_rng=lambda devices: nullcontext())
cuda = SimpleNamespace(is_initialized=lambda: False)
nn, autograd, functional = ModuleType("torch.nn"), ModuleType("torch.autograd"), ModuleType("torch.nn.functional")
vars(nn).update(Module=type("Module", (), {}), functional=functional)
vars(autograd).update(Function=type("Function", (), {}))
globals().update({dtype.name: dtype for dtype in DTYPES.values()}, bfloat16=Dtype("bfloat16", None))
if __name__ == "torch":  # in the notebook: `from torch.nn import functional` finds them here
    sys.modules.update({module.__name__: module for module in (nn, autograd, functional)})
