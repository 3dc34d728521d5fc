# %% [right] expand_over_leading_axes | latents from randn, expanded to the image's leading axes, after mlfoundations/open_flamingo (PerceiverResampler)
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        latents = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(latents, image_tokens)
        latents = seen + latents
        return self.norm(latents), weights


# %% [right] small_normal_and_repeat | normal_ with std 0.02, repeat in place of expand, after salesforce/LAVIS (query_tokens.data.normal_(mean=0.0, std=initializer_range))
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.zeros(num_queries, d_model))
        self.queries.data.normal_(mean=0.0, std=0.02)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        lead = image_tokens.size()[:-2]
        query_tokens = self.queries.repeat(*lead, 1, 1) if lead else self.queries
        query_output = self.cross_attn(query_tokens, image_tokens)
        return self.norm(query_tokens + query_output[0]), query_output[1]


# %% [right] broadcast_to_with_zeros_added | queries broadcast by adding zeros of the image's shape, scaled randn, after DETR like code (tgt = zeros_like(query_embed))
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.queries = nn.Parameter(torch.randn(num_queries, d_model) * d_model**-0.5)

    def forward(self, image_tokens):
        base = image_tokens.new_zeros(*image_tokens.shape[:-2], *self.queries.shape)
        q = base + self.queries
        attended, weights = self.cross_attn(q, image_tokens)
        return self.norm(torch.add(q, attended)), weights


# %% [right] trunc_normal_and_broadcast_to | trunc_normal_, torch.broadcast_to, after QwenLM/Qwen-VL (Resampler, trunc_normal_ std 0.02) (unsure: a truncated normal is asked as normal)
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        nn.init.trunc_normal_(self.queries, std=0.02)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, d_context=d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        q = torch.broadcast_to(self.queries, image_tokens.shape[:-2] + self.queries.shape)
        out = self.cross_attn(q, context=image_tokens)
        return self.norm(out[0] + q), out[1]


# %% [right] unsqueeze_expand_for_flat_batch | leading axes of the image flattened, queries unsqueezed and expanded, everything folded back, after salesforce/LAVIS (query_tokens.expand(image_embeds.shape[0], -1, -1))
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens):
        lead = image_tokens.shape[:-2]
        image_embeds = image_tokens.reshape(-1, *image_tokens.shape[-2:])
        query_tokens = self.queries.unsqueeze(0).expand(image_embeds.shape[0], -1, -1)
        seen, weights = self.cross_attn(query_tokens, image_embeds)
        summary = self.norm(query_tokens + seen)
        return summary.reshape(*lead, *summary.shape[1:]), weights.reshape(*lead, *weights.shape[1:])
