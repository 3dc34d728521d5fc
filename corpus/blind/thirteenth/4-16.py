# %% [wrong] gate_without_tanh | Multiplies by the gate itself, without the tanh. At 0 it is the same; with an open gate more than 1 can come in.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights


# %% [wrong] plain_tensor_gate | The gate is a plain tensor that requires gradients, and not an nn.Parameter: parameters() does not list it, the optimizer never opens the door, and it is not saved.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super(GatedCrossAttention, self).__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = torch.zeros(1, requires_grad=True)

    def forward(self, text_tokens, image_tokens):
        output, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, torch.tanh(self.gate).to(output.device), output), weights


# %% [wrong] residual_of_the_normed_text | Overwrites the tokens with their norm and adds to that: even with a closed gate the layer does not hand on what came in.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.full((1,), 0.0))

    def forward(self, text_tokens, image_tokens):
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, context=image_tokens)
        text_tokens = text_tokens + self.gate.tanh() * seen
        return text_tokens, weights


# %% [wrong] image_normalised_too | Applies the norm to the image tokens as well. The text takes them as they come.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        parts = {"norm": nn.LayerNorm(d_model), "cross_attn": MultiHeadAttention(d_model, num_heads)}
        for name, part in parts.items():
            self.add_module(name, part)
        self.register_parameter("gate", nn.Parameter(torch.zeros(1)))

    def forward(self, text_tokens, image_tokens):
        asked, answering = map(self.norm, (text_tokens, image_tokens))
        brought, where = self.cross_attn(asked, answering)
        return text_tokens + brought * self.gate.tanh(), where


# %% [wrong] weights_gated_too | Multiplies the weights by tanh(gate) as well. They should come back as the cross-attention gives them; with a closed gate the map is all zeros.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    @property
    def opening(self):
        return torch.tanh(self.gate)

    def forward(self, text_tokens, image_tokens):
        through = tuple(self.opening * part for part in self.cross_attn(self.norm(text_tokens), image_tokens))
        return text_tokens + through[0], through[1]


# %% [right] tanh_by_sigmoid | Writes tanh(g) as 2·sigmoid(2g) − 1, and lets in what was seen with torch.addcmul.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(1))
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opening = 2 * torch.sigmoid(2 * self.gate) - 1
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, opening, seen), weights
