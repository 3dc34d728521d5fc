# %% [wrong] uniform_numbers | The queries are drawn with torch.rand, evenly between 0 and 1, so all are positive and alike in direction; a normal distribution is asked for, torch.randn.
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

# %% [wrong] norm_before_the_sum | Only the queries are normalised, and what was seen is added afterwards: norm(queries) + seen; it should be norm(queries + seen).
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q) + seen, weights

# %% [wrong] batch_from_axis_zero | The queries are expanded to shape[0] copies; for an image without a batch that is the number of patches, and with two batch axes the second one is missing. It should be shape[:-2].
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        B = image_tokens.shape[0]
        queries = self.queries.unsqueeze(0).expand(B, -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] queries_by_their_data | forward reads self.queries.data, which autograd does not follow, so the queries get no gradient and are never learned.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.data.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        summary = self.norm(queries + seen)
        return summary, weights

# %% [wrong] queries_not_added | The summary is norm(seen); the queries themselves are not added, it should be norm(queries + seen).
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

# %% [wrong] image_normalised_first | The image tokens go through self.norm before the queries look at them; the norm is for queries + seen alone, and the image is taken as it comes.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, self.norm(image_tokens))
        return self.norm(queries + seen), weights

# %% [right] broadcast_tensors_for_the_batch | the queries get their batch axes by adding zeros of the image's batch shape, and nn.init draws them
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = self.queries + image_tokens.new_zeros(*image_tokens.shape[:-2], 1, 1)
        seen, weights = self.cross_attn(asking, context=image_tokens)
        return self.norm(asking + seen), weights
