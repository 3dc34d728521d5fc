# %% [wrong] sigmoid_gate | the gate goes through a sigmoid and not through tanh: at 0 it is half open (0.5), so the new layer speaks from the start
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.sigmoid(self.gate) * seen, weights

# %% [wrong] gate_as_it_is | the gate multiplies without tanh, so it is not kept between −1 and 1: a gate of 1 lets in 1 in place of 0.762
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights

# %% [wrong] gate_of_dimensions | the gate has d_model numbers, one for each dimension (as a layer scale), and not the shape (1,)
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        looked, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * looked, weights

# %% [wrong] mixture | the gate mixes: (1 − tanh g) · text + tanh g · seen; the tokens should stay whole, and what was seen be added to them
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        g = torch.tanh(self.gate)
        new, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return (1 - g) * text_tokens + g * new, weights

# %% [wrong] gated_weights | the weights are multiplied by the gate as well before they are returned, so they are 0 at the start; they should come back as the cross-attention gives them
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opened = torch.tanh(self.gate)
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + opened * seen, opened * weights

# %% [wrong] plain_number | the gate is a buffer and not an nn.Parameter: it begins at 0 and never learns, so the door stays closed
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.register_buffer("gate", torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * seen, weights

# %% [right] addcmul | the gate is initialised in place, and torch.addcmul does the gated addition in one call
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.empty(1))
        nn.init.zeros_(self.gate)
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights
