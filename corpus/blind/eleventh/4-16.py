# %% [wrong] image_normed_too | The image tokens go through the norm as well. The norm is for the text, and the image tokens are taken as they come; weights and output differ wherever these are not normed already.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), self.norm(image_tokens))
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] residual_of_the_normed_text | The text is overwritten by its normed form, and what was seen is added to that. The residual should be the text before the norm; with a closed gate the layer must change nothing, and here it norms the text.
class GatedCrossAttention(nn.Module):
    """Words ask the image; tanh(gate) lets in what they see, and begins at 0."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        x = self.norm(text_tokens)
        seen, weights = self.cross_attn(x, image_tokens)
        x = x + self.gate.tanh() * seen
        return x, weights

# %% [wrong] gate_as_a_python_number | The tanh is Python's, of self.gate.item(). That is a plain number and no tensor, so the output is right, but no gradient reaches the gate: it can never learn, and the door stays closed for ever.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        opening = float(np.tanh(self.gate.item()))
        return text_tokens + opening * seen, weights

# %% [wrong] gate_without_an_axis | The gate is made of torch.tensor(0.0), a number of shape (). It works alike, but the text asks for shape (1,).
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.gate = nn.Parameter(torch.tensor(0.0))
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        out, w = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * out, w

# %% [wrong] sigmoid_as_in_an_lstm | The gate goes through a sigmoid. sigmoid(0) is 0.5, so the door begins half open and the new layer's noise comes in from the first step; tanh(0) is 0.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Words ask, patches answer, the gate decides how much comes in."""
        normed = self.norm(text_tokens)
        seen, weights = self.cross_attn(normed, image_tokens)
        g = torch.sigmoid(self.gate)
        return text_tokens + g * seen, weights

# %% [right] registered_and_addcmul | The parameter is registered by name and filled by nn.init.zeros_, and torch.addcmul adds the gated part to the residual.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.register_parameter("gate", nn.Parameter(torch.empty(1)))
        nn.init.zeros_(self.gate)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        brought, where = self.cross_attn.forward(self.norm(text_tokens), context=image_tokens)
        return torch.addcmul(text_tokens, brought, torch.tanh(self.gate)), where
