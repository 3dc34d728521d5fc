"""Operators in which no code of a student's can run: the tripwire need not trace calls while one of them runs.

They change nothing in place, warn of nothing, and call nothing in Python. That holds for dense tensors of the CPU and for
PyTorch's own kernels alone: so the arguments are looked at, and from the moment when somebody registers a kernel, no
operator is quiet any more.
"""

from collections.abc import Callable, Collection
from typing import Any

import torch

NAMES = """add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar neg.default
    exp.default log.default sqrt.default rsqrt.default reciprocal.default abs.default pow.Tensor_Scalar relu.default
    tanh.default sigmoid.default sum.default sum.dim_IntList mean.default mean.dim amax.default amin.default max.default
    max.dim argmax.default mm.default bmm.default addmm.default view.default _unsafe_view.default transpose.int t.default
    permute.default expand.default unsqueeze.default squeeze.dim select.int slice.Tensor detach.default alias.default
    clone.default eq.Scalar eq.Tensor ne.Scalar ne.Tensor lt.Scalar lt.Tensor le.Scalar le.Tensor gt.Scalar gt.Tensor ge.Scalar
    ge.Tensor logical_not.default bitwise_not.default bitwise_and.Tensor tril.default triu.default native_layer_norm.default"""
OPERATORS = [getattr(getattr(torch.ops.aten, name), kind) for name, kind in (each.split(".") for each in NAMES.split())]
REGISTER = ("impl", "impl_t_t", "impl_with_aoti_compile", "fallback", "fallback_fallthrough")

# Taken before student code can replace them. `id` would tell the audit hook of each call, which costs as much as an operator.
identity = object.__hash__
_Tensor, _Parameter, _keys = torch.Tensor, torch.nn.Parameter, torch._C._dispatch_keys
_count_modes, _count_function_modes = torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack
_DENSE = _keys(torch.ones(1)).raw_repr()
_own_kernels = False


def quiet(watched: Collection[str]) -> dict[int, Callable]:
    """List the quiet operators that are not watched: identity of the overload → the function in C that runs it."""
    return {identity(each): each._op for each in OPERATORS if each._schema.name not in watched}


def are_plain(arguments: tuple) -> bool:
    """Whether no code in Python can run in a quiet operator with these arguments."""
    if _own_kernels or _count_modes() or _count_function_modes():
        return False
    for argument in arguments:
        kind = type(argument)
        if kind is _Tensor or kind is _Parameter:
            if _keys(argument).raw_repr() != _DENSE:
                return False
        elif kind is list:
            for each in argument:
                if type(each) is not int:
                    return False
        elif not (kind is int or kind is float or kind is bool or argument is None):
            return False
    return True


def _noting(register: Callable) -> Callable:
    """Wrap a function that registers a kernel."""

    def noted(*arguments: Any, **options: Any) -> Any:
        global _own_kernels
        _own_kernels = True
        return register(*arguments, **options)

    return noted


def install() -> None:
    """Note when somebody registers a kernel. The fork server calls this once, before student code runs."""
    for name in REGISTER:
        setattr(torch._C._DispatchModule, name, _noting(getattr(torch._C._DispatchModule, name)))
