# %% [wrong] text_first | The words stand in front of the image in the sequence; the image comes first.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        tokens = torch.cat([text_tokens, image_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[T:, :T] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] patches_see_words | The corner in which patches ask and words answer stays True.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] words_do_not_see_patches | The wrong corner is closed: the words may not look at the patches, and the patches may look at the words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[S:, :S] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] causal_over_all | One causal mask lies over the whole sequence, so a patch sees only the patches before it.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        n = tokens.shape[-2]
        return self.self_attn(tokens, tokens, causal_mask(n).to(tokens.device))
# %% [wrong] causal_without_a_mask | Without a mask the words are made causal, where all words should see all words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        if mask is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril()
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] mask_in_the_first_corner | The words' mask is put into the corner of the patches, at the top left.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[:T, :T] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] only_words_returned | Only the words' part of the tokens is returned; the image's tokens are cut off.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        output, weights = self.self_attn(tokens, tokens, allowed)
        return output[..., S:, :], weights
# %% [wrong] with_residual | The tokens are added to what the attention returns; there is to be no residual here.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        seen, weights = self.self_attn(tokens, tokens, allowed)
        return tokens + seen, weights
# %% [wrong] joined_along_the_width | Image and text are joined along the last axis, which needs equally many of both and doubles the width.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-1)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(tokens, tokens, allowed)
# %% [wrong] attribute_named_attn | The part is called .attn, where .self_attn is asked for.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        tokens = torch.cat([image_tokens, text_tokens], dim=-2)
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.attn(tokens, tokens, allowed)
# %% [right] four_blocks | Builds the mask from four blocks with torch.cat.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        s, t = image_tokens.size(-2), text_tokens.size(-2)
        yes = torch.ones(s + t, s + t, device=image_tokens.device).bool()
        words = yes[:t, :t] if mask is None else mask
        upper = torch.cat([yes[:s, :s], ~yes[:s, :t]], dim=1)
        lower = torch.cat([yes[:t, :s], words], dim=1)
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, both, torch.cat([upper, lower]))
# %% [right] by_column | Says of every row and column whether it is a word, and pads the words' mask to the left.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("self_attn", MultiHeadAttention(d_model=d_model, num_heads=num_heads))

    def forward(self, text_tokens, image_tokens, mask=None):
        sequence = torch.concat((image_tokens, text_tokens), -2)
        patches = image_tokens.shape[-2]
        is_word = torch.arange(sequence.shape[-2], device=sequence.device) >= patches
        allowed = is_word[:, None] | ~is_word[None, :]
        if mask is not None:
            allowed = allowed & F.pad(mask, (patches, 0, patches, 0), value=True)
        tokens, weights = self.self_attn(sequence, sequence, mask=allowed)
        return tokens, weights
