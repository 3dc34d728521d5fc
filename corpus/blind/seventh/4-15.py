# %% [wrong] no_mask_no_corner | Without a mask of the words the self-attention runs without any, so the patches see the words; this corner must be closed in every case.
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
        S, n = image_tokens.shape[-2], both.shape[-2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=both.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = mask
        return self.self_attn(both, mask=allowed)

# %% [wrong] mask_in_the_image_corner | The mask of the words is written into the first T rows and columns, where the image stands; it belongs behind it, into [S:, S:].
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [wrong] words_always_look_back | The words always get a causal mask, and the mask that is handed in is not used; without one all words should see all words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S = image_tokens.shape[-2]
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = causal_mask(sequence.shape[-2], sequence.device)
        allowed[:S, :S] = True  # the image is there at once
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] only_the_words_come_back | The rows of the image are cut off from tokens and weights; all S + T are asked for, the image's first.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        output, weights = self.self_attn(both, mask=allowed)
        return output[..., S:, :], weights[..., S:, :]

# %% [wrong] cat_along_axis_one | The tokens are joined along axis 1, which is the width for tokens without a batch, (S, d_model), and a batch axis for tokens with two of them; it should be dim=-2.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        sequence = torch.cat([image_tokens, text_tokens], dim=1)
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        words = torch.ones(T, T, dtype=torch.bool, device=sequence.device) if mask is None else mask
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=sequence.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = words
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] two_separate_worlds | block_diag leaves both corners between image and words False, so the words see no patch at all; words must see all patches, only the patches see no word.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        of_words = torch.ones(T, T, device=text_tokens.device) if mask is None else mask.float()
        of_image = torch.ones(S, S, device=text_tokens.device)
        allowed = torch.block_diag(of_image, of_words) > 0
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, mask=allowed)

# %% [right] four_corners_put_together | the four corners of the table are made by name and joined, rows of the image above rows of the words
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S, device = text_tokens.shape[-2], image_tokens.shape[-2], text_tokens.device

        def corner(rows: int, columns: int, sees: bool) -> Tensor:
            return torch.full((rows, columns), sees, dtype=torch.bool, device=device)

        among_words = corner(T, T, True) if mask is None else mask
        patches_ask = torch.cat([corner(S, S, True), corner(S, T, False)], dim=1)
        words_ask = torch.cat([corner(T, S, True), among_words], dim=1)
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=torch.cat([patches_ask, words_ask]))
