# %% [wrong] gate_without_tanh | What is seen is multiplied by the gate itself and not by its tanh.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights


# %% [wrong] half_open_door | A sigmoid in place of tanh: at a gate of 0 the door is half open.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        out, w = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.sigmoid(self.gate) * out, w


# %% [wrong] tanh_inside | The tanh is taken of gate times seen, and not of the gate alone.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        tokens = text_tokens + torch.tanh(self.gate * seen)
        return tokens, weights


# %% [wrong] residual_from_the_norm | What is seen is added to the normalised text: even with the gate closed the tokens are changed.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        x = self.norm(text_tokens)
        seen, weights = self.cross_attn(x, image_tokens)
        return x + self.gate.tanh() * seen, weights


# %% [wrong] gated_weights | The weights that come back are multiplied by the gate too; they are to be as the cross-attention gives them.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        g = torch.tanh(self.gate)
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + g * seen, g * weights


# %% [wrong] gate_nobody_learns | The gate is a plain tensor and no `nn.Parameter`: no optimizer finds it, and the door stays closed for ever.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = torch.zeros(1)

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights


# %% [right] addcmul_gate | Adds gate times seen with `torch.addcmul`, and makes the gate with `new_zeros` of a weight.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.register_parameter("gate", nn.Parameter(self.norm.weight.detach().new_zeros(1)))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, seen, self.gate.tanh()), weights
