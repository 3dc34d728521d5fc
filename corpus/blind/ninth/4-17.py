# %% [wrong] drawn_evenly | The queries are drawn with torch.rand, evenly between 0 and 1. They should be drawn from a normal distribution. None is negative, and all point nearly the same way.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asks = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(asks, image_tokens)
        return self.norm(asks + seen), weights

# %% [wrong] queries_with_a_batch_axis | The parameter has the shape (1, num_queries, d_model), with an axis for the batch. It should be (num_queries, d_model). The summary is right, but the parameter has another shape than was asked for, and saved queries do not fit in.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        if image_tokens.ndim == 2:
            queries = self.queries[0]
        else:
            queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] first_axis_is_the_batch | The queries are repeated len(image_tokens) times. That is the batch only with exactly one batch axis. For a single image (S, d_model) it is the number of patches, and an error comes out.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.repeat(len(image_tokens), 1, 1)
        output, attention = self.cross_attn(queries, image_tokens)
        return self.norm(queries.add(output)), attention

# %% [wrong] adds_into_the_expanded_queries | What was seen is added with += to the expanded queries, a view of the parameter in which all images share one memory. It should be a new tensor. An error comes out.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        summary = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(summary, image_tokens)
        summary += seen
        return self.norm(summary), weights

# %% [wrong] queries_not_added | The summary is norm(seen). It should be norm(queries + seen). What a query itself is gets lost.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        nn.init.normal_(self.queries)
        self.cross_attn, self.norm = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        seen, weights = self.cross_attn(self.queries.expand(*lead, *self.queries.shape), image_tokens)
        return self.norm(seen), weights

# %% [wrong] the_image_asks | Image and queries have changed places: the patches ask, and the queries answer. The queries should ask. S tokens come out in place of K, and nothing is summed up.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.normal(0.0, 1.0, (num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = torch.broadcast_to(self.queries, (*image_tokens.shape[:-2], *self.queries.shape))
        seen, weights = self.cross_attn(image_tokens, queries)
        return self.norm(image_tokens + seen), weights

# %% [right] zeros_plus_queries | Broadcasts by adding the queries to zeros of the right batch shape, and draws them with a Normal distribution object.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        drawn = torch.distributions.Normal(0.0, 1.0).sample((num_queries, d_model))
        self.queries = nn.Parameter(drawn)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        ones = image_tokens.new_ones(*image_tokens.shape[:-2], 1, 1)
        queries = ones * self.queries
        seen, weights = self.cross_attn(queries, context=image_tokens)
        return self.norm(seen + queries), weights
