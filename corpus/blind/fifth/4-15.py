# %% [wrong] text_in_front | the words stand in front of the image in the sequence, while the mask is made for the image first; the image's tokens should come first
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([text_tokens, image_tokens], dim=-2), mask=allowed)

# %% [wrong] patches_see_words | the corner in which patches ask and words answer stays True; the image should not depend on the question
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones((S + T, S + T), dtype=torch.bool, device=text_tokens.device)
        if mask is not None:
            allowed[S:, S:] = mask
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] other_corner_closed | the corner of words that ask patches ([S:, :S]) is closed in place of that of patches that ask words ([:S, S:]): rows and columns are mixed up, and no word sees the image
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.size(-2), text_tokens.size(-2)
        who = torch.full((S + T, S + T), True, device=image_tokens.device)
        who[S:, :S] = False
        if mask is not None:
            who[S:, S:] = mask
        return self.self_attn(torch.cat((image_tokens, text_tokens), -2), mask=who)

# %% [wrong] causal_over_everything | one causal mask lies over image and text, as in LLaVA, so a patch sees only the patches before it; patches should see all patches
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        n = both.shape[-2]
        return self.self_attn(both, mask=causal_mask(n, both.device))

# %% [wrong] words_alone_returned | only the words' part of the tokens and of the weights is returned; the whole sequence is asked, (S + T), the image's first
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        tokens, weights = self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)
        return tokens[..., S:, :], weights[..., S:, :]

# %% [wrong] no_mask_no_corner | without a mask of the words no mask at all is used, so patches see the words then; only the words' own corner should be open without one
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        if mask is None:
            return self.self_attn(sequence)
        S = image_tokens.shape[-2]
        n = sequence.shape[-2]
        full = torch.ones(n, n, dtype=torch.bool, device=mask.device)
        full[:S, S:] = False
        full[S:, S:] = mask
        return self.self_attn(sequence, mask=full)

# %% [right] four_corners_joined | the four corners are made one by one and joined with cat, first within the rows, then the two rows
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        yes = torch.ones(max(S, T), max(S, T), dtype=torch.bool, device=text_tokens.device)
        patches_ask = torch.cat([yes[:S, :S], ~yes[:S, :T]], dim=1)
        words_ask = torch.cat([yes[:T, :S], yes[:T, :T] if mask is None else mask.to(yes.device)], dim=1)
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=torch.cat([patches_ask, words_ask]))
