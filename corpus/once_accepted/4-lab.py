# Wrong answers that once passed: a largest score that is 0 at least, an axis for the heads that is counted from the front,
# queries from another distribution.

# %% exercise="4.6" wrong="the largest score is 0 at least"
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores - scores.amax(-1, keepdim=True).clamp(min=0)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% exercise="4.12" wrong="the mask's axis for heads is counted from the front"
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(1)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value


# %% exercise="4.17" wrong="queries drawn between 0 and 1"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights


# %% exercise="4.17" wrong="queries drawn between −1 and 1"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(2 * torch.rand(num_queries, d_model) - 1)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
