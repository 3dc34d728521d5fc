# %% [wrong] gate_without_tanh | The gate itself multiplies what is seen, without tanh: the same at 0, but 0.5 lets in 0.5 and not 0.462, and the gate has no bounds
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights

# %% [wrong] sigmoid | The gate goes through a sigmoid, as in an LSTM, which is 0.5 at 0: the door begins half open instead of closed
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        looked_at, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.sigmoid(self.gate) * looked_at, weights

# %% [wrong] all_through_the_gate | The gate multiplies the sum of text and what is seen: while it is closed the tokens become zeros instead of staying
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.tanh(self.gate) * (text_tokens + seen), weights

# %% [wrong] image_normalised | The image tokens go through the norm as well, although they are to be taken as they come
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        query, context = self.norm(text_tokens), self.norm(image_tokens)
        out, attn = self.cross_attn(query, context)
        return text_tokens + self.gate.tanh() * out, attn

# %% [wrong] weights_gated | The weights are multiplied by tanh(gate), too, so they come back as zeros while the gate is closed; they are to come back as the cross-attention gives them
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

# %% [wrong] gate_for_each_number | The gate has the shape (d_model,), one number for each dimension as in layer scale, instead of (1,)
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [right] addcmul | torch.addcmul with the gate's tanh
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights
