# %% [wrong] scaled_by_d_model | the scores are divided by sqrt(d_model), not by the root of a head's width: with more than one head they are too small by sqrt(H), and the weights too even
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (
        f(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for f in (layer.W_Q, layer.W_K, layer.W_V)
    )
    scores = q @ k.transpose(-2, -1) / tokens.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    output = (weights @ v).transpose(-3, -2).flatten(-2)
    return layer.W_O(output), weights


# %% [wrong] biases_dropped | multiplies with one stacked weight matrix and forgets that these projections have biases: right only where the biases of W_Q, W_K and W_V are zero
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    stacked = torch.cat([layer.W_Q.weight, layer.W_K.weight, layer.W_V.weight])
    qkv = (tokens @ stacked.T).unflatten(-1, (3, layer.num_heads, -1))  # (..., T, 3, H, d_head)
    query, key, value = (x.transpose(-3, -2) for x in qkv.unbind(-3))
    seen, weights = masked_attention(query, key, value)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), weights


# %% [wrong] norm_inside | normalises the tokens with norm_1 before projecting; that is the block's work, so in a block it would be done twice, and alone the output belongs to other tokens
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    H = layer.num_heads

    def heads(y):
        return y.view(*y.shape[:-1], H, y.shape[-1] // H).movedim(-2, -3)

    out, weights = masked_attention(heads(layer.W_Q(x)), heads(layer.W_K(x)), heads(layer.W_V(x)))
    out = out.movedim(-3, -2).flatten(-2)
    return layer.W_O(out), weights


# %% [wrong] heads_interleaved | splits the last axis as (d_head, H): head h takes every H-th dimension instead of a block of neighbours, so weights and output are those of other heads
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (-1, H))  # (..., T, d_head, H)
    k = layer.W_K(tokens).unflatten(-1, (-1, H))
    v = layer.W_V(tokens).unflatten(-1, (-1, H))
    scores = torch.einsum("...tdh,...sdh->...hts", q, k) * q.shape[-2] ** -0.5
    weights = torch.softmax(scores, dim=-1)
    seen = torch.einsum("...hts,...sdh->...tdh", weights, v).flatten(-2)
    return layer.W_O(seen), weights


# %% [wrong] softmax_over_queries | the softmax runs over axis -2, the queries: each column sums to 1 instead of each row, so tokens take too much or too little in all
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    d_head = tokens.shape[-1] // layer.num_heads
    Q, K, V = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    outputs, maps = [], []
    for h in range(layer.num_heads):
        part = slice(h * d_head, (h + 1) * d_head)
        s = Q[..., part] @ K[..., part].transpose(-1, -2) / d_head**0.5
        a = F.softmax(s, dim=-2)
        maps.append(a)
        outputs.append(a @ V[..., part])
    return layer.W_O(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=-3)


# %% [right] sum_over_heads | a loop over the heads that adds each head's share through its columns of W_O, instead of joining the heads
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    queries, keys, values = (f(tokens).chunk(H, dim=-1) for f in (layer.W_Q, layer.W_K, layer.W_V))
    columns = layer.W_O.weight.chunk(H, dim=1)
    output, maps = layer.W_O.bias, []
    for q, k, v, back in zip(queries, keys, values, columns, strict=True):
        scores = torch.einsum("...td,...sd->...ts", q * q.shape[-1] ** -0.5, k)
        maps.append((scores - scores.logsumexp(-1, keepdim=True)).exp())
        output = output + F.linear(maps[-1] @ v, back)
    return output, torch.stack(maps, dim=-3)
