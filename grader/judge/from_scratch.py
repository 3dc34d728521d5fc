"""Find PyTorch's built-in functions in answers to exercises that ask the student to write these functions.

There are three searches:
- `used_builtins` reads the source, in the code that the exercise's names reach. It finds a function, a method, a
  module, an import under another name, and a string that is passed to getattr.
- `ran_builtins` reads the report of the sandbox's tripwire (grader/sandbox/guest/tripwire.py). The report lists the
  built-ins that ran while the exercise was probed, whatever name the code called them by.
- `unusual` finds names that no answer to the exercise needs, so that a person looks at them.

Comments and other strings may mention a built-in, and so may tests and other exercises.

`unusual` is necessary because a list of banned names cannot be complete: another loss or another library may contain
the same computation. An exercise that bans a built-in asks for a few steps of arithmetic. The usual names are those of
arithmetic, reductions, products, indexing and shapes, and of layers with weights. All other names of PyTorch are
unusual, and so is every library except Python's own, NumPy, PyTorch and a few for plots, progress bars and types. An
unusual name costs no points: there may be a good reason for it.
"""

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

import torch
from torch import nn
from torch.nn import functional as F

from grader.declare.builtin_names import ATTENTION_OPERATORS, HEAD_OPERATORS, BuiltIn, banned_names, operators
from grader.declare.exercise import Exercise
from grader.judge.reach import HIDDEN, Reach, StudentCode, mentions, reached
from grader.paths import OUR_PACKAGES
from grader.submission.code.scopes import SELF, Statement
from grader.submission.code.source import cached_by_source, parsed
from grader.submission.code.traits import without_docs

# The tripwire reports this as an operator if student code has switched the tripwire off.
SWITCHED_OFF = "switched off"


def ran_builtins(
    exercise: Exercise,
    builtin_calls: Iterable[tuple[str, str]],
    flagged: Mapping[str, Collection[str | BuiltIn]],
    may_call: Mapping[str, str] = {},
) -> tuple[str, ...]:
    """List the banned built-ins that ran while an exercise was probed, by the names that students know.

    Args:
        builtin_calls: the tripwire's report, `Evidence.trips`, as pairs (operator, caller). The caller is the
            provided cell or the other exercise whose code called the operator, or "" for the exercise's own code.
            The report comes from the sandbox and cannot be trusted, but a student gains nothing by forging it.
        flagged: id of an exercise that already failed for a built-in → the bans of this exercise. An operator that
            such an exercise calls is ignored here if it is banned there.
        may_call: id → source of each provided cell that the answer may call. Built-ins that this source names are
            ignored if the cell calls them.
    """
    banned = {*operators(exercise.bans), SWITCHED_OFF} if exercise.bans else set()
    ran = [
        operator
        for operator, where in builtin_calls
        if operator in banned
        and not _counts_there(operator, flagged.get(where, ()))
        and not _may_call_operator(exercise, may_call.get(where, ""), operator)
    ]
    return tuple(dict.fromkeys(_student_name(operator) for operator in ran))


def _counts_there(operator: str, bans: Collection[str | BuiltIn]) -> bool:
    """Return True if another exercise's bans forbid an operator.

    Then the operator was already penalised there. The ban on softmax also lists
    the operators of attention, but does not forbid them.
    """
    attention = operator in (*ATTENTION_OPERATORS, *HEAD_OPERATORS)
    return operator in operators(bans) and (not attention or "fused attention" in bans)


def _may_call_operator(exercise: Exercise, source: str, operator: str) -> bool:
    """Return True if the source of a provided cell names a function that calls an operator.

    For an operator of attention, such a name is nn.MultiheadAttention or multi_head_attention.
    """
    own = [ban for ban in exercise.bans if isinstance(ban, BuiltIn) and operator in ban.operators]
    if own:
        return any(name in source for ban in own for name in ban.names)
    name, text = (each.lower().replace("_", "") for each in (_student_name(operator), source))
    return name.removeprefix("nn.") in text


def _student_name(operator: str) -> str:
    """Return the name that students know for an operator of torch, without `torch.`.

    Related operators share one name: those of attention do, and those of each type of layer with attention heads.
    """
    if operator == SWITCHED_OFF:
        return HIDDEN
    if operator in ATTENTION_OPERATORS:
        return "flex_attention" if operator == "flex_attention" else "scaled_dot_product_attention"
    if operator in HEAD_OPERATORS:
        return "nn.Transformer" if "ransformer" in operator else "nn.MultiheadAttention"
    name = operator.removeprefix("call ").rpartition("::")[2]
    return name.removeprefix("_masked_").removeprefix("special_").lstrip("_").removesuffix("_backward_data")


def used_builtins(exercise: Exercise, code: StudentCode, others: Collection[str] = ()) -> tuple[str, ...]:
    """List the banned built-ins that an answer refers to, directly or through the student's own helpers.

    Args:
        others: the names that other exercises ask for. Code that defines these names is not searched.
    """
    return mentions(code, exercise.defines, banned_names(exercise.bans), others) if exercise.bans else ()


def imported_by_answer(exercise: Exercise, code: StudentCode, others: Collection[str] = ()) -> tuple[str, ...]:
    """List the modules of `grader` and `attention` that an answer, or a helper that it uses, imports.

    The solutions are in `attention`. The sandbox already hides both packages
    from submissions in every tier; this check is a second protection.
    """
    if not any("import" in source for source in (code.answer, *code.before, *code.after)):
        return ()
    return _imported_course(reached(code, exercise.defines, others))


def imported_by_cell(source: str) -> tuple[str, ...]:
    """List the modules of `grader` and `attention` (the solutions) that a cell imports anywhere."""
    return _imported_course(parsed(source).statements or ()) if "import" in source else ()


def _imported_course(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    names = [name for top in nodes for node in ast.walk(top) for name in modules_of(node)]
    return tuple(dict.fromkeys(name for name in names if name.partition(".")[0] in OUR_PACKAGES))


def modules_of(node: ast.AST) -> list[str]:
    """Return the names of the modules that a node imports.

    The node may be an import statement or a call such as `import_module("torch")`.
    """
    match node:
        case ast.Import(names=aliases):
            return [alias.name for alias in aliases]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Call(
            func=ast.Name(id=function) | ast.Attribute(attr=function), args=[ast.Constant(value=str(module)), *_]
        ) if function in ("import_module", "__import__", "resolve_name"):
            return [module.partition(":")[0]]
    return []


def same_definitions(answer: str, given: str, names: Sequence[str]) -> bool:
    """Return True if an answer and provided code define the same of these names in the same way.

    Docstrings and annotations are ignored.

    Returns:
        False if the answer defines none of the names.
    """
    in_answer, in_given = (
        {name: dump for name, dump in _definition_dumps(source).items() if name in names} for source in (answer, given)
    )
    return bool(in_answer) and in_answer == in_given


@cached_by_source
def _definition_dumps(source: str) -> Mapping[str, str]:
    """Map the name of each function and class at the top level to a dump of its syntax tree without docstrings."""
    dumps = {}
    for node in parsed(source).statements or ():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            # Too deep a tree, as of a sum of a thousand terms, or a number of 5,000 digits is left out: no given cell
            # has one.
            with suppress(RecursionError, ValueError):
                dumps[node.name] = ast.dump(without_docs(node))
    return dumps


USUAL_MODULES = frozenset(
    {"torch", "numpy", "matplotlib", "IPython", "tqdm", "einops", "typing_extensions", "jaxtyping"}
)
# Where the same word is a name of PyTorch and one that everybody gives to a variable or a method, the word is usual.
USUAL = frozenset(
    """
    Tensor BoolTensor FloatTensor IntTensor LongTensor Generator Size device dtype finfo iinfo is_tensor
    is_floating_point
    is_complex is_grad_enabled get_default_dtype set_default_dtype manual_seed no_grad enable_grad inference_mode
    set_grad_enabled set_printoptions set_num_threads get_num_threads seed initial_seed compile typename
    autograd grad Function functional torch math nn F np init utils Optional Any Callable inf nan pi e newaxis
    warn
    bool uint8 int8 int16 short int32 int int64 long float16 half bfloat16 float32 float float64 double
    complex64 complex128 cfloat
    tensor as_tensor asarray from_numpy scalar_tensor empty empty_like zeros zeros_like ones ones_like full
    full_like eye
    arange range linspace meshgrid rand rand_like randn randn_like randint randperm normal bernoulli multinomial
    clone detach
    abs absolute neg negative positive sign sgn add sub subtract mul multiply div divide true_divide
    floor_divide remainder fmod
    addcmul addcdiv pow square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sinh
    cosh atan2
    sigmoid floor ceil round trunc frac clamp clamp_min clamp_max clip lerp maximum minimum fmax fmin hypot nan_to_num
    exp_ sqrt_ mul_ add_ div_ sub_ neg_ clamp_ clamp_min_ clamp_max_ clip_ square_ reciprocal_ rsqrt_ log_ abs_
    fill fill_ zero_
    detach_ relu relu_ gelu silu elu selu celu softplus leaky_relu hardtanh threshold
    eq ne lt le gt ge less greater less_equal greater_equal not_equal equal isclose allclose isfinite isinf
    isnan isneginf isposinf
    logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not where masked_select
    sum nansum mean nanmean prod max amax min amin aminmax argmax argmin all any std var std_mean var_mean norm
    cumsum cumprod
    cummax count_nonzero nonzero sort argsort topk kthvalue median unique bincount histc diff dist vector_norm
    normalize
    matmul mm bmm mv dot vdot inner outer einsum baddbmm addmm addbmm tensordot kron matrix_power chain_matmul
    multi_dot
    argwhere isin mode gradient real cosine_similarity scatter_reduce frombuffer
    cat concat concatenate stack hstack vstack dstack column_stack chunk split tensor_split hsplit vsplit unbind
    unsqueeze squeeze
    reshape view flatten ravel unflatten permute transpose swapaxes swapdims movedim moveaxis t adjoint flip
    fliplr flipud roll
    rot90 expand expand_as broadcast_to broadcast_tensors broadcast_shapes repeat repeat_interleave tile narrow
    select slice_scatter
    take take_along_dim gather scatter scatter_add index_select index_add index_put index_fill masked_fill
    masked_scatter
    tril triu tril_indices triu_indices diag diagonal diag_embed diagflat trace block_diag atleast_1d atleast_2d
    atleast_3d
    pad unfold fold one_hot embedding linear bilinear dropout layer_norm identity numel vmap result_type promote_types
    Module Parameter UninitializedParameter Buffer Linear LazyLinear Bilinear Identity Dropout LayerNorm RMSNorm
    Embedding
    Sequential ModuleList ModuleDict ParameterList ParameterDict ReLU GELU SiLU Tanh Sigmoid Flatten Unflatten
    xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ normal_ uniform_ constant_ zeros_ ones_
    trunc_normal_ eye_
    orthogonal_ calculate_gain parameter
    softmax log_softmax logsumexp logaddexp logaddexp2 Softmax LogSoftmax scaled_dot_product_attention attention
    """.split()  # the last line has names that are banned where they may not be called
)


def unusual(code: StudentCode, defines: Collection[str], others: Collection[str] = ()) -> tuple[str, ...]:
    """List the unusual names that an answer refers to, directly or through the student's own helpers.

    Args:
        defines: the names that the exercise asks for.
        others: the names that other exercises ask for. Code that defines these names is not searched.

    Returns:
        Names of PyTorch functions and classes, and texts such as "the library sklearn".
    """
    reach = Reach(code)
    found = (name for one in reach.statements(defines, others) for name in (*_named(reach, one), *_libraries(one.node)))
    return tuple(dict.fromkeys(found))


def _named(reach: Reach, statement: Statement) -> Iterator[str]:
    """Yield the unusual names of PyTorch that a statement refers to."""
    read = {reference.name for reference in statement.references if reference.owner != SELF}
    read |= {name for name in statement.reads | statement.reads_when_called if not reach.is_bound(name)}
    yield from sorted(read & _of_torch() - USUAL)


def _libraries(node: ast.AST) -> Iterator[str]:
    """Yield a text such as "the library sklearn" for each unusual library that a node imports."""
    modules = [module for inner in ast.walk(node) for module in modules_of(inner)]
    for root in dict.fromkeys(module.partition(".")[0] for module in modules):
        if root not in USUAL_MODULES | sys.stdlib_module_names:
            yield f"the library {root}"


@cache
def _of_torch() -> frozenset[str]:
    """Return the names of the public functions and classes in PyTorch's modules that contain operators."""
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
