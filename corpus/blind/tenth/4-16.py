# %% [wrong] gate_is_a_plain_tensor | The gate is a plain tensor, torch.zeros(1), and no nn.Parameter. The optimizer never finds it, so the door stays closed for ever.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = torch.zeros(1, requires_grad=True)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights

# %% [wrong] sigmoid_for_the_gate | The gate goes through a sigmoid, as in an LSTM. sigmoid(0) is 0.5, so the door begins half open; tanh(0) = 0 is asked for.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        x = self.norm(text_tokens)
        seen, weights = self.cross_attn(x, image_tokens)
        return text_tokens + self.gate.sigmoid() * seen, weights

# %% [wrong] residual_of_the_normed_text | The variable is overwritten by its norm, and what was seen is added to that. With the gate closed the tokens come back normalised and not as they were; the model does not begin as good as it was.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text_tokens = self.norm(text_tokens)
        seen, weights = self.cross_attn(text_tokens, image_tokens)
        text_tokens = text_tokens + torch.tanh(self.gate) * seen
        return text_tokens, weights

# %% [wrong] image_normed_as_well | The image tokens go through the norm, too. They are to be taken as they come; weights and output differ.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.gate = nn.Parameter(torch.tensor([0.0]))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(*map(self.norm, (text_tokens, image_tokens)))
        return torch.addcmul(text_tokens, self.gate.tanh(), seen), weights

# %% [wrong] gate_closed_at_every_call | The gate's data is set to 0 in forward, "so that it begins closed". Training moves it, and the next call closes it again; it may begin at 0 only once, in __init__.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.empty(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        nn.init.zeros_(self.gate)
        out, attn = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + self.gate.tanh() * out, attn

# %% [right] registered_parameter_and_lerp | The gate is made by register_parameter, and torch.lerp goes from the tokens towards tokens plus what was seen.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("norm", nn.LayerNorm(d_model))
        self.add_module("cross_attn", MultiHeadAttention(d_model, num_heads))
        self.register_parameter("gate", nn.Parameter(torch.full((1,), 0.0)))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        answer = self.cross_attn(self.norm(text_tokens), context=image_tokens)
        opened = self.gate.tanh()
        return torch.lerp(text_tokens, text_tokens + answer[0], opened), answer[1]
