# %% [wrong] no_residual | the summary is norm(seen) and not norm(queries + seen): the queries themselves are not added
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

# %% [wrong] alike_from_the_start | the queries begin at zeros and not at random: all are alike, get the same gradient and stay alike for ever
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [wrong] norm_before_the_sum | the norm is laid on what was seen alone and the queries are added afterwards: queries + norm(seen) in place of norm(queries + seen)
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return queries + self.norm(seen), weights

# %% [wrong] image_asks_the_queries | the image's tokens ask and the queries answer: the "summary" norm(image + seen) is S tokens long and not K, and the weights are (..., H, S, K)
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

# %% [wrong] one_batch_axis | unsqueeze(0).expand(len(image_tokens), …) makes exactly one batch axis: without a batch, S is taken for it, and with two the shapes do not fit
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        B = len(image_tokens)
        q = self.queries.unsqueeze(0).expand(B, -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [wrong] drawn_at_every_call | forward draws new random queries at each call, and self.queries is never used: nothing is learned, and the same image gives another summary each time
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        K, d = self.queries.shape
        q = torch.randn(*image_tokens.shape[:-2], K, d, device=image_tokens.device)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [right] broadcast_to | nn.init draws the queries in place, and torch.broadcast_to gives them the batch dimensions of the image
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        asking = torch.broadcast_to(self.queries, (*lead, *self.queries.shape))
        seen, weights = self.cross_attn(asking, context=image_tokens)
        return self.norm(asking + seen), weights
