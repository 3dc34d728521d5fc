# %% [wrong] one_linear_under_three_names | Assigns one and the same nn.Linear to all three names. There should be three matrices of their own: a third of the parameters, queries equal keys, and the scores are symmetric.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] remembers_the_last_mask | Keeps the mask in the layer, and uses the last one where none is given. A call without a mask should look everywhere; after a causal call it stays causal.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.mask = None
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, self.mask)

# %% [wrong] dropout_as_in_big_models | Puts a dropout of 0.1 on the weights because real models have one. Nobody asked for it: a fresh layer is in training mode, so weights are missing at random, rows do not sum to 1, and two calls differ.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.drop = nn.Dropout(0.1)

    def forward(self, tokens, mask=None):
        value = self.W_V(tokens)
        _, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), value, mask)
        weights = self.drop(weights)
        return weights @ value, weights

# %% [wrong] layers_born_in_forward | Makes the projections anew in every forward. They should be made once in __init__: the layer has no parameters before its first call, nothing can be learned, and two calls give different results.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_model = d_model
        self.d_k = d_k

    def forward(self, tokens, mask=None):
        make = lambda: nn.Linear(self.d_model, self.d_k, bias=False).to(tokens)
        self.W_Q, self.W_K, self.W_V = make(), make(), make()
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] values_projected_from_queries | The value projection reads the projected queries in place of the tokens. All three should read the tokens: an error where d_k differs from d_model, another output where they are equal.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, tokens, mask=None):
        x = self.W_Q(tokens)
        y = self.W_K(tokens)
        z = self.W_V(x)
        return masked_attention(x, y, z, mask)

# %% [wrong] mask_gets_an_axis_too_many | Always puts a batch axis in front of the mask. The mask already broadcasts: for plain tokens (T, d_model) the results come back as (1, T, d_k) and (1, T, T), and a mask (B, 1, T) mixes up the batch.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_V(tokens)
        if mask is not None:
            mask = mask.unsqueeze(0)
        output, weights = masked_attention(query, key, value, mask)
        return output, weights

# %% [right] one_product_for_all_three | Stacks the three weight matrices in forward, projects once with F.linear, and cuts the result into query, key and value.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        stacked = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
        return masked_attention(*F.linear(tokens, stacked).chunk(3, dim=-1), mask=mask)
