# %% [wrong] queries_begin_at_zero | The queries are zeros. Queries that begin alike get the same gradient and stay alike for ever; the text wants them drawn from a normal distribution.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(asking, image_tokens)
        return self.norm(asking + seen), weights


# %% [wrong] residual_missing | The summary is norm(seen), without the queries added to it.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.normal_(self.queries)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = torch.broadcast_to(self.queries, (*image_tokens.shape[:-2], *self.queries.shape))
        seen, weights = self.cross_attn(queries, context=image_tokens)
        return self.norm(seen), weights


# %% [wrong] exactly_one_batch_axis | Expands the queries by image_tokens.shape[0]: right for (B, S, d_model) alone. A single image (S, d_model) gets as many copies as it has patches, and two lead axes do not fit.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        B = image_tokens.shape[0]
        q = self.queries.unsqueeze(0).repeat(B, 1, 1)
        out, w = self.cross_attn(q, image_tokens)
        return self.norm(q + out), w


# %% [wrong] norm_before_the_sum | Normalises what was seen and adds the queries afterwards, queries + norm(seen); asked for is norm(queries + seen).
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn, self.norm = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)
        self.queries = nn.Parameter(torch.normal(0.0, 1.0, (num_queries, d_model)))

    def forward(self, image_tokens):
        lead = image_tokens.shape[:-2]
        flat = image_tokens.reshape(-1, *image_tokens.shape[-2:])
        asked = self.queries.unsqueeze(0).expand(len(flat), -1, -1)
        seen, weights = self.cross_attn(asked, flat)
        summary = asked + self.norm(seen)
        return summary.reshape(*lead, *summary.shape[1:]), weights.reshape(*lead, *weights.shape[1:])


# %% [wrong] queries_in_a_buffer | The queries are registered as a buffer: they are saved and moved along with the model, but no optimizer finds them, and they are never learned. They should be an nn.Parameter.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.register_buffer("queries", torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries + image_tokens.new_zeros(*image_tokens.shape[:-2], 1, 1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% [right] broadcast_by_addition | The queries get the image's lead axes by adding zeros made from its shape, instead of expand.
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = self.queries + image_tokens.new_zeros((*image_tokens.shape[:-2], 1, 1))
        seen, weights = self.cross_attn(tokens=asking, context=image_tokens)
        summary = self.norm(torch.add(asking, seen))
        return summary, weights
