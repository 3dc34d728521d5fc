# %% [wrong] tanh_of_the_product | tanh is taken of the gate times what is seen, so it bends every number of the new vector. tanh belongs to the gate alone: tanh(g) · seen.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate * seen), weights


# %% [wrong] normalised_text_handed_on | What is seen is added to the normalised text, so even with a closed gate the words come out changed. The residual is the text as it came; only the cross-attention reads the normalised copy.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros((1,)))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        x = self.norm(text_tokens)
        output, weights = self.cross_attn(x, image_tokens)
        opening = self.gate.tanh()
        x = x + opening * output
        return x, weights
