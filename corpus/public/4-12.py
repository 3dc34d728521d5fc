# %% [right] expand_and_reshape_repeat_kv | repeat_kv by expand and reshape, softmax in float32, after QiGoki/MyLLaMA2 (repeat_kv) (unsure: precision of float64 input)
def _repeat_kv(hidden_states, n_rep):
    if n_rep == 1:
        return hidden_states
    *lead, groups, slen, width = hidden_states.shape
    hidden_states = hidden_states.unsqueeze(-3).expand(*lead, groups, n_rep, slen, width)
    return hidden_states.reshape(*lead, groups * n_rep, slen, width)


def grouped_attention(query, key, value, mask=None):
    num_heads, num_kv = query.shape[-3], key.shape[-3]
    if num_heads % num_kv:
        raise ValueError(f"{num_heads} heads cannot share {num_kv} groups")
    key, value = _repeat_kv(key, num_heads // num_kv), _repeat_kv(value, num_heads // num_kv)
    attn_weights = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    if mask is not None:
        attn_weights = attn_weights.masked_fill(~mask.unsqueeze(-3), torch.finfo(attn_weights.dtype).min)
    attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(attn_weights, value)


# %% [right] repeat_interleave_heads | torch.repeat_interleave along the head axis, -inf, after mistralai/mistral-src (repeat_kv)
def grouped_attention(query, key, value, mask=None):
    H, G = query.size(-3), key.size(-3)
    if H % G != 0:
        raise ValueError("the number of heads is no multiple of the number of groups")
    keys = torch.repeat_interleave(key, repeats=H // G, dim=-3)
    values = torch.repeat_interleave(value, repeats=H // G, dim=-3)
    scores = query @ keys.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask[..., None, :, :], float("-inf"))
    return scores.softmax(-1) @ values


# %% [right] group_axis_and_einsum | queries get a group axis, einsum without copies of the keys, after fkodom/grouped-query-attention-pytorch
def grouped_attention(query, key, value, mask=None):
    hq, hk = query.shape[-3], key.shape[-3]
    if hq % hk > 0:
        raise ValueError(f"Expected query heads to be a multiple of key/value heads, got {hq} and {hk}")
    query = query.unflatten(-3, (hk, hq // hk)) * query.shape[-1] ** -0.5
    similarity = torch.einsum("...hgnd,...hsd->...hgns", query, key)
    if mask is not None:
        mask = mask.unsqueeze(-3).unsqueeze(-3)
        similarity = similarity.masked_fill(~mask, torch.finfo(similarity.dtype).min)
    attention = F.softmax(similarity, dim=-1)
    return torch.einsum("...hgns,...hsd->...hgnd", attention, value).flatten(-4, -3)


# %% [right] index_of_the_group | arange(H) // (H / G) as an index of the groups, index_select, after FRIDAYFRINGE/Attention (head_to_group)
def grouped_attention(query, key, value, mask=None):
    num_heads, num_groups = query.shape[-3], key.shape[-3]
    if num_heads % num_groups != 0:
        raise ValueError("num_heads must be divisible by num_groups")
    head_to_group = torch.arange(num_heads, device=key.device) // (num_heads // num_groups)
    K = key.index_select(-3, head_to_group)
    V = value.index_select(-3, head_to_group)
    scores = torch.matmul(query, K.transpose(-2, -1)) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.unsqueeze(-3) == 0, -1e9)
    return torch.matmul(torch.softmax(scores, dim=-1), V)


# %% [right] heads_of_a_group_folded_into_the_queries | the heads of a group and the queries made one long axis, one product for each group, after multi-query decoding kernels (Dao-AILab/flash-attention seqlenq_ngroups_swapped)
def grouped_attention(query, key, value, mask=None):
    *lead, H, T, d = query.shape
    G, S = key.shape[-3], key.shape[-2]
    if H % G:
        raise ValueError((H, G))
    r = H // G
    q = query.reshape(*lead, G, r * T, d)
    scores = (q @ key.transpose(-1, -2)) * d**-0.5
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill(~mask, -1e30)
        scores = (scores.view(*lead, G, r, T, S) + bias.unsqueeze(-3).unsqueeze(-3)).view(*lead, G, r * T, S)
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp()
    out = (weights / weights.sum(-1, keepdim=True)) @ value
    return out.view(*lead, H, T, value.shape[-1])


# %% [right] loop_over_groups | group by group, chunks of heads, cat, after first versions in GQA blog posts
def grouped_attention(query, key, value, mask=None):
    n_heads, n_groups = query.shape[-3], key.shape[-3]
    if n_heads // n_groups * n_groups != n_heads:
        raise ValueError("uneven groups")
    outs = []
    for g, q in enumerate(query.split(n_heads // n_groups, dim=-3)):
        k, v = key[..., g : g + 1, :, :], value[..., g : g + 1, :, :]
        att = q @ k.transpose(-2, -1) / np.sqrt(q.shape[-1]).item()
        if mask is not None:
            att = torch.where(mask.unsqueeze(-3), att, float("-inf"))
        outs.append(torch.softmax(att, -1) @ v)
    return torch.cat(outs, dim=-3)


# %% [right] broadcast_over_a_new_group_axis | keys and values unsqueezed to broadcast against (G, H/G), matmul, after mistral like PaLM multi-query code (broadcast, no repeat)
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError(f"H = {H}, G = {G}")
    q = query.reshape(*query.shape[:-3], G, H // G, *query.shape[-2:])
    scores = torch.matmul(q, key.unsqueeze(-3).transpose(-2, -1)) / query.shape[-1] ** 0.5
    if mask is not None:
        extra = mask if mask.ndim <= 2 else mask[..., None, None, :, :]
        scores = scores.masked_fill(~extra, -torch.inf)
    out = torch.matmul(torch.softmax(scores, dim=-1), value.unsqueeze(-3))
    return out.reshape(*query.shape[:-1], value.shape[-1])


# %% [right] tile_by_stack_and_flatten | torch.stack of the same keys, flattened, additive mask, after Lightning-AI/litgpt (expand q per kv)
def grouped_attention(query, key, value, mask=None):
    q_per_kv, rest = divmod(query.size(-3), key.size(-3))
    if rest:
        raise ValueError("query heads must be a multiple of key heads")
    k = torch.stack([key] * q_per_kv, dim=-3).flatten(-4, -3)
    v = torch.stack([value] * q_per_kv, dim=-3).flatten(-4, -3)
    att = torch.einsum("...htd,...hsd->...hts", query, k).mul(query.size(-1) ** -0.5)
    if mask is not None:
        att = att + torch.where(mask, 0.0, -1e9).to(att.dtype).unsqueeze(-3)
    y = F.softmax(att, dim=-1) @ v
    return y
