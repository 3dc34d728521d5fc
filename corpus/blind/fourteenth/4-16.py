# %% [wrong] residual_from_the_normed_text | What is seen is added to the normalised text and not to the text itself, so even a closed gate changes the tokens.
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        text = self.norm(text_tokens)
        seen, weights = self.cross_attn(text, image_tokens)
        return text + self.gate.tanh() * seen, weights
