# %% [wrong] alike_from_the_start | The queries begin at zero, all alike, and would stay alike; they are to be drawn from a normal distribution.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] no_residual | Normalises what was seen alone; the queries are not added.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        seen, weights = self.cross_attn(self.queries.expand(*lead, *self.queries.shape), image_tokens)
        return self.norm(seen), weights

# %% [wrong] pre_norm | Normalises the queries before they ask and adds the output to them, as in a block; norm(queries + seen) is asked for.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(self.norm(asking), image_tokens)
        return asking + seen, weights

# %% [wrong] not_expanded | The queries get no batch axes: with a batch of images the shapes do not fit.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.queries, image_tokens)
        return self.norm(self.queries + seen), weights

# %% [wrong] plain_tensor | The queries are a plain random tensor and no nn.Parameter: they never learn, and do not move to another device.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = torch.randn(num_queries, d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries.expand(image_tokens.shape[:-2] + self.queries.shape)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [wrong] image_asks_queries | The image asks and the queries answer: S tokens come back in place of K.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights

# %% [right] added_to_zeros | Gets the batch axes by adding the queries to zeros of the right shape, and calls F.layer_norm with the parts of the norm.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn, self.norm = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        K, d_model = self.queries.shape
        asking = image_tokens.new_zeros(*image_tokens.shape[:-2], K, d_model) + self.queries
        seen, weights = self.cross_attn(asking, image_tokens)
        summary = F.layer_norm(asking + seen, (d_model,), self.norm.weight, self.norm.bias, self.norm.eps)
        return summary, weights
