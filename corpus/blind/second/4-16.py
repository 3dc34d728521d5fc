# %% [right] addcmul | right
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.full((1,), 0.0))
        self.add_module("norm", nn.LayerNorm(normalized_shape=d_model))
        self.add_module("cross_attn", MultiHeadAttention(d_model=d_model, num_heads=num_heads))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights

# %% [wrong] sigmoid | The gate goes through a sigmoid instead of tanh, so it is half open at 0.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.sigmoid(self.gate) * seen, weights

# %% [wrong] no_tanh | The gate itself is the factor; the tanh is missing.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights

# %% [wrong] open_at_first | The gate begins at 1 instead of 0.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.ones(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] image_normed | The image tokens are normalised too, though they should be taken as they come.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), self.norm(image_tokens))
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] residual_from_normed | What is seen is added to the normalised text instead of the text itself.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text = self.norm(text_tokens)
        seen, weights = self.cross_attn(text, image_tokens)
        return text + torch.tanh(self.gate) * seen, weights

# %% [wrong] plain_tensor_gate | The gate is a plain tensor and not an nn.Parameter, so it is never trained.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = torch.zeros(1)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] no_residual | The residual is missing: only what was seen, times the gate, is returned.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.tanh(self.gate) * seen, weights

# %% [wrong] weights_gated | The weights are multiplied by the gate as well.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, torch.tanh(self.gate) * weights

# %% [wrong] mixture | A mixture (1 - g) * text + g * seen is returned instead of an addition, so an open gate shuts out the text.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        g = torch.tanh(self.gate)
        return (1 - g) * text_tokens + g * seen, weights

# %% [wrong] no_norm | The text is not normalised before it asks: self.norm is built but never used.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] scalar_gate | The gate has the shape () instead of (1,).
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor(0.0))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
