# %% [wrong] text_first | Puts the words in front of the image; the mask is right for the image first, so both the order of the tokens and who sees whom are wrong.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([text_tokens, image_tokens], dim=-2), mask=allowed)


# %% [wrong] wrong_corner_closed | Closes the corner allowed[S:, :S], in which words ask and patches answer, instead of allowed[:S, S:]. The words do not see the image, and the patches see the question.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        dev = text_tokens.device
        words = torch.ones(T, T, dtype=torch.bool, device=dev) if mask is None else mask
        top = torch.ones(S, S + T, dtype=torch.bool, device=dev)
        bottom = torch.cat([torch.zeros(T, S, dtype=torch.bool, device=dev), words], dim=1)
        sequence = torch.cat([image_tokens, text_tokens], -2)
        return self.self_attn(sequence, None, torch.cat([top, bottom], dim=0))


# %% [wrong] causal_over_everything | Lays one causal mask over image and text, as LLaVA does, and the words' mask into its corner. A patch then sees only the patches before it; here all patches should see all patches.
class ConcatenatedAttention(nn.Module):
    """One self-attention over image and text."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        sequence = torch.cat((image_tokens, text_tokens), dim=-2)
        S = image_tokens.shape[-2]
        allowed = causal_mask(sequence.shape[-2], sequence.device).clone()
        allowed[S:, S:] = True if mask is None else mask
        tokens, weights = self.self_attn(sequence, mask=allowed)
        return tokens, weights


# %% [wrong] causal_by_default | Without a mask the words get a causal one. The text says that without one all words see all words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = causal_mask(T, text_tokens.device)
        place = torch.arange(S + T, device=text_tokens.device)
        is_text = place >= S
        allowed = ~(is_text[None, :] & ~is_text[:, None])
        allowed = allowed & F.pad(mask, (S, 0, S, 0), value=True)
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=allowed)


# %% [wrong] only_the_words_returned | Cuts the image's tokens off and returns those of the words alone, (..., T, d_model); asked for are all S + T.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def build_mask(self, S, T, mask, device):
        full = torch.zeros(S + T, S + T, dtype=torch.bool, device=device)
        full[:, :S] = True
        full[S:, S:] = mask if mask is not None else True
        return full

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        tokens, weights = self.self_attn(both, mask=self.build_mask(S, T, mask, both.device))
        return tokens[..., S:, :], weights


# %% [right] padded_word_mask | Starts from the words' mask: F.pad writes True to its left (words see patches) and then whole rows above it, made by comparing places (patches see patches).
class ConcatenatedAttention(nn.Module):
    """One self-attention over the image's tokens and, behind them, the words'."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        patches, words = image_tokens.size(-2), text_tokens.size(-2)
        if mask is None:
            mask = text_tokens.new_ones(words, words, dtype=torch.bool)
        below = F.pad(mask, (patches, 0), value=True)
        above = (torch.arange(patches + words, device=mask.device) < patches).expand(patches, -1)
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=torch.cat([above, below]))
