# %% [wrong] output_projection_missing | The heads are joined but not sent through W_O.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    if context is None:
        context = tokens
    H = layer.num_heads

    def split(x):
        return x.unflatten(-1, (H, -1)).transpose(-3, -2)

    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context)), attn_mask=mask
    )
    return out.transpose(-3, -2).flatten(-2)
# %% [wrong] always_causal | is_causal=True is set: every call is masked causally, although no one asked for it, and the given mask is not used.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    q, k, v = (
        proj(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for proj, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return layer.W_O(o.transpose(-3, -2).flatten(-2))
# %% [wrong] mask_inverted | The mask is inverted before it is passed on; but in F.scaled_dot_product_attention, too, True means "may attend".
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = torch.atleast_2d(~mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] mask_without_head_axis | A mask with a batch is passed as it is, without an axis for the heads: its batch axis falls on the heads.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    if context is None:
        context = tokens
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None:
        mask = torch.atleast_2d(mask)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] head_axis_at_one | The head axis is put into every mask at place 1, which is right only for one batch axis: a plain (T, S) mask becomes (T, 1, S).
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    m = mask.unsqueeze(1) if mask is not None else None
    joined = F.scaled_dot_product_attention(q, k, v, m).transpose(-3, -2).flatten(-2)
    return layer.W_O(joined)
# %% [wrong] context_ignored | The context is ignored: keys and values are always made from the tokens.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    H = layer.num_heads
    q, k, v = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    q, k, v = (x.reshape(*x.shape[:-1], H, x.shape[-1] // H).transpose(-3, -2) for x in (q, k, v))
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(-3, -2)
    return layer.W_O(out.reshape(*out.shape[:-2], -1))
# %% [wrong] split_without_transpose | The heads are split by one reshape to (..., H, T, d_head), without the transpose: positions and heads are mixed up.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads

    def to_heads(x):
        *lead, n, d = x.shape
        return x.reshape(*lead, H, n, d // H)

    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(
        to_heads(layer.W_Q(tokens)), to_heads(layer.W_K(context)), to_heads(layer.W_V(context)), attn_mask=mask
    )
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] joined_without_transpose | The heads are joined by a reshape without transposing back first: outputs of different positions and heads are mixed up.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(tokens.shape))
# %% [wrong] keys_and_values_swapped | W_K and W_V are swapped: the keys are made with W_V and the values with W_K.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    heads = lambda x: x.unflatten(-1, (H, -1)).transpose(-3, -2)
    q, v, k = heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context))
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] float_mask | The bool mask is converted to floats 0 and 1; a float mask is added to the scores, so it hides nothing.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = torch.atleast_2d(mask.to(q.dtype)).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] returns_a_pair | A pair (output, None) comes back, as from the layer; only the output is asked for.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), None
# %% [wrong] one_batch_axis_only | The shapes are unpacked as (B, T, d): tokens without a batch, or with two batch axes, raise.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    if context is None:
        context = tokens
    B, T, d_model = tokens.shape
    S = context.shape[1]
    H = layer.num_heads
    q = layer.W_Q(tokens).view(B, T, H, d_model // H).transpose(1, 2)
    k = layer.W_K(context).view(B, S, H, d_model // H).transpose(1, 2)
    v = layer.W_V(context).view(B, S, H, d_model // H).transpose(1, 2)
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(y.transpose(1, 2).reshape(B, T, d_model))
# %% [wrong] context_length_taken_as_T | Keys and values are reshaped with T, the number of tokens, and not with S, that of the context: it raises wherever the two differ.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    *lead, T, d_model = tokens.shape
    H = layer.num_heads
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    q, k, v = (x.reshape(*lead, T, H, d_model // H).transpose(-3, -2) for x in (q, k, v))
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).reshape(*lead, T, d_model))
# %% [wrong] just_calls_the_layer | The layer itself is called, and makes the weights; F.scaled_dot_product_attention is to be used and no weights are to be made.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    output, _ = layer(tokens, context, mask)
    return output
# %% [wrong] scaled_twice | The queries are divided by the root of d_head, and the fused function does it once more.
import math

def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    q = q / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] one_wide_head | The projections are not split into heads: one single head of width d_model attends.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    if mask is not None:
        mask = torch.atleast_2d(mask)
    out = F.scaled_dot_product_attention(
        layer.W_Q(tokens), layer.W_K(context), layer.W_V(context), attn_mask=mask
    )
    return layer.W_O(out)
# %% [wrong] context_or_tokens | `context or tokens` asks a tensor for its truth value, which raises for more than one number.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = context or tokens
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [wrong] weights_by_hand | The attention is written out with a softmax over an explicit T × S matrix; F.scaled_dot_product_attention is to be used, and no weights are to be made.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        allowed = torch.atleast_2d(mask).unsqueeze(-3)
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1) * allowed
    else:
        weights = scores.softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2))
# %% [wrong] heads_hard_coded | The number of heads is written as 4 and not taken from layer.num_heads.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    if context is None:
        context = tokens
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    q, k, v = (x.unflatten(-1, (4, x.shape[-1] // 4)).transpose(-3, -2) for x in (q, k, v))
    if mask is not None:
        mask = torch.atleast_2d(mask).unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
# %% [right] expanded_mask | Expands every mask to (..., 1, T, S) by broadcast_to, and zeroes queries that may look nowhere.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    lead, T, S = tokens.shape[:-2], tokens.shape[-2], context.shape[-2]

    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    nowhere = None
    if mask is not None:
        mask = mask.broadcast_to(*lead, T, S).unsqueeze(-3)
        nowhere = ~mask.any(-1, keepdim=True)
        mask = mask | nowhere
    output = F.scaled_dot_product_attention(
        heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context)), attn_mask=mask,
        dropout_p=layer.dropout if layer.training else 0.0,
    )
    if nowhere is not None:
        output = output.masked_fill(nowhere, 0.0)
    return layer.W_O(output.transpose(-3, -2).flatten(-2))
# %% [right] four_axes_and_back | Brings everything to exactly four axes (B, H, T, d_head) first, and restores the leading axes at the end.
def fused_forward(layer, tokens, context=None, mask=None):
    if context is None:
        context = tokens
    lead, (T, d_model) = tokens.shape[:-2], tokens.shape[-2:]
    S, H = context.shape[-2], layer.num_heads
    q = layer.W_Q(tokens).reshape(-1, T, H, d_model // H).permute(0, 2, 1, 3)
    k = layer.W_K(context).reshape(-1, S, H, d_model // H).permute(0, 2, 1, 3)
    v = layer.W_V(context).reshape(-1, S, H, d_model // H).permute(0, 2, 1, 3)
    p = layer.dropout if layer.training else 0.0
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
    else:
        allowed = mask.expand(*lead, T, S).reshape(-1, 1, T, S)
        some = allowed.any(dim=-1, keepdim=True)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed | ~some, dropout_p=p) * some
    return layer.W_O(out.permute(0, 2, 1, 3).reshape(*lead, T, d_model))
# %% [right] additive_mask | Turns the bool mask into a float one of 0 and −∞ (rows that may look nowhere are left open and zeroed afterwards), and projects with F.linear.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    """What a MultiHeadAttention puts out, through PyTorch's fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention
        mask: bool, broadcastable to (..., T, S)

    Returns:
        (..., T, d_model)
    """
    source = context if context is not None else tokens
    H = layer.num_heads
    q, k, v = [
        F.linear(x, proj.weight).unflatten(-1, (H, proj.weight.shape[0] // H)).movedim(-2, -3)
        for x, proj in ((tokens, layer.W_Q), (source, layer.W_K), (source, layer.W_V))
    ]
    bias, blind = None, None
    if mask is not None:
        mask = mask.expand(*tokens.shape[:-1], source.shape[-2])
        blind = ~mask.any(-1)                                                # (..., T)
        bias = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
        bias = bias.masked_fill(~mask & ~blind.unsqueeze(-1), -torch.inf).unsqueeze(-3)
    drop = layer.dropout if layer.training else 0.0
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=drop)
    result = F.linear(mixed.movedim(-3, -2).flatten(-2), layer.W_O.weight)
    return result if blind is None else result.masked_fill(blind.unsqueeze(-1), 0.0)
