# %% [wrong] with_bias | The projections keep nn.Linear's default bias: more parameters than asked for.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] no_super_init | super().__init__() is missing, so assigning the first layer raises an error.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query, key, value = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(query, key, value, mask)

# %% [wrong] one_layer_three_names | Makes a single nn.Linear and gives it three names, so W_Q, W_K and W_V share one matrix.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = (layer(tokens) for layer in (self.W_Q, self.W_K, self.W_V))
        return masked_attention(q, k, v, mask)

# %% [wrong] mask_not_handed_on | forward takes a mask and does not hand it on: every token looks everywhere.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        return attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))

# %% [wrong] value_is_key | The values are made with W_K: W_V has parameters, but is never used.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        make = lambda: nn.Linear(d_model, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = make(), make(), make()

    def forward(self, tokens, mask=None):
        asks = self.W_Q(tokens)
        answers = self.W_K(tokens)
        return masked_attention(asks, answers, answers, mask=mask)

# %% [wrong] divides_by_d_model | Own computation that divides by the root of the width of the tokens, d_model, in place of d_k.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        scores = self.W_Q(tokens) @ self.W_K(tokens).transpose(-1, -2)
        scores = scores / math.sqrt(tokens.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ self.W_V(tokens), weights

# %% [right] one_product_for_three | Puts the three matrices under one another, projects once with F.linear and cuts the result in three.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        stacked = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
        query, key, value = F.linear(tokens, stacked).chunk(3, dim=-1)
        return masked_attention(query, key, value, mask)
