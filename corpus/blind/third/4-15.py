# %% [wrong] text_in_front | The words stand in front of the image in the sequence, and the mask is built for that order.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(T + S, T + S, dtype=torch.bool, device=text_tokens.device)
        allowed[T:, :T] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(torch.cat([text_tokens, image_tokens], dim=-2), mask=allowed)

# %% [wrong] other_corner_closed | Closes the corner in which words ask and patches answer; the patches see the question and the words no image.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, n = image_tokens.shape[-2], image_tokens.shape[-2] + text_tokens.shape[-2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=text_tokens.device)
        allowed[S:, :S] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [wrong] causal_over_everything | Lays one causal mask over the whole sequence, as LLaVA does: a patch sees only the patches before it, and the words' own mask is not heard.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        sequence = torch.cat((image_tokens, text_tokens), dim=-2)
        return self.self_attn(sequence, None, causal_mask(sequence.shape[-2], sequence.device))

# %% [wrong] causal_by_default | Where no mask is given, the words get a causal one; without one all words see all words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = causal_mask(T, text_tokens.device)
        may = torch.zeros(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        may[:, :S] = True
        may[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=may)

# %% [wrong] text_alone_returned | Returns only the words' part of the output; the tokens of image and text are asked for.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.size(-2), text_tokens.size(-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=image_tokens.device)
        allowed[:S, S:] = False
        allowed[S:, S:] &= True if mask is None else mask
        tokens, weights = self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)
        return tokens[..., S:, :], weights

# %% [wrong] no_mask_no_corner | Builds the mask only where the words have one; without one the patches see the words.
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
        allowed = F.pad(mask.int(), (S, 0, S, 0), value=1).bool()
        allowed[:S, S:] = False
        return self.self_attn(sequence, mask=allowed)

# %% [right] mask_from_four_blocks | Puts the mask together from its four corners with two cats.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("self_attn", MultiHeadAttention(d_model, num_heads))

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        full = lambda height, width, value: torch.full((height, width), value, device=text_tokens.device)
        among_words = full(T, T, True) if mask is None else mask
        patches_ask = torch.cat([full(S, S, True), full(S, T, False)], dim=1)
        words_ask = torch.cat([full(T, S, True), among_words], dim=1)
        return self.self_attn(
            torch.cat([image_tokens, text_tokens], dim=-2), mask=torch.cat([patches_ask, words_ask], dim=0)
        )
