# %% [right] mask_from_four_blocks | right
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        device = text_tokens.device
        words = torch.ones(T, T, dtype=torch.bool, device=device) if mask is None else mask
        top = F.pad(torch.ones(S, S, dtype=torch.bool, device=device), (0, T), value=False)
        bottom = F.pad(words, (S, 0), value=True)
        everything = torch.cat((image_tokens, text_tokens), dim=-2)
        return self.self_attn(everything, mask=torch.cat((top, bottom)))

# %% [wrong] text_first | The text stands in front of the image in the sequence.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

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
        tokens = torch.cat([text_tokens, image_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] wrong_corner | The wrong corner is closed: words may not see patches, and patches may see words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

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
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] corner_only_with_mask | The patches are kept from the words only when a mask is given; without one patches see words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        if mask is not None:
            allowed[:S, S:] = False
            allowed[S:, S:] = mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] causal_over_all | One causal mask is laid over image and text, so a patch sees only the patches before it.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = causal_mask(S + T, text_tokens.device)
        if mask is not None:
            allowed[S:, S:] = mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] words_always_causal | Without a mask the words are causal instead of seeing all words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = causal_mask(T, text_tokens.device) if mask is None else mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] patches_not_closed | The corner in which patches ask and words answer is left open.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        if mask is not None:
            allowed[S:, S:] = mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] text_part_returned | Only the words' part of the tokens is returned, not the whole sequence.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

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
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        out, weights = self.self_attn(tokens, mask=allowed)
        return out[..., S:, :], weights

# %% [wrong] residual_inside | The sequence is added to the output, although the residual belongs to the block.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

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
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        out, weights = self.self_attn(tokens, mask=allowed)
        return tokens + out, weights

# %% [wrong] s_and_t_swapped | S and T are swapped, so the corners do not fit the sequence unless both are equal.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[-mask.shape[0] :, -mask.shape[1] :] = mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] mask_at_the_front | The words' mask is written at the front, [:T, :T], where the patches are, and not behind them.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

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
            allowed[:T, :T] = mask
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(tokens, mask=allowed)
