# %% [wrong] queries_as_embedding | .queries is an nn.Embedding (copied from lesson 3's summary) and not an nn.Parameter of shape (num_queries, d_model): code that reads or fills layer.queries finds a module, and the name in the state dict is another
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Embedding(num_queries, d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.weight.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% [wrong] residual_behind_the_norm | only what was seen is normalised, and the queries are added afterwards: queries + norm(seen) instead of norm(queries + seen), so the summary has no common scale
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = torch.broadcast_to(self.queries, image_tokens.shape[:-2] + self.queries.shape)
        seen, weights = self.cross_attn(asking, image_tokens)
        return asking + self.norm(seen), weights


# %% [wrong] exactly_one_batch_axis | repeats the queries shape[0] times as if there always were one batch axis: a single image (S, d_model) gets S copies of the queries and fails, and two axes in front do not fit either
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        B = image_tokens.shape[0]
        q = self.queries.unsqueeze(0).repeat(B, 1, 1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights


# %% [wrong] uniform_start | the queries are drawn with torch.rand, uniformly from 0 to 1, not from a normal distribution: all have the same sign and nearly the same direction, so they begin almost alike
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_queries = num_queries
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.reset()

    @torch.no_grad()
    def reset(self):
        self.queries.copy_(torch.rand(self.queries.shape))

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        queries = self.queries.expand(*lead, *self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% [wrong] image_normalised_first | the norm stands in front of the attention, on the image tokens, and the sum is handed on as it is: both the maps and the summary differ from norm(queries + seen)
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.queries = nn.Parameter(torch.normal(0.0, 1.0, (num_queries, d_model)))

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        image = self.norm(image_tokens)
        queries = self.queries + torch.zeros_like(image[..., :1, :])  # broadcast over the batch
        seen, weights = self.cross_attn(queries, image)
        return queries.add(seen), weights


# %% [right] zeros_carry_the_batch | normal start by init.normal_; the batch comes from an einsum with ones, not from expand
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        ones = torch.ones_like(image_tokens[..., 0, 0])  # (...)
        asking = torch.einsum("...,kd->...kd", ones, self.queries)
        seen, weights = self.cross_attn(asking, context=image_tokens)
        return self.norm(seen + asking), weights
