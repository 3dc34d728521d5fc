# %% [wrong] gate_without_tanh | Multiplies by the gate itself; the tanh is missing.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights

# %% [wrong] sigmoid_gate | Takes a sigmoid for the gate, which is ½ at 0: the door begins half open.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(1))
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        output, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, self.gate.sigmoid(), output), weights

# %% [wrong] blend | Blends the text with what is seen, (1 − tanh g) · text + tanh g · seen: an open gate lets the text disappear.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.lerp(text_tokens, seen, self.gate.tanh()), weights

# %% [wrong] image_normalised | Puts the image tokens through the norm as well; they are to be taken as they come.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text, image = (self.norm(side) for side in (text_tokens, image_tokens))
        seen, weights = self.cross_attn(text, image)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] gated_weights | Multiplies the weights that it returns by the gate, too; they should come back as the attention gives them.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opening = torch.tanh(self.gate)
        seen, weights = (opening * one for one in self.cross_attn(self.norm(text_tokens), image_tokens))
        return text_tokens + seen, weights

# %% [wrong] residual_normalised | Adds what is seen to the normalised text in place of the text itself: with a closed gate the tokens change.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, context=image_tokens)
        return text_tokens + self.gate.tanh() * seen, weights

# %% [right] gate_through_exponentials | Writes tanh as 1 − 2 / (e^2g + 1), and registers the parameter by name.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=d_model)
        self.cross_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)
        self.register_parameter("gate", nn.Parameter(torch.tensor([0.0])))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        openness = 1 - 2 / (torch.exp(2 * self.gate) + 1)
        result = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + openness * result[0], result[1]
