"""The built-ins of torch that an exercise may ask students to write themselves.

Each is listed with the names by which code calls it, and with the operators that it calls at run time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class BuiltIn:
    """A library function that students should write themselves, for `Exercise.bans`.

    It lists the names by which source text can call the function, and the operators that the function calls.
    """

    names: frozenset[str]  # all names by which source text can call it
    # What it calls at run time: operators that torch dispatches ("aten::…"), and "call NAME" for functions in Python.
    operators: frozenset[str]


# A built-in that an exercise's `bans` may list → all names by which source text can call it.
BUILTINS: Mapping[str, frozenset[str]] = {
    "softmax": frozenset(
        """
        softmax log_softmax softmin logsumexp _softmax _log_softmax special_softmax _safe_softmax
        special_log_softmax special_logsumexp gumbel_softmax Softmax LogSoftmax Softmin Softmax2d
        AdaptiveLogSoftmaxWithLoss cross_entropy CrossEntropyLoss linear_cross_entropy LinearCrossEntropyLoss
        cross_entropy_loss logaddexp logaddexp2 logcumsumexp _logcumsumexp _masked_softmax _logsumexp
        _nested_tensor_softmax_with_shape _sparse_softmax _sparse_log_softmax _softmax_backward_data
        _log_softmax_backward_data SoftmaxTransform transform_to biject_to inplace_softmax gradient_proba
        HalfMultinomialLoss CyHalfMultinomialLoss
        """.split()
    ),
    "fused attention": frozenset(
        """
        scaled_dot_product_attention MultiheadAttention multi_head_attention_forward flex_attention
        _scaled_dot_product_attention_math _scaled_dot_product_flash_attention
        _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention
        _scaled_dot_product_cudnn_attention _scaled_dot_product_attention_math_for_mps
        _scaled_dot_product_fused_attention_overrideable _flash_attention_forward
        _flash_attention_forward_no_dropout_inplace _efficient_attention_forward _cudnn_attention_forward
        _native_multi_head_attention _triton_multi_head_attention _triton_scaled_dot_attention
        _transformer_encoder_layer_fwd TransformerEncoderLayer TransformerDecoderLayer Transformer
        TransformerEncoder TransformerDecoder
        """.split()
    ),
}

# What the same built-ins call at run time: operators that torch dispatches ("aten::…") and torch's Python
# functions.
ATTENTION_OPERATORS = tuple(
    """
        aten::scaled_dot_product_attention aten::_safe_softmax aten::_scaled_dot_product_attention_math
        aten::_scaled_dot_product_attention_math_for_mps aten::_scaled_dot_product_flash_attention
        aten::_scaled_dot_product_flash_attention_for_cpu
        aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention
        aten::_scaled_dot_product_fused_attention_overrideable aten::_fused_sdp_choice
        aten::_flash_attention_forward aten::_flash_attention_forward_no_dropout_inplace
        aten::_efficient_attention_forward aten::_cudnn_attention_forward
        aten::_triton_scaled_dot_attention flex_attention
    """.split()
)
HEAD_OPERATORS = tuple(
    """
        aten::_native_multi_head_attention aten::_triton_multi_head_attention
        aten::_transformer_encoder_layer_fwd multi_head_attention_forward MultiheadAttention.forward
        TransformerEncoderLayer.forward TransformerDecoderLayer.forward
    """.split()
)
SOFTMAX_OPERATORS = tuple(
    """
        aten::softmax aten::log_softmax aten::special_softmax aten::special_log_softmax aten::cross_entropy_loss
        aten::_ctc_loss aten::_softmax aten::_log_softmax aten::logsumexp aten::special_logsumexp aten::logaddexp
        aten::logaddexp2 aten::logcumsumexp aten::_logcumsumexp aten::_sparse_softmax
        aten::_sparse_log_softmax aten::_masked_softmax aten::_nested_tensor_softmax_with_shape
        aten::_softmax_backward_data aten::_log_softmax_backward_data quantized::softmax
    """.split()
)
# Functions in Python, of torch, scipy or scikit-learn, and of numpy, by which a softmax can be had without these
# operators.
SOFTMAX_FUNCTIONS = tuple(
    f"call {name}"
    for name in (
        "SoftmaxTransform softmax log_softmax logsumexp _softmax _log_softmax _logsumexp logaddexp logaddexp2 "
        "inplace_softmax gradient_proba"
    ).split()
)

# In inference mode torch dispatches some built-ins whole, and what they call is not seen: "aten::softmax".
# Where only its math kernel is allowed, scaled_dot_product_attention calls _safe_softmax; nothing else in
# torch does. So _safe_softmax is listed among the operators of attention.
OPERATORS: Mapping[str, frozenset[str]] = {
    "softmax": frozenset({*SOFTMAX_OPERATORS, *SOFTMAX_FUNCTIONS, *ATTENTION_OPERATORS, *HEAD_OPERATORS}),
    "fused attention": frozenset({*ATTENTION_OPERATORS, *HEAD_OPERATORS}),
}


def banned_names(bans: Iterable[str | BuiltIn]) -> frozenset[str]:
    """Return all names that an exercise's bans forbid in the text of an answer.

    Args:
        bans: keys of BUILTINS, or `BuiltIn` records.
    """
    return frozenset().union(*(ban.names if isinstance(ban, BuiltIn) else BUILTINS[ban] for ban in bans))


def operators(bans: Iterable[str | BuiltIn]) -> tuple[str, ...]:
    """Return the sorted names of the calls that an exercise's bans forbid at run time.

    A name is an operator of torch ("aten::…") or "call NAME" for a function in Python.
    """
    banned = (ban.operators if isinstance(ban, BuiltIn) else OPERATORS[ban] for ban in bans)
    return tuple(sorted(frozenset().union(*banned)))
