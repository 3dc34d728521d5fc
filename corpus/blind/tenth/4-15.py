# %% [wrong] text_in_front | The words stand in front and the image behind them. The text says image first; tokens and weights come back in another order.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[T:, :T] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(torch.cat([text_tokens, image_tokens], dim=-2), mask=allowed)

# %% [wrong] corners_exchanged | The corner that becomes False is the one in which words ask and patches answer. Rows ask: patches should see no words, and words all patches; here the words cannot see the image at all.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        full = torch.ones((S + T, S + T), dtype=torch.bool, device=text_tokens.device)
        full[S:, :S] = False
        if mask is not None:
            full[S:, S:] = mask
        sequence = torch.cat([image_tokens, text_tokens], -2)
        return self.self_attn(sequence, mask=full)

# %% [wrong] one_causal_mask_over_everything | One causal mask lies over the whole sequence, as LLaVA does it, and mask is not used. Patches should see all patches, and the words as the mask says (without one, all words).
class ConcatenatedAttention(nn.Module):
    """LLaVA style."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, tokens, causal_mask(tokens.shape[-2], tokens.device))

# %% [wrong] without_a_mask_everything_is_open | Where no mask is given, none is handed to the self-attention, so patches see the words too. The image must not depend on the question, whether there is a mask for the words or not.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        if mask is None:
            return self.self_attn(sequence)
        S, T = image_tokens.shape[-2], mask.shape[-1]
        top = torch.cat([mask.new_ones(S, S), mask.new_zeros(S, T)], dim=1)
        bottom = torch.cat([mask.new_ones(T, S), mask], dim=1)
        return self.self_attn(sequence, mask=torch.cat([top, bottom]))

# %% [wrong] residual_added | The sequence is added to what the attention returns. The text says that there is no residual here, the block has it; so it would be added twice.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def build_mask(self, S, T, mask, device):
        allowed = torch.zeros(S + T, S + T, dtype=torch.bool, device=device)
        allowed[:, :S] = True
        allowed[S:, S:] = True if mask is None else mask
        return allowed

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        x = torch.cat([image_tokens, text_tokens], dim=-2)
        out, weights = self.self_attn(x, mask=self.build_mask(S, T, mask, x.device))
        return x + out, weights

# %% [right] mask_padded_by_f_pad | The mask of the words (ones, where none is given) is padded: True to the left for the patches, then False above, and the columns of the patches opened with an "or".
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        patches, words = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = text_tokens.new_ones(words, words).bool()
        among_words = F.pad(mask.to(torch.uint8), (patches, 0, patches, 0)).bool()
        to_patch = torch.arange(patches + words, device=text_tokens.device) < patches
        sequence = torch.cat((image_tokens, text_tokens), dim=-2)
        return self.self_attn(sequence, context=None, mask=among_words | to_patch)
