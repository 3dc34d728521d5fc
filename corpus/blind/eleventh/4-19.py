# %% [wrong] norms_the_tokens_first | The tokens go through layer.norm_1 before the projections. The norm is the block's, so here it should not stand; in the block the tokens would be normed twice.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    q, k, v = (W(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
    output, weights = masked_attention(q, k, v)
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] scaled_by_the_whole_width | The scores are divided by the root of d_model. Each head compares vectors of d_model / H numbers, and the root of that is meant; with several heads all maps are too even.
def vit_attention(layer, tokens):
    d_model = tokens.shape[-1]
    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    weights = torch.softmax(q @ k.transpose(-2, -1) / d_model**0.5, dim=-1)
    out = (weights @ v).transpose(-3, -2).flatten(-2)
    return layer.W_O(out), weights

# %% [wrong] splits_by_reshape_alone | (..., T, d_model) is reshaped straight to (..., H, T, d_head), without the tokens' axis and the heads' axis being swapped. So a head gets numbers of different tokens in a row, instead of its share of each token.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    *lead, T, d_model = tokens.shape
    H = layer.num_heads
    query = layer.W_Q(tokens).reshape(*lead, H, T, d_model // H)
    key = layer.W_K(tokens).reshape(*lead, H, T, d_model // H)
    value = layer.W_V(tokens).reshape(*lead, H, T, d_model // H)
    out, weights = masked_attention(query, key, value)
    return layer.W_O(out.reshape(*lead, T, d_model)), weights

# %% [wrong] every_hth_number_is_a_head | The width is split as (d_head, H) and not as (H, d_head): head h gets the numbers h, h + H, h + 2H, … in place of a stretch of neighbours. The weights of the layer are for the other order, so maps and output differ.
def vit_attention(layer, tokens):
    """Self-attention with the weights and biases of a layer."""
    H = layer.num_heads
    split = lambda x: x.unflatten(-1, (-1, H)).movedim(-1, -3)      # (..., H, T, d_head)
    q, k, v = map(split, (layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)))
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    seen = torch.einsum("...qk,...kd->...qd", weights, v)
    return layer.W_O(seen.movedim(-3, -1).flatten(-2)), weights

# %% [wrong] biases_forgotten | The matrices are multiplied by hand, tokens @ W.weight.T, and the biases of the four projections are left out. The layers of this model have biases, so weights and output differ from those of the layer.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    h = layer.num_heads
    q = (tokens @ layer.W_Q.weight.T).unflatten(-1, (h, -1)).transpose(-3, -2)
    k = (tokens @ layer.W_K.weight.T).unflatten(-1, (h, -1)).transpose(-3, -2)
    v = (tokens @ layer.W_V.weight.T).unflatten(-1, (h, -1)).transpose(-3, -2)
    a = (q @ k.mT * q.shape[-1] ** -0.5).softmax(dim=-1)
    o = (a @ v).transpose(-3, -2).flatten(-2)
    return o @ layer.W_O.weight.T, a

# %% [right] head_by_head | A loop over the heads that slices rows of the matrices and of the biases, and adds up what each head contributes through its columns of W_O.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    width = tokens.shape[-1] // layer.num_heads
    output, maps = layer.W_O.bias, []
    for start in range(0, tokens.shape[-1], width):
        mine = slice(start, start + width)
        query, key, value = (F.linear(tokens, W.weight[mine], W.bias[mine]) for W in (layer.W_Q, layer.W_K, layer.W_V))
        scores = torch.matmul(query / width**0.5, key.mT)
        one = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
        output = output + F.linear(one @ value, layer.W_O.weight[:, mine])
        maps.append(one)
    return output, torch.stack(maps, dim=-3)
