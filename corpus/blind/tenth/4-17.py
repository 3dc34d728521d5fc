# %% [wrong] queries_begin_alike | One vector is drawn and repeated for all queries. They then get the same gradient and stay alike for ever; each of them is to be drawn from a normal distribution.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, d_model).repeat(num_queries, 1))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        q = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(q, image_tokens)
        return self.norm(q + seen), weights

# %% [wrong] norm_before_the_sum | Only what was seen is normalised, and the queries are added to it. The summary is norm(queries + seen).
class LearnedQueries(nn.Module):
    def __init__(self, num_queries, d_model, num_heads):
        super().__init__()
        self.queries = nn.Parameter(torch.normal(0.0, 1.0, (num_queries, d_model)))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        lead = image_tokens.shape[:-2]
        queries = self.queries.expand(*lead, *self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        return queries + self.norm(seen), weights

# %% [wrong] repeated_for_a_batch_of_one_axis | The queries are repeated B times, with B the first axis of the image tokens. For a single image (S, d_model) B is the number of patches, and with two leading axes it crashes; the text writes (..., S, d_model).
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        B = image_tokens.shape[0]
        queries = self.queries.unsqueeze(0).repeat(B, 1, 1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights

# %% [wrong] patches_ask_the_queries | Tokens and context are exchanged: the patches ask and the queries answer. The summary then has S tokens and not K, and is no summary.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model).normal_())
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asked = self.queries.expand(image_tokens.shape[:-2] + self.queries.shape)
        seen, weights = self.cross_attn(image_tokens, asked)
        return self.norm(image_tokens + seen), weights

# %% [wrong] uniform_queries | The queries are drawn with torch.rand, evenly between 0 and 1. A normal distribution is asked for; here all numbers are positive, and the queries are much alike.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model), requires_grad=True)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        K, d = self.queries.shape
        tokens = self.queries.broadcast_to(*image_tokens.shape[:-2], K, d)
        found, weights = self.cross_attn(tokens, context=image_tokens)
        return self.norm(tokens + found), weights

# %% [right] queries_filled_by_init_normal | The parameter is empty at first and filled by nn.init.normal_; batches are flattened to one axis before the layer and restored afterwards.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.normal_(self.queries)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        images = image_tokens.reshape(-1, *image_tokens.shape[-2:])
        asking = torch.stack([self.queries] * len(images))
        seen, weights = self.cross_attn(asking, images)
        summary = self.norm(torch.add(seen, asking))
        return summary.reshape(*lead, *summary.shape[1:]), weights.reshape(*lead, *weights.shape[1:])
