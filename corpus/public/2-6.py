# %% [right] view_transpose_minus_1e9 | view and transpose, mask == 0 with -1e9, dropout module, after harvardnlp/annotated-transformer (MultiHeadedAttention)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(p=dropout)

    def _heads(self, x):
        return x.view(*x.shape[:-1], self.num_heads, self.d_k).transpose(-3, -2)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = self._heads(self.W_Q(tokens)), self._heads(self.W_K(context)), self._heads(self.W_V(context))
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.unsqueeze(-3)  # the same for all heads
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = scores.softmax(dim=-1)
        if mask is not None:
            p_attn = p_attn.masked_fill(mask == 0, 0.0)
        x = torch.matmul(self.dropout(p_attn), value)
        x = x.transpose(-3, -2).contiguous().view(*tokens.shape[:-1], self.num_heads * self.d_k)
        return self.W_O(x), p_attn


# %% [right] einsum_with_head_axis_left_in_place | no transposes: einsum over (..., t, h, d), after HF style flax code and google/t5x
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads = num_heads
        self.dropout = dropout
        d_context = d_context or d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        q = self.W_Q(tokens).unflatten(-1, (self.num_heads, -1))
        k = self.W_K(context).unflatten(-1, (self.num_heads, -1))
        v = self.W_V(context).unflatten(-1, (self.num_heads, -1))
        logits = torch.einsum("...qhd,...khd->...hqk", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            mask = mask[..., None, :, :]
            logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
        weights = torch.softmax(logits, dim=-1)
        if mask is not None:
            weights = weights * mask
        dropped = F.dropout(weights, self.dropout, self.training)
        seen = torch.einsum("...hqk,...khd->...qhd", dropped, v)
        return self.W_O(seen.flatten(-2)), weights


# %% [right] heads_folded_into_the_batch | heads folded into the batch for bmm, float mask repeated for heads, after d2l-ai/d2l-en (transpose_qkv)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        if self.head_dim * num_heads != d_model:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.scaling = self.head_dim**-0.5
        self.p = dropout
        kdim = d_context if d_context is not None else d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(kdim, d_model, bias=False)
        self.W_V = nn.Linear(kdim, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def _shape(self, x):
        x = x.reshape(-1, x.shape[-2], self.num_heads, self.head_dim).transpose(1, 2)
        return x.reshape(-1, x.shape[2], self.head_dim)  # (B · H, n, d_head)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        lead, tgt_len, src_len = tokens.shape[:-2], tokens.shape[-2], context.shape[-2]
        q = self._shape(self.W_Q(tokens) * self.scaling)
        k, v = self._shape(self.W_K(context)), self._shape(self.W_V(context))
        attn_weights = torch.bmm(q, k.transpose(1, 2))
        if mask is not None:
            mask = mask.expand(*lead, tgt_len, src_len).reshape(-1, 1, tgt_len, src_len)
            mask = mask.expand(-1, self.num_heads, -1, -1).reshape(-1, tgt_len, src_len)
            attn_weights = attn_weights.masked_fill(~mask, float("-inf"))
            attn_weights = attn_weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        attn_weights = F.softmax(attn_weights, dim=-1)
        if mask is not None:
            attn_weights = attn_weights * mask.any(-1, keepdim=True)
        attn_probs = F.dropout(attn_weights, p=self.p, training=self.training)
        attn = torch.bmm(attn_probs, v)
        attn = attn.view(-1, self.num_heads, tgt_len, self.head_dim).transpose(1, 2)
        attn = self.W_O(attn.reshape(*lead, tgt_len, -1))
        return attn, attn_weights.view(*lead, self.num_heads, tgt_len, src_len)


# %% [right] a_list_of_single_heads | one attention for each head on slices of the projections, outputs concatenated, after rasbt/LLMs-from-scratch (MultiHeadAttentionWrapper)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads has to divide d_model")
        if d_context is None:
            d_context = d_model
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        queries = self.W_Q(tokens).chunk(self.num_heads, dim=-1)
        keys = self.W_K(context).chunk(self.num_heads, dim=-1)
        values = self.W_V(context).chunk(self.num_heads, dim=-1)
        outputs, maps = [], []
        for q, k, v in zip(queries, keys, values):
            _, weights = masked_attention(q, k, v, mask)
            maps.append(weights)
            outputs.append(self.drop(weights) @ v)
        return self.W_O(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=-3)


# %% [right] split_and_merge_with_provided_attention | the notebook's own split_heads, masked_attention, merge_heads, after UvA tutorial 6 (MultiheadAttention forward)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("Embedding dimension must be 0 modulo number of heads.")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self._reset_parameters()

    def _reset_parameters(self):
        for layer in (self.W_Q, self.W_K, self.W_V, self.W_O):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(source), self.num_heads)
        v = split_heads(self.W_V(source), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        values, attention_map = masked_attention(q, k, v, mask)
        if self.training and self.dropout > 0:
            values = F.dropout(attention_map, self.dropout) @ v
        return self.W_O(merge_heads(values)), attention_map


# %% [right] float32_softmax_cast_back | scores and softmax in float32, cast back to the tokens' type, after GreekCodeBear/From0toInf-LLM (LLaMA 2 attention) (unsure: precision of float64 input)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_context=None, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} % num_heads {num_heads} != 0")
        self.n_local_heads = self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.attn_dropout = dropout
        self.W_Q = nn.Linear(d_model, num_heads * self.head_dim, bias=False)
        self.W_K = nn.Linear(d_context or d_model, num_heads * self.head_dim, bias=False)
        self.W_V = nn.Linear(d_context or d_model, num_heads * self.head_dim, bias=False)
        self.W_O = nn.Linear(num_heads * self.head_dim, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        x = tokens
        c = x if context is None else context
        xq, xk, xv = self.W_Q(x), self.W_K(c), self.W_V(c)
        xq = xq.view(*x.shape[:-1], self.n_local_heads, self.head_dim).transpose(-3, -2)
        keys = xk.view(*c.shape[:-1], self.n_local_heads, self.head_dim).transpose(-3, -2)
        values = xv.view(*c.shape[:-1], self.n_local_heads, self.head_dim).transpose(-3, -2)
        scores = torch.matmul(xq, keys.transpose(-2, -1)) / math.sqrt(self.head_dim)
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, torch.finfo(scores.dtype).min)
            scores = scores + bias.unsqueeze(-3)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        if mask is not None:
            scores = scores.masked_fill(~mask.any(-1, keepdim=True).unsqueeze(-3), 0.0)
        output = torch.matmul(F.dropout(scores, self.attn_dropout, self.training), values)
        output = output.transpose(-3, -2).contiguous().view(*x.shape[:-1], -1)
        return self.W_O(output), scores


# %% [right] to_kv_joined_and_tupled_map | keys and values by one product with joined weights, heads by map, after lucidrains/x-transformers
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if not d_model % num_heads == 0:
            raise ValueError("heads must divide the dimension")
        d_context = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.scale = (d_model // num_heads) ** -0.5
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        h = self.num_heads
        context = context if context is not None else tokens
        q = self.W_Q(tokens)
        k, v = F.linear(context, torch.cat((self.W_K.weight, self.W_V.weight), dim=0)).chunk(2, dim=-1)
        q, k, v = map(lambda t: t.reshape(*t.shape[:-1], h, -1).transpose(-3, -2), (q, k, v))
        dots = torch.einsum("...id,...jd->...ij", q, k) * self.scale
        if mask is not None:
            mask = mask.unsqueeze(-3)
            dots = dots.masked_fill(~mask, -torch.finfo(dots.dtype).max)
        dots = dots - dots.amax(dim=-1, keepdim=True).detach()
        pre_drop = dots.softmax(dim=-1)
        if mask is not None:
            pre_drop = pre_drop.masked_fill(~mask, 0.0)
        out = torch.einsum("...ij,...jd->...id", self.attn_dropout(pre_drop), v)
        return self.W_O(out.transpose(-3, -2).flatten(start_dim=-2)), pre_drop


# %% [right] sum_over_heads_of_output_slices | no merging: each head goes through its own columns of W_O and the results are added, after interpretability code that adds the results of single heads (unsure: gradients through a hidden row)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model is no multiple of num_heads")
        self.num_heads, self.p = num_heads, dropout
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(-2, -3)
            for layer, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        attn_scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            attn_scores = attn_scores.masked_fill(~mask.unsqueeze(-3), float("-inf"))
        pattern = attn_scores.softmax(dim=-1)
        pattern = torch.where(torch.isnan(pattern), torch.zeros_like(pattern), pattern)
        z = F.dropout(pattern, self.p, self.training) @ v  # (..., H, T, d_head)
        w_o = self.W_O.weight.unflatten(1, (self.num_heads, -1))  # (d_model, H, d_head)
        return torch.einsum("...htd,mhd->...tm", z, w_o), pattern


# %% [right] per_head_scores_scaled_before_and_float_bias | query scaled, mask as float bias, softmax, head outputs by einsum, after an annotated BertSelfAttention notebook (all_head_size)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(
                f"The hidden size {d_model} is not a multiple of the number of attention heads {num_heads}."
            )
        self.num_heads = num_heads
        self.attention_head_size = int(d_model / num_heads)
        self.all_head_size = self.num_heads * self.attention_head_size
        context_width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, self.all_head_size, bias=False)
        self.W_K = nn.Linear(context_width, self.all_head_size, bias=False)
        self.W_V = nn.Linear(context_width, self.all_head_size, bias=False)
        self.W_O = nn.Linear(self.all_head_size, d_model, bias=False)
        self.attn_drop = nn.Dropout(dropout)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_heads, self.attention_head_size)
        return x.view(new_x_shape).transpose(-2, -3)

    def forward(self, tokens, context=None, mask=None):
        is_cross_attention = context is not None
        source = context if is_cross_attention else tokens
        key_layer = self.transpose_for_scores(self.W_K(source))
        value_layer = self.transpose_for_scores(self.W_V(source))
        query_layer = self.transpose_for_scores(self.W_Q(tokens))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if mask is not None:
            extended_mask = (1.0 - mask[..., None, :, :].to(attention_scores.dtype)) * -1e9
            attention_scores = attention_scores + extended_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        if mask is not None:
            attention_probs = attention_probs * mask[..., None, :, :]
        dropped = self.attn_drop(attention_probs)
        context_layer = torch.matmul(dropped, value_layer).transpose(-2, -3).contiguous()
        context_layer = context_layer.view(context_layer.size()[:-2] + (self.all_head_size,))
        return self.W_O(context_layer), attention_probs


# %% [right] dropout_by_bernoulli_mask | dropout written out with torch.rand and a division by 1 - p, after CS231n assignment (inverted dropout)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads do not fit")
        self.num_heads, self.p = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context if d_context else d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_context if d_context else d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(t, self.num_heads) for t in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        attn = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            mask = mask.unsqueeze(-3)
            attn = attn.masked_fill(~mask, -torch.inf)
            nowhere = ~mask.any(dim=-1, keepdim=True)
            attn = attn.masked_fill(nowhere, 0.0).softmax(dim=-1).masked_fill(nowhere, 0.0)
        else:
            attn = attn.softmax(dim=-1)
        used = attn
        if self.training and self.p > 0:
            keep = (torch.rand_like(attn) >= self.p).to(attn.dtype)
            used = attn * keep / (1 - self.p)
        return self.W_O(merge_heads(used @ v)), attn


# %% [right] vmap_over_heads | torch.vmap of a single-head function along the head axis, after functorch examples
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} / {num_heads} is no whole number")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        H = self.num_heads

        def head_weights(q, k):
            s = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
            return s if mask is None else s.masked_fill(~mask, torch.finfo(s.dtype).min)

        q, k, v = (x.unflatten(-1, (H, -1)).movedim(-2, 0) for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        weights = torch.softmax(torch.vmap(head_weights)(q, k), dim=-1)  # (H, ..., T, S)
        if mask is not None:
            weights = weights * mask
        seen = self.drop(weights) @ v
        return self.W_O(seen.movedim(0, -2).flatten(-2)), weights.movedim(0, -3)
