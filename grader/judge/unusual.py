"""Find what an answer calls that no answer to its exercise needs, so that a person looks at it.

An exercise that bans a built-in asks for a few steps of arithmetic. A list of banned names cannot be complete: another loss
or another library may contain the same computation. The names here are those of arithmetic, reductions, products,
indexing and shapes, and of layers with weights. Everything else of PyTorch, and every library but Python's own, NumPy
and PyTorch, is unusual. That costs no points: there may be a good reason.
"""

import ast
import sys
from collections.abc import Collection, Iterator
from functools import cache

import torch
from torch import nn
from torch.nn import functional as F

from grader.judge.from_scratch import modules_of
from grader.judge.reach import Reach, StudentCode
from grader.submission.code.scopes import SELF, Statement

USUAL_MODULES = frozenset(
    {"torch", "numpy", "matplotlib", "IPython", "tqdm", "einops", "typing_extensions", "jaxtyping"}
)
# Where the same word is a name of PyTorch and one that everybody gives to a variable or a method, the word is usual.
USUAL = frozenset(
    """
    Tensor BoolTensor FloatTensor IntTensor LongTensor Generator Size device dtype finfo iinfo is_tensor is_floating_point
    is_complex is_grad_enabled get_default_dtype set_default_dtype manual_seed no_grad enable_grad inference_mode
    set_grad_enabled set_printoptions set_num_threads get_num_threads seed initial_seed compile typename autograd grad Function functional torch math nn F np init utils Optional Any Callable inf nan pi e newaxis
    bool uint8 int8 int16 short int32 int int64 long float16 half bfloat16 float32 float float64 double complex64 complex128 cfloat
    tensor as_tensor asarray from_numpy scalar_tensor empty empty_like zeros zeros_like ones ones_like full full_like eye
    arange range linspace meshgrid rand rand_like randn randn_like randint randperm normal bernoulli multinomial clone detach
    abs absolute neg negative positive sign sgn add sub subtract mul multiply div divide true_divide floor_divide remainder fmod
    addcmul addcdiv pow square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sinh cosh atan2
    sigmoid floor ceil round trunc frac clamp clamp_min clamp_max clip lerp maximum minimum fmax fmin hypot nan_to_num
    exp_ sqrt_ mul_ add_ div_ sub_ neg_ clamp_ clamp_min_ clamp_max_ clip_ square_ reciprocal_ rsqrt_ log_ abs_ fill fill_ zero_
    detach_ relu relu_ gelu silu elu selu celu softplus leaky_relu hardtanh threshold
    eq ne lt le gt ge less greater less_equal greater_equal not_equal equal isclose allclose isfinite isinf isnan isneginf isposinf
    logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not where masked_select
    sum nansum mean nanmean prod max amax min amin aminmax argmax argmin all any std var std_mean var_mean norm cumsum cumprod
    cummax count_nonzero nonzero sort argsort topk kthvalue median unique bincount histc diff dist vector_norm normalize
    matmul mm bmm mv dot vdot inner outer einsum baddbmm addmm addbmm tensordot kron matrix_power chain_matmul multi_dot
    argwhere isin mode gradient real cosine_similarity scatter_reduce frombuffer
    cat concat concatenate stack hstack vstack dstack column_stack chunk split tensor_split hsplit vsplit unbind unsqueeze squeeze
    reshape view flatten ravel unflatten permute transpose swapaxes swapdims movedim moveaxis t adjoint flip fliplr flipud roll
    rot90 expand expand_as broadcast_to broadcast_tensors broadcast_shapes repeat repeat_interleave tile narrow select slice_scatter
    take take_along_dim gather scatter scatter_add index_select index_add index_put index_fill masked_fill masked_scatter
    tril triu tril_indices triu_indices diag diagonal diag_embed diagflat trace block_diag atleast_1d atleast_2d atleast_3d
    pad unfold fold one_hot embedding linear bilinear dropout layer_norm identity numel vmap result_type promote_types
    Module Parameter UninitializedParameter Buffer Linear LazyLinear Bilinear Identity Dropout LayerNorm RMSNorm Embedding
    Sequential ModuleList ModuleDict ParameterList ParameterDict ReLU GELU SiLU Tanh Sigmoid Flatten Unflatten
    xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ normal_ uniform_ constant_ zeros_ ones_ trunc_normal_ eye_
    orthogonal_ calculate_gain parameter
    softmax log_softmax logsumexp logaddexp logaddexp2 Softmax LogSoftmax scaled_dot_product_attention attention
    """.split()  # the last line has names that are banned where they may not be called
)


def unusual(code: StudentCode, defines: Collection[str], others: Collection[str] = ()) -> tuple[str, ...]:
    """List what an answer refers to, directly or through the student's own helpers, that is not usual.

    Args:
        defines, others: the names that the exercise, and that other exercises ask for, as for `mentions`.

    Returns:
        Names of PyTorch, and "the library sklearn".
    """
    reach = Reach(code)
    found = (name for one in reach.statements(defines, others) for name in (*_names(reach, one), *_libraries(one.node)))
    return tuple(dict.fromkeys(found))


def _names(reach: Reach, statement: Statement) -> Iterator[str]:
    """Yield the unusual names of PyTorch that a statement refers to."""
    read = {reference.name for reference in statement.references if reference.owner != SELF}
    read |= {name for name in statement.reads | statement.reads_when_called if not reach.is_bound(name)}
    yield from sorted(read & _of_torch() - USUAL)


def _libraries(node: ast.AST) -> Iterator[str]:
    """Yield the unusual libraries that an import takes something from."""
    modules = [module for inner in ast.walk(node) for module in modules_of(inner)]
    for root in dict.fromkeys(module.partition(".")[0] for module in modules):
        if root not in USUAL_MODULES | sys.stdlib_module_names:
            yield f"the library {root}"


@cache
def _of_torch() -> frozenset[str]:
    """Return the public functions and classes of PyTorch's modules with operators, by name."""
    modules = (
        torch, F, nn, nn.utils, nn.attention, torch.special, torch.linalg, torch.fft, torch.distributions, torch.sparse,
        torch.nested, torch.ao.nn, torch.func, torch.autograd.functional,
    )  # fmt: skip
    return frozenset(
        name
        for module in modules
        for name in dir(module)
        if not name.startswith("_") and callable(getattr(module, name, None))
    )
