# %% [wrong] drawn_evenly | The queries are drawn by torch.rand, evenly between 0 and 1. The text wants a normal distribution; these are all positive, with a mean of one half, so they begin much alike.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] queries_not_added | The summary is norm(seen): what the queries brought, without the queries themselves. The text has norm(queries + seen).
class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        q = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(seen), weights

# %% [wrong] normed_before_asking | The norm stands before the attention, as in the pre-norm blocks: norm(queries) ask, and queries + seen is returned without a norm. The text norms the sum, and lets the queries ask as they are.
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

# %% [wrong] repeats_by_the_first_axis | The queries are repeated image_tokens.shape[0] times. That is right for a batch (B, S, d_model); a single image (S, d_model) has its patches there and more batch axes are not seen, so it stops with an error or gives a batch where there is none.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, image_tokens):
        B = image_tokens.shape[0]
        queries = self.queries.unsqueeze(0).repeat(B, 1, 1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] queries_with_a_leading_one | The parameter has shape (1, num_queries, d_model), as BLIP-2's query tokens have. The text asks for (num_queries, d_model); all that is computed is right.
class LearnedQueries(nn.Module):
    """K learned queries ask the image."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(1, num_queries, d_model))
        nn.init.normal_(self.queries)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries[0].expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [right] broadcast_onto_zeros | The queries are added to a tensor of zeros with the image's leading axes, drawn by nn.init.normal_, and the sum is normed by F.layer_norm with the layer's own numbers.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        *lead, _, d_model = image_tokens.shape
        asking = image_tokens.new_zeros(*lead, self.queries.shape[0], d_model) + self.queries
        brought, weights = self.cross_attn(asking, image_tokens)
        summary = F.layer_norm(asking + brought, (d_model,), self.norm.weight, self.norm.bias, self.norm.eps)
        return summary, weights
