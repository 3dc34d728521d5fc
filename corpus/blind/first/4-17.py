# %% [wrong] zeros | The queries begin at 0, all alike, so they get the same gradient and stay alike.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
# %% [wrong] no_parameter | The queries are a plain tensor, no nn.Parameter, and never learn.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = torch.randn(num_queries, d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
# %% [wrong] not_expanded | The queries have no batch dimensions; they are handed to the attention as they are.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        seen, weights = self.cross_attn(self.queries, image_tokens)
        return self.norm(self.queries + seen), weights
# %% [wrong] no_residual | The queries are not added to what they saw.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(seen), weights
# %% [wrong] no_norm | The norm is made and never applied.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return queries + seen, weights
# %% [wrong] norm_before_residual | Only what was seen is normed, and the queries are added after the norm.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return queries + self.norm(seen), weights
# %% [wrong] queries_normed_first | The queries go through the norm before they ask, and the sum is not normed.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(self.norm(queries), image_tokens)
        return queries + seen, weights
# %% [wrong] image_asks | The image asks and the queries answer: the arguments are exchanged.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights
# %% [wrong] one_query | Only one query is drawn and repeated K times.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, d_model).repeat(num_queries, 1))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
# %% [wrong] uniform_queries | The queries are drawn with rand, between 0 and 1, not from a normal distribution.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
# %% [wrong] weights_forgotten | Only the summary is returned; the weights are dropped.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, _ = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen)
# %% [right] small_normal | Draws the queries with a small standard deviation in place, and stacks copies by broadcasting an addition.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.normal_(self.queries, std=0.02)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        asking = image_tokens.new_zeros(*image_tokens.shape[:-2], *self.queries.shape) + self.queries
        seen, weights = self.cross_attn(tokens=asking, context=image_tokens)
        return self.norm(asking + seen), weights
# %% [right] flattened_batch | Flattens all batch axes to one, repeats the queries, and unfolds the results again.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.queries = nn.Parameter(torch.normal(0.0, 1.0, size=(num_queries, d_model)))

    def forward(self, image_tokens):
        batch = image_tokens.shape[:-2]
        image = image_tokens.reshape(-1, *image_tokens.shape[-2:])
        asked = self.queries[None].repeat(len(image), 1, 1)
        seen, weights = self.cross_attn(asked, image)
        summary = self.norm(asked + seen)
        return summary.reshape(*batch, *summary.shape[1:]), weights.reshape(*batch, *weights.shape[1:])
