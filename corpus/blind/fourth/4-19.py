# %% [wrong] weights_without_biases | Multiplies with the matrices alone: the biases of the four layers are left out.
def vit_attention(layer, tokens):
    H = layer.num_heads
    split = lambda x: x.unflatten(-1, (H, -1)).transpose(-3, -2)
    q = split(tokens @ layer.W_Q.weight.T)
    k = split(tokens @ layer.W_K.weight.T)
    v = split(tokens @ layer.W_V.weight.T)
    output, weights = masked_attention(q, k, v)
    return output.transpose(-3, -2).flatten(-2) @ layer.W_O.weight.T, weights


# %% [wrong] root_of_the_whole_width | Divides by √d_model in place of √d_head.
def vit_attention(layer, tokens):
    d_model = tokens.shape[-1]
    q, k, v = (
        proj(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for proj in (layer.W_Q, layer.W_K, layer.W_V)
    )
    weights = (q @ k.transpose(-2, -1) / d_model ** 0.5).softmax(-1)
    heads = weights @ v
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), weights


# %% [wrong] norm_inside | Normalises the tokens first; norm, scale and residual belong to the block.
def vit_attention(layer, tokens):
    x = layer.norm_1(tokens)
    q = layer.W_Q(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    k = layer.W_K(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    v = layer.W_V(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    out, w = masked_attention(q, k, v)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), w


# %% [wrong] mean_of_the_maps | Returns the mean map of the heads, as `nn.MultiheadAttention` does by default; asked for are the weights of every head.
def vit_attention(layer, tokens):
    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    seen, weights = masked_attention(heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens)))
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), weights.mean(dim=-3)


# %% [wrong] joined_without_swap | The heads are joined without swapping them with the tokens first.
def vit_attention(layer, tokens):
    *lead, T, d = tokens.shape
    q, k, v = (
        W(tokens).reshape(*lead, T, layer.num_heads, -1).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    out, weights = masked_attention(q, k, v)
    return layer.W_O(out.reshape(*lead, T, d)), weights


# %% [wrong] causal_by_habit | A causal mask is laid over the tokens, as in the text model; here nothing is masked.
def vit_attention(layer, tokens):
    T = tokens.shape[-2]
    Q, K, V = (
        f(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for f in (layer.W_Q, layer.W_K, layer.W_V)
    )
    out, weights = masked_attention(Q, K, V, causal_mask(T, tokens.device))
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), weights


# %% [right] einsum_over_heads | Gives the heads an axis of their own at the end and lets einsum do every swap.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (
        F.linear(tokens, linear.weight, linear.bias).unflatten(-1, (layer.num_heads, -1))
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    weights = torch.einsum("...thd,...shd->...hts", q * q.shape[-1] ** -0.5, k).softmax(dim=-1)
    brought = torch.einsum("...hts,...shd->...thd", weights, v).flatten(-2)
    return layer.W_O(brought), weights
