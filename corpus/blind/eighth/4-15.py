# %% [wrong] two_closed_rooms | torch.block_diag leaves two rooms, so words see words and patches see patches alone; words should see all patches. The image never reaches the text.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        words = torch.ones(T, T, device=text_tokens.device) if mask is None else mask.float()
        patches = torch.ones(S, S, device=text_tokens.device)
        allowed = torch.block_diag(patches, words).bool()
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [wrong] no_mask_means_no_rule | Where no mask is given, all tokens see all; patches should see no words in any case. The image depends on the question.
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
        S, n = image_tokens.shape[-2], sequence.shape[-2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=sequence.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = mask
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] causal_over_everything | One causal mask lies over the whole sequence, as in LLaVA, and the mask that is handed in is not used; patches should see all patches, and words as the mask says.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, mask=causal_mask(both.shape[-2], both.device))

# %% [wrong] words_handed_back_alone | Only the words' part of the tokens is returned, (..., T, d_model); it should be all S + T, the image's first.
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
        return tokens[..., S:, :], weights

# %% [wrong] mask_in_the_upper_corner | The mask of the words is put into the upper left corner, [:T, :T], where the patches are; it belongs into the lower right one, [S:, S:]. The first T patches look causally, and the words see the words after them.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=image_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=allowed)

# %% [wrong] len_counts_the_batch | S and T are taken with len, which counts the first axis; it should be the last but one. Right without a batch; with one S = T = B, and the mask does not fit the sequence, or is cut in the wrong place.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = len(image_tokens), len(text_tokens)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [right] two_rows_of_corners | The mask is built of its four corners: two rows, each put together from left to right.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]

        def corner(asking: int, asked: int, open_: bool) -> Tensor:
            return torch.full((asking, asked), open_, dtype=torch.bool, device=text_tokens.device)

        patches_ask = torch.cat([corner(S, S, True), corner(S, T, False)], dim=1)
        words_ask = torch.cat([corner(T, S, True), corner(T, T, True) if mask is None else mask], dim=1)
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=torch.cat([patches_ask, words_ask]))
