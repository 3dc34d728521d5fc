# %% [wrong] gate_read_as_a_number | The gate goes through math.tanh, which makes a plain number of it. It should be torch.tanh, so that a gradient comes back. All outputs are right, but the gate never learns, and the door stays closed.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        import math

        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + math.tanh(self.gate.item()) * seen, weights

# %% [wrong] tanh_of_what_was_seen | tanh is taken of what the words saw, times the gate. It should be taken of the gate. While the gate is 0 it is the same; later what was seen is squashed, and the gate is not bounded.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.tensor([0.0]))
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        looked, where = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * torch.tanh(looked), where

# %% [wrong] mixes_between_the_two | The gate goes from the text to what was seen: (1 − g) · text + g · seen. The text should stay whole, and what was seen be added. The more the gate opens, the more of the text is lost.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.lerp(text_tokens, seen, self.gate.tanh()), weights

# %% [wrong] gate_is_a_buffer | The gate is registered as a buffer. It should be an nn.Parameter, which the optimizer finds. It is saved and moved along, but stays 0 for ever.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.register_buffer("gate", torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        update, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        update = torch.tanh(self.gate) * update
        return text_tokens + update, weights

# %% [wrong] norm_for_the_image_as_well | The image tokens go through the norm, too. The norm is for the text; image tokens are taken as they come. Weights and what is seen are off.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text, image = map(self.norm, (text_tokens, image_tokens))
        result = self.cross_attn(text, image)
        return torch.addcmul(text_tokens, self.gate.tanh(), result[0]), result[1]

# %% [wrong] weights_behind_the_door | The weights are multiplied with tanh(gate) as well. They should come back as the cross-attention gives them. While the gate is closed the map is all zeros.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros((1,)))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        door = torch.tanh(self.gate)
        seen, weights = (door * part for part in self.cross_attn(self.norm(text_tokens), image_tokens))
        return text_tokens + seen, weights

# %% [right] tanh_by_sigmoid | tanh is written as 2·sigmoid(2g) − 1, and the gated step is added by torch.addcmul.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        parts = {"norm": nn.LayerNorm(d_model), "cross_attn": MultiHeadAttention(d_model, num_heads)}
        for name, part in parts.items():
            setattr(self, name, part)
        self.gate = nn.Parameter(torch.empty(1))
        nn.init.zeros_(self.gate)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opening = 2 * torch.sigmoid(2 * self.gate) - 1
        pair = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, opening.expand_as(text_tokens), pair[0]), pair[1]
