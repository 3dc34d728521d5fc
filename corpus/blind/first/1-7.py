# %% [wrong] with_bias | the projections have a bias; bias=False is missing
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] super_missing | super().__init__() is not called, so assigning the layers raises AttributeError
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, mask)
# %% [wrong] widths_swapped | nn.Linear gets its widths in the wrong order: from d_k to d_model
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_k, d_model, bias=False)
        self.W_K = nn.Linear(d_k, d_model, bias=False)
        self.W_V = nn.Linear(d_k, d_model, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] other_names | the projections are called query, key and value instead of W_Q, W_K and W_V
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.query = nn.Linear(d_model, d_k, bias=False)
        self.key = nn.Linear(d_model, d_k, bias=False)
        self.value = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.query(tokens), self.key(tokens), self.value(tokens), mask)
# %% [wrong] one_layer_three_names | the three names point to one and the same layer, so there is one projection instead of three
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] keys_as_values | the values are made with W_K instead of W_V (copy and paste)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_K(tokens)
        output, weights = masked_attention(query, key, value, mask)
        return output, weights
# %% [wrong] query_key_layers_swapped | the queries are made with W_K and the keys with W_Q
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        k, q, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, mask)
# %% [wrong] mask_not_handed_on | the mask is not handed on to masked_attention
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, tokens, mask=None):
        q, k, v = (w(tokens) for w in (self.W_Q, self.W_K, self.W_V))
        return masked_attention(q, k, v)
# %% [wrong] layers_made_in_forward | the projections are made anew in forward, so they are random on each call and no parameters of the layer
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_model, self.d_k = d_model, d_k

    def forward(self, tokens, mask=None):
        self.W_Q = nn.Linear(self.d_model, self.d_k, bias=False).to(tokens)
        self.W_K = nn.Linear(self.d_model, self.d_k, bias=False).to(tokens)
        self.W_V = nn.Linear(self.d_model, self.d_k, bias=False).to(tokens)
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] layers_in_a_dict | the layers sit in a plain Python dict, so PyTorch does not register them: no parameters, and no attributes W_Q, W_K, W_V
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W = {name: nn.Linear(d_model, d_k, bias=False) for name in "QKV"}

    def forward(self, tokens, mask=None):
        q = self.W["Q"](tokens)
        k = self.W["K"](tokens)
        v = self.W["V"](tokens)
        return masked_attention(q, k, v, mask)
# %% [wrong] output_projection | there is a fourth, output projection W_O that was not asked for
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        out, w = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(out), w
# %% [wrong] only_output | forward returns only the output, the weights are dropped
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        output, _ = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return output
# %% [wrong] mask_negated | the mask is negated before it is handed on, so True becomes may not attend
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        if mask is not None:
            mask = ~mask
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] values_of_full_width | W_V goes from d_model to d_model instead of to d_k
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] forward_misspelt | the method is called foward, so nn.Module finds no forward and raises
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def foward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] scaled_again | the queries are divided by the root of d_k, although masked_attention scales already
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.scale = d_k ** -0.5
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q = self.W_Q(tokens) * self.scale
        return masked_attention(q, self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] scaled_by_model_width | written out by hand, and scaled by the root of d_model instead of d_k
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        B_T_C = tokens.shape
        wei = self.W_Q(tokens) @ self.W_K(tokens).transpose(-2, -1) * B_T_C[-1] ** -0.5
        if mask is not None:
            wei = wei.masked_fill(~mask, float("-inf"))
        wei = stable_softmax(wei)
        return wei @ self.W_V(tokens), wei
# %% [wrong] raw_parameters | the projections are bare nn.Parameter matrices of shape (d_model, d_k) and not nn.Linear layers
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))
        self.W_K = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))
        self.W_V = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))

    def forward(self, tokens, mask=None):
        return masked_attention(tokens @ self.W_Q, tokens @ self.W_K, tokens @ self.W_V, mask)
# %% [wrong] weight_without_transpose | multiplies with W.weight directly; nn.Linear stores it as (d_k, d_model), so the transpose is missing
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        Q = tokens @ self.W_Q.weight
        K = tokens @ self.W_K.weight
        V = tokens @ self.W_V.weight
        return masked_attention(Q, K, V, mask)
# %% [wrong] dropout_in_training | a dropout of the output that was not asked for: random results in train mode, right in eval mode only
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, dropout=0.2):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.dropout(output), weights
# %% [wrong] layer_norm_added | a LayerNorm before the projections that was not asked for: it changes the result and adds parameters
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        x = self.norm(tokens)
        return masked_attention(self.W_Q(x), self.W_K(x), self.W_V(x), mask)
# %% [wrong] causal_by_default | without a mask a causal one is put in, so tokens cannot look ahead though nothing forbids it
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        if mask is None:
            mask = causal_mask(tokens.shape[-2]).to(tokens.device)
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] no_grad_forward | forward runs under torch.no_grad(), so the layer cannot learn
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    @torch.no_grad()
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [wrong] tokens_not_projected_as_keys | the keys are the tokens themselves: W_K is made but never used, so the widths do not fit
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens)
        value = self.W_V(tokens)
        return masked_attention(query, tokens, value, mask)
# %% [wrong] mask_without_default | forward demands a mask: the default mask=None is missing, so layer(tokens) raises TypeError
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, mask=mask)
# %% [wrong] weights_in_eval_only | in train mode only the output is returned; the weights come in eval mode only
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        out, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        if self.training:
            return out
        return out, weights
# %% [wrong] residual_added | the values are added to the output as a residual connection, which was not asked for
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        v = self.W_V(tokens)
        out, attn = masked_attention(self.W_Q(tokens), self.W_K(tokens), v, mask)
        return out + v, attn
# %% [wrong] relu_on_projections | the projections go through a ReLU; they should be linear
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = F.relu(self.W_Q(tokens)), F.relu(self.W_K(tokens)), F.relu(self.W_V(tokens))
        return masked_attention(q, k, v, mask)
# %% [wrong] bias_and_lost_mask | the projections have a bias AND the mask is not handed on
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))
# %% [wrong] unpacks_three_axes | B, T, C = tokens.shape supposes exactly one batch dimension; tokens without a batch or with two raise
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        B, T, C = tokens.shape
        q = self.W_Q(tokens).view(B, T, -1)
        k = self.W_K(tokens).view(B, T, -1)
        v = self.W_V(tokens).view(B, T, -1)
        return masked_attention(q, k, v, mask)
# %% [right] setattr_loop | makes the layers in a loop with setattr
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        q, k, v = (getattr(self, name)(tokens) for name in ("W_Q", "W_K", "W_V"))
        return masked_attention(q, k, v, mask=mask)
# %% [right] written_out_by_hand | the attention is written out in forward, with F.linear on the weights
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
        self.W_K = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
        self.W_V = nn.Linear(in_features=d_model, out_features=d_k, bias=False)

    def forward(self, tokens, mask=None):
        q = F.linear(tokens, self.W_Q.weight)
        k = F.linear(tokens, self.W_K.weight)
        v = F.linear(tokens, self.W_V.weight)
        logits = torch.matmul(q, k.transpose(-1, -2)) / self.d_k ** 0.5
        if mask is not None:
            logits = logits.masked_fill(torch.logical_not(mask), -math.inf)
        shares = stable_softmax(logits, dim=-1)
        return torch.matmul(shares, v), shares
# %% [right] one_fused_product | concatenates the three weights, multiplies once and splits
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        stacked = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight], dim=0)
        qkv = tokens @ stacked.transpose(0, 1)
        query, key, value = qkv.chunk(3, dim=-1)
        output, weights = masked_attention(query, key, value, mask)
        return output, weights
