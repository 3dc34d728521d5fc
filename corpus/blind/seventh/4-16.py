# %% [wrong] tanh_of_the_product | tanh is taken of gate · seen and not of the gate alone; both are 0 at first, but with an open gate what was seen is bent and never larger than 1.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate * seen), weights

# %% [wrong] added_to_the_norm | What was seen is added to the normalised text and not to the text itself; even with the gate closed the layer changes the words.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        x = self.norm(text_tokens)
        seen, weights = self.cross_attn(x, image_tokens)
        return x + self.gate.tanh() * seen, weights

# %% [wrong] a_gate_for_each_dimension | The gate has the shape (d_model,), one number for each dimension, as layer scale has; one learned number of shape (1,) is asked for.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        looked, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * looked, weights

# %% [wrong] gate_as_a_plain_number | float(self.gate) makes a Python number of the parameter, so no gradient reaches the gate, and it stays closed for ever.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opening = float(np.tanh(float(self.gate)))
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + opening * seen, weights

# %% [wrong] gated_map | The weights are multiplied by tanh(gate) as well, so the map is all zeros while the gate is closed; they should come back as the cross-attention gives them.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        g = torch.tanh(self.gate)
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + g * seen, g * weights

# %% [wrong] faded_over | The text is multiplied by 1 − tanh(gate) while the image is let in, so an open gate takes the words away; the text should stay whole, and what was seen is added.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.lerp(text_tokens, seen, self.gate.tanh()), weights

# %% [right] addcmul | tokens plus gate times seen in one call
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights
