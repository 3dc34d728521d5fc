# %% [wrong] biases_left_behind | The tokens are multiplied with the weight matrices alone. The projections of this layer have biases, which layer.W_Q(tokens) adds by itself. Output and weights are off wherever a bias is not zero.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def project(linear):
        return (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    q, k, v = project(layer.W_Q), project(layer.W_K), project(layer.W_V)
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights

# %% [wrong] norms_by_itself | The tokens go through layer.norm_1 first. Norm, scale and residual are the block's. The block normalises a second time, and alone the function answers for other tokens.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    heads = [
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    seen, weights = masked_attention(*heads)
    return layer.W_O(seen.movedim(-3, -2).flatten(-2)), weights

# %% [wrong] keys_made_by_the_query_matrix | Keys are made with W_Q, a slip of copy and paste. They should be made with W_K. Each token is compared with queries, and W_K plays no part.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    scores = torch.einsum("...hqd,...hkd->...hqk", query, key) / query.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=-1)
    output = torch.einsum("...hqk,...hkd->...qhd", weights, value).flatten(-2)
    return layer.W_O(output), weights

# %% [wrong] heads_dealt_out_like_cards | The width is split into (d_head, H), so that every H-th number belongs to a head. A head is a block of neighbouring numbers, (H, d_head). The shapes are right, and the heads are others than those that were trained.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def split(x):
        return x.unflatten(-1, (-1, layer.num_heads)).movedim(-1, -3)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    output, weights = masked_attention(query, key, value)
    return layer.W_O(output.movedim(-3, -1).flatten(-2)), weights

# %% [wrong] wants_three_axes | The shape is unpacked as (B, T, d). Tokens are (..., T, d_model), so a single picture without a batch must work. It ends in 'not enough values to unpack'.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    B, T, d = tokens.shape
    H = layer.num_heads
    q = layer.W_Q(tokens).view(B, T, H, d // H).permute(0, 2, 1, 3)
    k = layer.W_K(tokens).view(B, T, H, d // H).permute(0, 2, 3, 1)
    v = layer.W_V(tokens).view(B, T, H, d // H).permute(0, 2, 1, 3)
    attn = torch.softmax(torch.matmul(q, k) * (d // H) ** -0.5, dim=-1)
    y = torch.matmul(attn, v).permute(0, 2, 1, 3).contiguous().view(B, T, d)
    return layer.W_O(y), attn

# %% [wrong] softmax_over_those_who_ask | The softmax is taken over the axis of the queries. The weights of each query should sum to 1, so it is the last axis. Columns sum to 1 and rows do not.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    split = lambda x: torch.stack(x.chunk(layer.num_heads, dim=-1), dim=-3)
    query, key, value = (split(p(tokens)) for p in (layer.W_Q, layer.W_K, layer.W_V))
    scores = query @ key.transpose(-1, -2)
    scores = scores / scores.new_tensor(query.shape[-1]).sqrt()
    weights = scores.softmax(dim=-2)
    seen = weights @ value
    return layer.W_O(torch.cat(seen.unbind(-3), dim=-1)), weights

# %% [right] head_after_head_summed | One head at a time with slices of the projections, each sent through its slice of W_O and summed; the bias of W_O is added once.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    queries, keys, values = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    size = tokens.shape[-1] // layer.num_heads
    output, maps = torch.zeros_like(tokens) + layer.W_O.bias, []
    for start in range(0, tokens.shape[-1], size):
        q, k, v = (whole.narrow(-1, start, size) for whole in (queries, keys, values))
        scores = torch.einsum("...td,...sd->...ts", q, k) * size**-0.5
        maps.append((scores - scores.logsumexp(-1, keepdim=True)).exp())
        output = output + F.linear(maps[-1] @ v, layer.W_O.weight[:, start : start + size])
    return output, torch.stack(maps, dim=-3)
