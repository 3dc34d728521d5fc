# %% [wrong] begin_as_zeros | The queries begin as zeros: all are alike, get the same gradient and stay alike; they should be drawn from a normal distribution
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

# %% [wrong] no_residual | The summary is norm(seen), without the queries that belong into the sum: norm(queries + seen)
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asked = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(asked, image_tokens)
        return self.norm(seen), weights

# %% [wrong] norm_of_seen_only | The norm stands around what is seen alone, queries + norm(seen), instead of around the sum
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(q, image_tokens)
        return q + self.norm(seen), weights

# %% [wrong] one_batch_axis | repeat(len(image_tokens), 1, 1) takes exactly one batch axis for granted: a single image (S, d_model) gets S copies of the queries, and two batch axes fail
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.repeat(len(image_tokens), 1, 1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] image_asks | The image tokens ask and the queries answer, so the attention's output is (..., S, d_model), its weights (..., H, S, K), and the sum with the queries does not fit for S ≠ K
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(queries + seen), weights

# %% [wrong] plain_tensor | The queries are a plain tensor with requires_grad and not an nn.Parameter, so parameters() does not list them: the optimizer never moves them, and .to(device) leaves them behind
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = torch.randn(num_queries, d_model, requires_grad=True)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [right] broadcast_to | torch.broadcast_to in place of expand; the sum broadcasts the queries by itself
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        asking = torch.broadcast_to(self.queries, (*lead, *self.queries.shape))
        seen, weights = self.cross_attn(asking, context=image_tokens)
        return self.norm(seen + self.queries), weights
