# %% [wrong] biases_lost | the projections are written with the weights alone (tokens @ W.T), so the biases of the layer are left out
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    q, k, v = (
        (tokens @ linear.weight.T).unflatten(-1, (H, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
    out = (weights @ v).transpose(-3, -2).flatten(-2)
    return layer.W_O(out), weights

# %% [wrong] root_of_d_model | the scores are divided by the root of d_model and not by that of the width of a head
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    scores = q @ k.transpose(-2, -1) / tokens.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights

# %% [wrong] causal_eyes | a causal mask is laid over the patches, as over the words of lesson 3; nothing is masked here
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (
        w(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)
    )
    out, weights = masked_attention(q, k, v, causal_mask(tokens.shape[-2], tokens.device))
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] normed_inside | the tokens go through layer.norm_1 first; norm, scale and residual are the block's, which would then normalise twice
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    q, k, v = [w(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)]
    out, weights = masked_attention(q, k, v)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] heads_of_stride | the heads are cut as (d_head, H) with unflatten(-1, (-1, num_heads)), so head h gets every H-th number in place of a block
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(x):
        return x.unflatten(-1, (-1, layer.num_heads)).movedim(-1, -3)

    out, weights = masked_attention(heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens)))
    return layer.W_O(out.movedim(-3, -1).flatten(-2)), weights

# %% [wrong] w_o_on_the_values | W_O is applied to the values before the heads are split, and not to what the joined heads bring: a head's output is then never mixed with the others', and the weights of the heads meet the wrong numbers
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    cut = (layer.num_heads, -1)
    q = layer.W_Q(tokens).unflatten(-1, cut).transpose(-3, -2)
    k = layer.W_K(tokens).unflatten(-1, cut).transpose(-3, -2)
    v = layer.W_O(layer.W_V(tokens)).unflatten(-1, cut).transpose(-3, -2)
    out, weights = masked_attention(q, k, v)
    return out.transpose(-3, -2).flatten(-2), weights

# %% [right] einsum_with_head_axis | the heads stay behind the tokens, and three einsums name every axis
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    scores = torch.einsum("...qhd,...khd->...hqk", query, key) * query.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    brought = torch.einsum("...hqk,...khd->...qhd", weights, value)
    return layer.W_O(brought.flatten(-2)), weights
