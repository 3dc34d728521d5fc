# %% [right] three_linears_and_nan_to_num | W_Q, W_K, W_V as nn.Linear, scores, -inf, nan_to_num, after rasbt/LLMs-from-scratch (SelfAttention_v2) (unsure: gradients through a hidden row)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        queries, keys, values = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        attn_scores = queries @ keys.transpose(-2, -1)
        if mask is not None:
            attn_scores = attn_scores.masked_fill(~mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = torch.nan_to_num(attn_weights)
        return attn_weights @ values, attn_weights


# %% [right] one_product_with_joined_weights | the three weights joined for one F.linear, then chunk(3), after karpathy/nanoGPT (c_attn split)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        weight = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight], dim=0)
        q, k, v = F.linear(tokens, weight).chunk(3, dim=-1)
        return masked_attention(q, k, v, mask)


# %% [right] scale_buffer_and_xavier | non-persistent buffer for the scale, xavier start, after phlippe/uvadlc_notebooks (_reset_parameters) (unsure: whether a buffer is welcome)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.register_buffer("scale", torch.tensor(d_k**-0.5), persistent=False)
        self._reset_parameters()

    def _reset_parameters(self):
        for layer in (self.W_Q, self.W_K, self.W_V):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, tokens, mask=None):
        q = self.W_Q(tokens) * self.scale
        logits = torch.matmul(q, self.W_K(tokens).transpose(-2, -1))
        if mask is not None:
            logits = logits.masked_fill(mask == 0, -9e15)
        attention = F.softmax(logits, dim=-1)
        if mask is not None:
            attention = attention * mask.any(dim=-1, keepdim=True)
        values = torch.matmul(attention, self.W_V(tokens))
        return values, attention


# %% [right] float_softmax_and_finfo_min | finfo.min mask, softmax in float32, cast back, after ise-uiuc/WhiteFox (sdpa patterns: scores to float32, softmax, cast back) (unsure: precision of float64 input)
class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int):
        super().__init__()
        self.head_dim = d_k
        self.scaling = self.head_dim**-0.5
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query_states = self.W_Q(tokens)
        key_states = self.W_K(tokens)
        value_states = self.W_V(tokens)
        attn_weights = torch.matmul(query_states, key_states.transpose(-2, -1)) * self.scaling
        if mask is not None:
            min_dtype = torch.finfo(attn_weights.dtype).min
            attn_weights = attn_weights.masked_fill(~mask, min_dtype)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query_states.dtype)
        if mask is not None:
            attn_weights = attn_weights.masked_fill(~mask, 0.0)
        attn_output = torch.matmul(attn_weights, value_states)
        return attn_output, attn_weights


# %% [right] inner_dot_product_attention_module | a parameterless attention module inside, after d2l-ai/d2l-en (DotProductAttention)
class _DotProduct(nn.Module):
    def forward(self, queries, keys, values, mask):
        d = queries.shape[-1]
        scores = torch.matmul(queries, keys.transpose(-2, -1)) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e6)
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask
        return torch.matmul(weights, values), weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.attention = _DotProduct()

    def forward(self, tokens, mask=None):
        return self.attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [right] parameterless_softmax_module_and_map | map over the three layers, nn.Softmax as a part, after lucidrains/vit-pytorch (self.attend)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.scale = d_k**-0.5
        self.attend = nn.Softmax(dim=-1)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = map(lambda layer: layer(tokens), (self.W_Q, self.W_K, self.W_V))
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        nowhere = None
        if mask is not None:
            nowhere = ~mask.any(-1, keepdim=True)
            dots = dots.masked_fill(~(mask | nowhere), float("-inf"))
        attn = self.attend(dots)
        if nowhere is not None:
            attn = attn.masked_fill(nowhere, 0.0)
        out = torch.matmul(attn, v)
        return out, attn


# %% [right] small_normal_start | weights started with std 0.02, stable softmax of 1.3, after karpathy/minGPT (_init_weights)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, mask=None):
        k = self.W_K(tokens)
        q = self.W_Q(tokens)
        v = self.W_V(tokens)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = stable_softmax(att, dim=-1)
        y = att @ v
        return y, att


# %% [right] extra_repr_and_stored_map | attention weights kept on the module, extra_repr, typed signature, after d2l-ai/d2l-en (self.attention_weights)
class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.d_model, self.d_k = d_model, d_k
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.attention_weights = None

    def extra_repr(self):
        return f"d_model={self.d_model}, d_k={self.d_k}"

    def forward(self, tokens, mask=None):
        output, self.attention_weights = masked_attention(
            self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask=mask
        )
        return output, self.attention_weights


# %% [right] lazily_cached_scale_and_einsum | einsum for projections with the weights themselves, after Anthropic style (x @ W.T) interpretability code
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        stacked = torch.stack([self.W_Q.weight, self.W_K.weight, self.W_V.weight])  # (3, d_k, d_model)
        q, k, v = torch.einsum("...tm,pkm->p...tk", tokens, stacked)
        scores = torch.einsum("...qk,...sk->...qs", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
        pattern = scores.softmax(-1)
        if mask is not None:
            pattern = pattern * mask
        return torch.einsum("...qs,...sk->...qk", pattern, v), pattern


# %% [right] module_dict_free_kqv_order | key, query, value order, orthogonal start, out-of-place masked_fill with a mask buffer made on the fly, after peterbloem/former
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        for layer in (self.W_K, self.W_Q, self.W_V):
            nn.init.orthogonal_(layer.weight)

    def forward(self, tokens, mask=None):
        keys, queries, values = self.W_K(tokens), self.W_Q(tokens), self.W_V(tokens)
        queries = queries / (keys.shape[-1] ** (1 / 4))
        keys = keys / (keys.shape[-1] ** (1 / 4))
        dot = queries @ keys.transpose(-2, -1)
        if mask is None:
            dot = F.softmax(dot, dim=-1)
        else:
            empty = (~mask).all(dim=-1, keepdim=True)
            dot = dot.masked_fill(~mask & ~empty, float("-inf"))
            dot = F.softmax(dot, dim=-1).masked_fill(empty, 0.0)
        return dot @ values, dot
