# %% [right] zeros_plus_queries | right
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.normal_(self.queries)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead, width = image_tokens.shape[:-2], image_tokens.shape[-1]
        asks = image_tokens.new_zeros(*lead, len(self.queries), width) + self.queries
        seen, weights = self.cross_attn(tokens=asks, context=image_tokens)
        return self.norm(seen.add(self.queries)), weights

# %% [wrong] queries_all_zero | The queries begin at zero, so all of them get the same gradient and stay alike.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] one_row_repeated | One random query is repeated num_queries times, so the queries begin alike.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, d_model).repeat(num_queries, 1))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] no_residual | The summary is norm(seen): the queries are not added.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(seen), weights

# %% [wrong] norm_before_addition | The norm is applied to what is seen and the queries are added afterwards.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return queries + self.norm(seen), weights

# %% [wrong] image_asks | The image asks and the queries answer, so the result has S tokens.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights

# %% [wrong] one_batch_axis_only | The queries are repeated for exactly one batch axis, so more or fewer leading axes do not work.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.unsqueeze(0).repeat(len(image_tokens), 1, 1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] fresh_queries_each_call | Random queries are drawn anew in every call instead of using the learned ones.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = torch.randn_like(self.queries).expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] queries_normed_first | The queries are normalised before they ask (pre-norm) instead of the summary at the end.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(self.norm(queries), image_tokens)
        return queries + seen, weights

# %% [wrong] image_normed | The norm is used on the image tokens as well as on the summary.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, self.norm(image_tokens))
        return self.norm(queries + seen), weights

# %% [wrong] queries_detached | The queries are used through .data, so they get no gradient.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.data.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] uniform_queries | The queries are drawn with torch.rand, uniform between 0 and 1, instead of from a normal distribution.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
