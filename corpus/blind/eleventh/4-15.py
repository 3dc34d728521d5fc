# %% [wrong] the_other_corner_closed | The corner allowed[S:, :S] is closed: words ask and patches answer. So the words are blind and the patches see the question, the opposite of what the table says.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[S:, :S] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [wrong] causal_when_nothing_is_said | Without a mask the words get a causal one, because they are "mostly causal". The text says that without one all words see all words.
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        n_image, n_text = image_tokens.size(-2), text_tokens.size(-2)
        if mask is None:
            mask = causal_mask(n_text, text_tokens.device)
        device = text_tokens.device
        upper = torch.cat([torch.ones(n_image, n_image, device=device), torch.zeros(n_image, n_text, device=device)], 1)
        lower = torch.cat([torch.ones(n_text, n_image, device=device), mask.float()], 1)
        full = torch.cat([upper, lower], 0).bool()
        sequence = torch.cat([image_tokens, text_tokens], -2)
        return self.self_attn(sequence, sequence, full)

# %% [wrong] causal_over_everything | One causal mask is laid over image and text, as LLaVA does. A patch then sees only the patches before it, where all patches should see all, and the mask that is handed in is not used.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, mask=causal_mask(both.shape[-2], both.device))

# %% [wrong] no_mask_no_corner | Without a mask the sequence goes through self-attention as it is, "all see all". But that is said of the words among themselves; the patches must not see the words in any case, and here they do.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        if mask is None:
            return self.self_attn(sequence)
        S = image_tokens.shape[-2]
        allowed = F.pad(mask, (S, 0, S, 0), value=True)
        allowed[:S, S:] = False
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] returns_the_words_alone | Of the output only the rows of the words are returned, since the answer is read there. The text wants what the self-attention returns for the whole sequence, (..., S + T, d_model), the image first.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Self-attention over image and text."""
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        who = torch.ones(S + T, S + T, dtype=torch.bool, device=image_tokens.device)
        who[:S, S:] = False
        who[S:, S:] = True if mask is None else mask
        tokens, weights = self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=who)
        return tokens[..., S:, :], weights

# %% [right] who_sees_whom_by_numbers | The mask is computed and not filled in: a key is allowed if it is a patch, or if the words' mask, padded with False, says so.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("self_attn", MultiHeadAttention(d_model, num_heads))

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        sequence = torch.concat((image_tokens, text_tokens), dim=-2)
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        among_words = torch.full((T, T), True, device=sequence.device) if mask is None else mask
        is_patch = torch.arange(S + T, device=sequence.device) < S
        return self.self_attn(sequence, mask=is_patch | F.pad(among_words, (S, 0, S, 0), value=False))
