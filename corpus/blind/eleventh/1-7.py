# %% [wrong] one_layer_with_three_names | A chain of = gives one single layer three names, so queries, keys and values are the same projection. SelfAttention(8, 4) has 32 parameters and not 96, and the scores are symmetric.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [wrong] root_of_d_model | Writes the attention out again and divides by the root of d_model, the width of the tokens, and not of d_k, the width of a query. Where the two differ, the map is too flat.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_model = d_model
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ v, weights


# %% [wrong] causal_without_being_asked | Without a mask it makes a causal mask of its own. With mask=None every token should see every token; here it sees only what stands before it.
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


# %% [wrong] tokens_overwritten | Overwrites `tokens` with the queries, and then makes keys and values from the queries. Where d_model and d_k differ it stops with an error about shapes; where they are equal the keys and values are wrong.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        make = lambda: nn.Linear(d_model, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = make(), make(), make()

    def forward(self, tokens, mask=None):
        query = tokens = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_V(tokens)
        output, weights = masked_attention(query, key, value, mask)
        return output, weights


# %% [wrong] mask_not_handed_on | Accepts a mask and never hands it on to masked_attention. Every token looks everywhere, whatever the mask says.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        self.W_Q = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
        self.W_K = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
        self.W_V = nn.Linear(in_features=d_model, out_features=d_k, bias=False)

    def forward(self, tokens, mask=None):
        Q = self.W_Q(tokens)
        K = self.W_K(tokens)
        V = self.W_V(tokens)
        out, attn = masked_attention(Q, K, V)
        return out, attn


# %% [right] one_joined_product | Stacks the three weight matrices for a single matrix product, and cuts the result into queries, keys and values.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        joined = torch.cat([layer.weight for layer in self.children()])
        return masked_attention(*F.linear(tokens, joined).chunk(3, dim=-1), mask=mask)
