# %% [wrong] queries_begin_alike | The queries begin with zeros: all alike, with the same gradient, so they stay alike for ever.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        q = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights


# %% [wrong] no_residual | The summary is norm(seen): the queries are not added.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(seen), weights


# %% [wrong] image_asks | The image asks and the queries answer: as many tokens come back as there are patches, not a summary.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights


# %% [wrong] exactly_one_batch | The queries are repeated `shape[0]` times: right with one batch dimension, wrong without one and with two.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        B = image_tokens.shape[0]
        q = self.queries.unsqueeze(0).repeat(B, 1, 1)
        out, w = self.cross_attn(q, image_tokens)
        return self.norm(q + out), w


# %% [wrong] norm_before_the_sum | The norm is laid on what was seen alone, and the queries are added afterwards: norm(seen) + queries.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        asks = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(asks, image_tokens)
        return asks + self.norm(seen), weights


# %% [wrong] drawn_evenly | Drawn with `torch.rand`, from 0 to 1: that is not a normal distribution, and all queries point roughly the same way.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        q = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights


# %% [right] broadcast_by_zeros | Draws with `nn.init.normal_`, and gives every image its queries by adding them to zeros of the batch's shape.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asks = image_tokens.new_zeros((*image_tokens.shape[:-2], *self.queries.shape)) + self.queries
        seen, weights = self.cross_attn(asks, image_tokens)
        return self.norm(seen.add(asks)), weights
