# %% [wrong] tanh_of_the_product | The tanh is taken of gate · seen; it should be taken of the gate alone, tanh(gate) · seen. Closed it is right; open, what is seen is squeezed into −1 … 1.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate * seen), weights

# %% [wrong] the_door_is_measured_once | tanh(gate) is computed once in __init__ and kept; it should be computed in each forward. The door stays closed for ever, whatever the gate becomes.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))
        self.opening = torch.tanh(self.gate).item()

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.opening * seen, weights

# %% [wrong] residual_of_the_norm | What is seen is added to the normalised text; it should be added to the text itself. A closed gate already changes the tokens.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        return text_tokens + self.gate.tanh() * seen, weights

# %% [wrong] image_normalised_too | The image tokens go through the text's norm as well; they should be taken as they come. The weights, and what is seen, are others.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text, image = map(self.norm, (text_tokens, image_tokens))
        seen, weights = self.cross_attn(text, image)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] the_map_through_the_gate | The weights are multiplied by tanh(gate) as well; they should come back as the cross-attention gives them. With a closed gate the map is all zeros.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opened = torch.tanh(self.gate)
        seen, weights = (opened * part for part in self.cross_attn(self.norm(text_tokens), image_tokens))
        return text_tokens + seen, weights

# %% [wrong] a_gate_for_each_dimension | The gate has d_model numbers; it should be one, of shape (1,). The layer has d_model − 1 parameters too many, and a gate of shape (1,) cannot be loaded into it.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [right] addcmul_through_the_door | The gate begins empty and is set to zero by nn.init; residual and gate are one torch.addcmul.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.empty(1))
        nn.init.zeros_(self.gate)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights
