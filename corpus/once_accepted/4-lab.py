# Wrong answers that once passed: a largest score that is 0 at least, an axis for the heads that is counted from the front,
# queries from another distribution, a list that is emptied, the dtype of the places.

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


# %% exercise="4.1" wrong="the caller's list emptied"
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    rollout = cross_map.mean(-3)
    while self_maps:
        maps = self_maps.pop(0)
        A = maps.mean(-3)
        A_hat = 0.5 * A + 0.5 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        rollout = A_hat @ rollout
    return rollout


# %% exercise="4.10" wrong="the dtype of the places"
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = positions[..., None] * speeds
    c, s = torch.cos(angle), torch.sin(angle)
    first = vectors[..., 0::2] * c - vectors[..., 1::2] * s
    second = vectors[..., 0::2] * s + vectors[..., 1::2] * c
    return torch.stack([first, second], dim=-1).flatten(-2)


# %% exercise="4.1" wrong="a single head halved"
def attention_rollout(self_maps: list[Tensor], cross_map: Tensor) -> Tensor:
    def averaged(maps):
        return maps.squeeze(-3) if maps.shape[-3] == 1 else maps.mean(-3)

    total = averaged(cross_map)
    for maps in self_maps:
        a = averaged(maps)
        a.mul_(0.5)
        a.diagonal(dim1=-2, dim2=-1).add_(0.5)
        total = a @ total
    return total


# %% exercise="4.7" wrong="the encoder thawed"
def image_tokens(encoder: nn.Module, aligner: nn.Module, patches: Tensor) -> Tensor:
    encoder.requires_grad_(False)
    features = encoder(patches)
    encoder.requires_grad_(True)
    return aligner(features.detach())


# %% exercise="4.18" wrong="as many places, another grid"
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    rows, columns = images.shape[-2] // P, images.shape[-1] // P
    flat = images.reshape(-1, *images.shape[-3:])
    tokens = F.linear(F.unfold(flat, P, stride=P).transpose(1, 2), weight.flatten(1), bias)
    own, places = positions[:1], positions[1:]
    if len(places) != rows * columns:
        side = round(len(places) ** 0.5)
        square = places.T.unflatten(1, (side, side)).unsqueeze(0)
        square = F.interpolate(square, size=(rows, columns), mode="bicubic", align_corners=False)
        places = square[0].flatten(1).T
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1) + torch.cat([own, places])
    return tokens.reshape(*images.shape[:-3], *tokens.shape[1:])


# %% exercise="4.7" wrong="without the aligner's bias"
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return features @ aligner.weight.T


# %% exercise="4.16" wrong="nothing is computed while the gate is 0, so it never opens"
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        if self.gate.item() == 0:
            return text_tokens, None
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights


# %% exercise="4.17" wrong="filled with whatever the memory held"
class LearnedQueries(nn.Module):
    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
