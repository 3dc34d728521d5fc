# %% [wrong] asking_queries_are_cut_off | The queries go into the attention as .data, so no gradient tells them what to ask for; they learn only through the sum with what is seen. The parameter itself must be expanded and handed on.
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        asking = self.queries.data.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(asking, image_tokens)
        return self.norm(self.queries + seen), weights


# %% [wrong] norm_before_the_sum | Only what is seen is normalised, and the queries are added afterwards. The norm stands outside: norm(queries + seen).
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.normal_(self.queries)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        lead = image_tokens.shape[:-2]
        queries = self.queries.expand(lead + self.queries.shape)
        seen, weights = self.cross_attn(queries, image_tokens)
        summary = queries + self.norm(seen)
        return summary, weights
