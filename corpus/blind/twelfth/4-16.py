# %% [wrong] skipped_while_closed | returns early while the gate is 0, to save work: then the gate has no gradient and can never open, and there are no weights to return
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        if self.gate.item() == 0:
            return text_tokens, None
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights


# %% [wrong] gate_as_a_python_number | takes the gate out of the graph with .item(): the numbers are right, but the parameter gets no gradient, so the door stays as it is
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.tensor([0.0]))
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        opening = float(np.tanh(self.gate.item()))
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.add(text_tokens, seen, alpha=opening), weights


# %% [wrong] image_normalised | the image tokens go through the text's norm as well; the text says that they are taken as they come, so keys and values are others
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        T = text_tokens.shape[-2]
        both = self.norm(torch.cat([text_tokens, image_tokens], dim=-2))
        seen, weights = self.cross_attn(both[..., :T, :], both[..., T:, :])
        return text_tokens + self.gate.tanh() * seen, weights


# %% [wrong] residual_from_the_norm | adds to the normalised words instead of the words: with a closed gate the layer is not the identity but a LayerNorm
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.register_parameter("gate", nn.Parameter(torch.zeros(1)))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights


# %% [wrong] weights_through_the_gate | multiplies the weights by the gate as well: they come back as zeros while it is closed, where the text wants them as the cross-attention gives them (rows that sum to 1)
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def _through(self, x: Tensor) -> Tensor:
        return torch.tanh(self.gate) * x

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = map(self._through, self.cross_attn(self.norm(text_tokens), image_tokens))
        return text_tokens + seen, weights


# %% [right] tanh_from_sigmoid | tanh(g) written as 2 sigmoid(2g) - 1, and lerp between the words and the words with what they saw
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    @property
    def opening(self) -> Tensor:
        return 2 * torch.sigmoid(2 * self.gate) - 1

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        return text_tokens.addcmul(seen, self.opening.expand_as(seen)), weights
