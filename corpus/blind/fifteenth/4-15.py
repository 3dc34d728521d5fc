# %% [wrong] one_causal_mask_over_everything | The whole sequence gets a causal mask, so that a patch sees only the patches before it. Here an image is there at once: patches see all patches, and no word.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = causal_mask(S + T, text_tokens.device)
        allowed[S:, S:] = True if mask is None else mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)


# %% [wrong] without_a_mask_patches_see_words | Without a mask for the words no mask is used at all, and the patches see the words. A missing mask only means that all words see all words; the patches must never see a word.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        if mask is None:
            return self.self_attn(both)
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        patches_ask = torch.cat([mask.new_ones(S, S), mask.new_zeros(S, T)], dim=1)
        words_ask = torch.cat([mask.new_ones(T, S), mask], dim=1)
        return self.self_attn(both, mask=torch.cat([patches_ask, words_ask], dim=0))
