# %% [wrong] gate_without_tanh | The gate is multiplied without tanh.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate * seen, weights
# %% [wrong] sigmoid_gate | A sigmoid stands in the place of tanh: at 0 it is half open.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.sigmoid(self.gate) * seen, weights
# %% [wrong] gate_begins_at_1 | The gate begins at 1, so the layer adds its noise from the start.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.ones(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] gate_is_no_parameter | The gate is a plain tensor, no nn.Parameter, so it never learns.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = torch.zeros(1, requires_grad=True)

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] no_residual | The words themselves are not added: only what they saw comes back, through the gate.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.tanh(self.gate) * seen, weights
# %% [wrong] residual_of_the_normed | What was seen is added to the normed words, where it belongs to the words as they came.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] norm_not_used | The norm is made and never used: the words ask as they came.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] image_normed_too | The image tokens go through the norm as well; they are to be taken as they come.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), self.norm(image_tokens))
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] weights_gated | The weights are multiplied by the gate, too, and are all 0 at first.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        door = torch.tanh(self.gate)
        return text_tokens + door * seen, door * weights
# %% [wrong] image_asks | The roles are exchanged: the image asks and the words answer.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(image_tokens, self.norm(text_tokens))
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [wrong] gate_per_dimension | The gate has one number for each dimension, (d_model,), where one number is asked for.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights
# %% [right] addcmul | Registers the gate by name, and adds with torch.addcmul.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(normalized_shape=d_model)
        self.register_parameter("gate", nn.Parameter(torch.tensor([0.0])))

    def forward(self, text_tokens, image_tokens):
        result = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, result[0], self.gate.tanh()), result[1]
# %% [right] tanh_by_exponentials | Writes tanh with a sigmoid of the double, and lerps from the words to words plus what was seen.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.empty(1))
        nn.init.zeros_(self.gate)
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        open_by = 2 * torch.sigmoid(2 * self.gate) - 1
        return torch.lerp(text_tokens, text_tokens + seen, open_by), weights
