# %% [wrong] patches_see_words | Only the corner of the words is filled in; patches may still look at words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)


# %% [wrong] one_causal_mask | One causal mask lies over the whole sequence, as LLaVA does it: a patch sees only the patches before it, and the mask of the words is ignored.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=causal_mask(sequence.shape[-2], sequence.device))


# %% [wrong] other_corner_closed | Rows and columns are mixed up: the words may not look at the patches, and the patches may look at the words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S = image_tokens.shape[-2]
        x = torch.cat([image_tokens, text_tokens], -2)
        allowed = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool, device=x.device)
        allowed[S:, :S] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(x, mask=allowed)


# %% [wrong] text_in_front | The text stands in front of the image.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        T, S = text_tokens.shape[-2], image_tokens.shape[-2]
        allowed = torch.ones(T + S, T + S, dtype=torch.bool, device=text_tokens.device)
        allowed[T:, :T] = False
        if mask is not None:
            allowed[:T, :T] = mask
        both = torch.cat([text_tokens, image_tokens], dim=-2)
        return self.self_attn(both, mask=allowed)


# %% [wrong] words_blind_without_a_mask | Begins with zeros and fills in what is allowed; without a mask the words' own corner stays False, where all words should see all words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.zeros(S + T, S + T, dtype=torch.bool, device=image_tokens.device)
        allowed[:, :S] = True
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat((image_tokens, text_tokens), dim=-2), None, allowed)


# %% [wrong] words_only_returned | Cuts the patches off at the end: only the words' tokens come back, (..., T, d_model).
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        tokens, weights = self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)
        return tokens[..., S:, :], weights


# %% [right] mask_from_comparisons | Builds the mask without corners: a key is allowed if it is a patch, or if both are words and their mask, padded to the whole size, says so.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.size(-2), text_tokens.size(-2)
        among_words = text_tokens.new_ones((T, T), dtype=torch.bool) if mask is None else mask.expand(T, T)
        is_patch = torch.arange(S + T, device=text_tokens.device) < S
        allowed = is_patch | F.pad(among_words.int(), (S, 0, S, 0)).bool()
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)
