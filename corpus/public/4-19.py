# %% [right] reshape_permute_qkv | reshape(B, N, H, d).permute, attn = q @ k.transpose, softmax, after rwightman/pytorch-image-models (Attention)
def vit_attention(layer, tokens):
    *lead, N, C = tokens.shape
    heads = [
        proj(tokens).reshape(*lead, N, layer.num_heads, C // layer.num_heads).transpose(-3, -2)
        for proj in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    q, k, v = heads
    q = q * (C // layer.num_heads) ** -0.5
    attn = q @ k.transpose(-2, -1)
    attn = attn.softmax(dim=-1)
    x = (attn @ v).transpose(-3, -2).reshape(*lead, N, C)
    return layer.W_O(x), attn


# %% [right] joined_weights_and_biases | one F.linear with joined weights and biases, unbind, after facebookresearch/dinov2 (qkv)
def vit_attention(layer, tokens):
    parts = (layer.W_Q, layer.W_K, layer.W_V)
    weight = torch.cat([p.weight for p in parts])
    bias = torch.cat([p.bias for p in parts])
    qkv = F.linear(tokens, weight, bias).unflatten(-1, (3, layer.num_heads, -1))  # (..., T, 3, H, d)
    q, k, v = (t.transpose(-3, -2) for t in qkv.unbind(-3))
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


# %% [right] provided_masked_attention | the notebook's masked_attention between split and merge, after lesson style compositions (facebookresearch/dino get_last_selfattention)
def vit_attention(layer, tokens):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)  # noqa: E731
    seen, attn = masked_attention(split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens)))
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), attn


# %% [right] einsum_with_float_softmax | einsum over named axes, softmax in float32 cast back, after ise-uiuc/WhiteFox (sdpa patterns with a float32 softmax) (unsure: precision of float64 input)
def vit_attention(layer, tokens):
    h = layer.num_heads
    query, key, value = (m(tokens).view(*tokens.shape[:-1], h, -1) for m in (layer.W_Q, layer.W_K, layer.W_V))
    scaling = query.shape[-1] ** -0.5
    attn_weights = torch.einsum("...qhd,...khd->...hqk", query, key) * scaling
    attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
    context = torch.einsum("...hqk,...khd->...qhd", attn_weights, value)
    return layer.W_O(context.reshape(tokens.shape)), attn_weights


# %% [right] multi_head_attention_forward | F.multi_head_attention_forward with separate weights, sequence axis first, after openai/CLIP (AttentionPool2d) (unsure: whether a ready-made attention is welcome)
def vit_attention(layer, tokens):
    lead, (T, C) = tokens.shape[:-2], tokens.shape[-2:]
    x = tokens.reshape(-1, T, C).permute(1, 0, 2)
    out, attn = F.multi_head_attention_forward(
        query=x,
        key=x,
        value=x,
        embed_dim_to_check=C,
        num_heads=layer.num_heads,
        in_proj_weight=None,
        in_proj_bias=torch.cat([layer.W_Q.bias, layer.W_K.bias, layer.W_V.bias]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=layer.W_O.weight,
        out_proj_bias=layer.W_O.bias,
        training=False,
        need_weights=True,
        use_separate_proj_weight=True,
        q_proj_weight=layer.W_Q.weight,
        k_proj_weight=layer.W_K.weight,
        v_proj_weight=layer.W_V.weight,
        average_attn_weights=False,
    )
    return out.permute(1, 0, 2).reshape(*lead, T, C), attn.reshape(*lead, layer.num_heads, T, T)


# %% [right] heads_in_a_loop_with_weight_slices | each head with its rows of the weights and biases, outputs concatenated, after teaching code (one head at a time)
def vit_attention(layer, tokens):
    H = layer.num_heads
    outs, maps = [], []
    slices = zip(
        layer.W_Q.weight.chunk(H), layer.W_Q.bias.chunk(H),
        layer.W_K.weight.chunk(H), layer.W_K.bias.chunk(H),
        layer.W_V.weight.chunk(H), layer.W_V.bias.chunk(H),
    )
    for wq, bq, wk, bk, wv, bv in slices:
        q, k, v = F.linear(tokens, wq, bq), F.linear(tokens, wk, bk), F.linear(tokens, wv, bv)
        a = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        maps.append(a)
        outs.append(a @ v)
    return layer.W_O(torch.cat(outs, dim=-1)), torch.stack(maps, dim=-3)


# %% [right] folded_batch_and_bmm | batch and heads folded, torch.baddbmm for the scores, after facebookresearch/segment-anything (flattened heads)
def vit_attention(layer, tokens):
    *lead, T, C = tokens.shape
    H, d = layer.num_heads, C // layer.num_heads
    x = tokens.reshape(-1, T, C)

    def fold(t):
        return t.view(-1, T, H, d).permute(0, 2, 1, 3).reshape(-1, T, d)

    q, k, v = fold(layer.W_Q(x)), fold(layer.W_K(x)), fold(layer.W_V(x))
    scores = torch.baddbmm(q.new_zeros(()).expand(q.shape[0], T, T), q, k.transpose(1, 2), beta=0, alpha=d**-0.5)
    attn = scores.softmax(dim=-1)
    out = torch.bmm(attn, v).view(-1, H, T, d).transpose(1, 2).reshape(*lead, T, C)
    return layer.W_O(out), attn.view(*lead, H, T, T)
