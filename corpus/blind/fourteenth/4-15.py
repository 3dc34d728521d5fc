# %% [wrong] the_opposite_corner_closed | The corner in which words ask and patches answer is closed, not the one in which patches ask and words answer.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[S:, :S] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)
