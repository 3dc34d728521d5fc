# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

# %% exercise="4.15" variant="corners"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S = image_tokens.shape[-2]
        n = S + text_tokens.shape[-2]
        allowed = torch.ones((n, n), device=text_tokens.device) > 0
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] &= mask
        output, weights = self.self_attn(torch.cat((image_tokens, text_tokens), dim=-2), mask=allowed)
        return output, weights


# %% exercise="4.15" variant="by position"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None, *, verbose=False):
        both = torch.cat([image_tokens, text_tokens], -2)
        count = image_tokens.size(-2)
        place = torch.arange(both.size(-2), device=both.device)
        may = (place[None, :] < count) | (place[:, None] >= count)
        if mask is not None:
            may = may & F.pad(mask, (count, 0, count, 0), value=True)
        return self.self_attn(both, both, may)


# %% exercise="4.15" variant="as a list"
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(ConcatenatedAttention, self).__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        words = torch.ones(T, T).bool().to(text_tokens.device) if mask is None else mask
        corner = words.new_ones
        table = torch.vstack([torch.hstack([corner(S, S), ~corner(S, T)]), torch.hstack([corner(T, S), words])])
        return list(self.self_attn(tokens=torch.cat([image_tokens, text_tokens], dim=-2), context=None, mask=table))


# %% exercise="4.16" variant="one line"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * seen, weights


# %% exercise="4.16" variant="registered"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.register_parameter("gate", nn.Parameter(torch.zeros(1)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens):
        asking = self.norm(text_tokens)
        found = self.cross_attn(asking, context=image_tokens)
        opened = torch.tanh(self.gate[0])
        return [torch.add(found[0] * opened, text_tokens), found[1]]


# %% exercise="4.16" variant="tanh written out"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]), requires_grad=True)

    def forward(self, text_tokens, image_tokens):
        output, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        up, down = self.gate.exp(), (-self.gate).exp()
        tokens = text_tokens.clone()
        tokens = tokens + output * ((up - down) / (up + down))
        return tokens, weights


# %% exercise="4.17" variant="expand"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        batch = image_tokens.shape[:-2]
        queries = self.queries.expand(*batch, *self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% exercise="4.17" variant="repeated"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.num_queries = num_queries
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.queries = nn.Parameter(0.5 * torch.randn(num_queries, d_model))

    def forward(self, image_tokens):
        lead = image_tokens.shape[:-2]
        asked = self.queries.repeat(*lead, 1, 1)
        output = self.cross_attn(asked, context=image_tokens, mask=None)
        summary = self.norm(output[0] + self.queries)
        return [summary, output[1]]


# %% exercise="4.17" variant="normal_"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        nn.init.normal_(self.queries, std=0.02)
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, image_tokens):
        asking = torch.broadcast_to(self.queries, (*image_tokens.shape[:-2], *self.queries.shape))
        seen, weights = self.cross_attn(asking, image_tokens)
        return self.norm(seen.add(asking)), weights
