"""Names of libraries by which code can reach what outlives a call, as settings, random numbers, devices, files; and those by which not.

Of torch and numpy all counts that is not known to have no memory: operations on tensors and arrays, layers, types, and what stands
in PURE. So a setting that a later version brings counts, too.
"""

import collections
import copy
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from types import ModuleType
from typing import Any

import numpy
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import get_overridable_functions

# Functions without a memory that are no operations on tensors, and parts of torch that hold such functions alone.
PURE = frozenset(
    """
    append apply_along_axis apply_over_axes arange argpartition around array array2string array_equal array_equiv array_repr
    array_split array_str as_tensor asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix astype average
    bartlett bartlett_window base_repr binary_repr blackman blackman_window block bmat broadcast_arrays broadcast_shapes can_cast
    celu_ choose clip common_type compress cond convolve copy correlate cumulative_prod cumulative_sum delete diag_indices
    diag_indices_from digitize ediff1d einsum_path empty empty_strided expand_dims extract eye flatnonzero format_float_positional
    format_float_scientific from_numpy frombuffer fromfunction fromiter fromstring full geomspace hamming hamming_window hann_window
    hanning histogram2d histogram_bin_edges identity insert interp intersect1d is_storage is_tensor iscomplex iscomplexobj isdtype
    isfortran isrealobj isscalar issubdtype iterable ix_ kaiser kaiser_window lexsort linspace logspace mask_indices
    matrix_rank matrix_transpose min_scalar_type mintypecode nanargmax nanargmin nancumprod nancumsum nanmax nanmin nanpercentile
    nanprod nanstd nanvar normal ones packbits partition percentile permute_dims piecewise poly polyadd polyder polydiv polyfit polyint
    polymul polysub polyval promote_types ptp rand rand_like randint randint_like randn randn_like randperm range ravel_multi_index real_if_close require result_type rollaxis roots rrelu_
    scalar_tensor selu_ setdiff1d setxor1d sort_complex sparse_coo_tensor sparse_csr_tensor take_along_axis tensor threshold_ tri
    tril_indices tril_indices_from trim_zeros triu_indices triu_indices_from typename union1d unique_all unique_counts
    unique_inverse unique_values unpackbits unstack unwrap vander vmap wait zeros
    Random autograd fft func functional linalg masked nn optim special types utils
    """.split()
)
# Types and libraries of whose attributes only those remember that `names_with_a_memory` has, or a list of the search.
KNOWN = (
    torch.Tensor, numpy.ndarray, nn.Module, torch.finfo, torch.optim.Optimizer, str, list, dict, set, tuple, int, float, slice, Random,
    torch, numpy, functional, nn, nn.init, torch.linalg, torch.special, torch.func, torch.optim,
    math, operator, itertools, functools, collections, copy,
)  # fmt: skip
# Names of other libraries, and of tensors: a register of classes, an address, how often a tensor was changed, open figures.
OTHERS = frozenset("register data_ptr _version get_fignums fignum_exists rcParams gcf gca number".split())


@cache
def names_with_a_memory() -> frozenset[str]:
    """Return the names of all functions, modules and tables of torch and numpy that may keep something between two calls.

    Random draws are not among them: what they give at which step, nobody knows who has not set the seed.
    """
    operations = {getattr(one, "__name__", "") for some in get_overridable_functions().values() for one in some}
    known = operations | {*dir(torch.Tensor), *dir(numpy.ndarray), *dir(functional)} | PURE
    functions = {name for library in (torch, numpy) for name in _public(library, _may_remember)}
    tables = {
        name
        for library in (numpy, functional, torch.linalg)
        for name in _public(library, lambda value: isinstance(value, (dict, list, set)))
    }
    return frozenset(functions - known | tables | OTHERS)


@cache
def names_without_a_memory() -> frozenset[str]:
    """Return the names of attributes that keep nothing between two calls: of Python's types, tensors, layers and optimizers."""
    results = {name for each in vars(torch.return_types).values() for name in getattr(each, "__match_args__", ())}
    layers = {name for layer in vars(nn).values() if isinstance(layer, type) for name in _fields(layer)}
    public = {name for each in KNOWN for name in dir(each) if not name.startswith("_")}
    return frozenset(public | layers | results | PURE) - names_with_a_memory()


def _fields(layer: type) -> Iterator[str]:
    """Yield what a layer has besides its methods, as `weight` and `in_features`."""
    for kind in layer.__mro__:
        yield from vars(kind).get("__annotations__", ())
        yield from vars(kind).get("__constants__", ())


def _public(library: Any, wanted: Callable[[Any], bool]) -> Iterator[str]:
    return (name for name in dir(library) if not name.startswith("_") and wanted(getattr(library, name)))


def _may_remember(value: Any) -> bool:
    """Tell whether a value is a function or a part of a library; types, ufuncs and numbers have no memory."""
    return (callable(value) or isinstance(value, ModuleType)) and not isinstance(value, (type, numpy.ufunc))
