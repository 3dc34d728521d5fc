# %% [wrong] norm_before_the_addition | What is seen is normalised alone and then added to the queries; the norm should be over the sum of both.
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
