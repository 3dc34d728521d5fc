# %% [wrong] without_the_queries_themselves | The summary is norm(seen); it should be norm(queries + seen). The residual is missing.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(seen), weights

# %% [wrong] norm_of_what_is_seen | The norm is taken of what is seen, and the queries are added afterwards; it should be the norm of the sum. The summary does not have mean 0 and variance 1.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asks = self.queries.expand(*image_tokens.shape[:-2], *self.queries.shape)
        seen, weights = self.cross_attn(asks, image_tokens)
        return asks + self.norm(seen), weights

# %% [wrong] exactly_one_batch_axis | The queries are expanded to (len(image_tokens), K, d_model), which holds for one batch axis alone; there may be none, or several. For a single image (S, d_model) they become a batch of S, and the shapes do not fit.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.unsqueeze(0).expand(len(image_tokens), -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] an_embedding_layer | .queries is an nn.Embedding; it should be an nn.Parameter of shape (num_queries, d_model). The parameter is called queries.weight, and layer.queries has no data and no shape.
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

# %% [wrong] drawn_anew_each_time | The queries are overwritten with new random numbers in every forward; they should be drawn once, in __init__, and learned. The same image gets another summary each time, and what is learned is lost.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        nn.init.normal_(self.queries)
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] the_image_asks | The image is handed over as tokens and the queries as context; the queries should ask, and the image answer. The weights are (..., H, S, K), and the summary has S tokens in place of K.
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

# %% [right] broadcast_to_the_image | The queries are drawn by nn.init and brought to the image's leading axes with broadcast_to.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(nn.init.normal_(torch.empty(num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        queries = torch.broadcast_to(self.queries, (*lead, *self.queries.shape))
        seen, weights = self.cross_attn(tokens=queries, context=image_tokens)
        return self.norm(queries + seen), weights
