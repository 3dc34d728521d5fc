# %% [wrong] causal_over_everything | one causal mask over image and words, as LLaVA does: patches see only the patches before them, and the mask that was handed in is ignored
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=causal_mask(sequence.shape[-2], sequence.device))


# %% [wrong] other_corner_closed | closes allowed[S:, :S] instead of allowed[:S, S:]: rows ask, so the words cannot see the image while the patches see the words
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
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), None, allowed)


# %% [wrong] no_mask_no_corner | without a mask for the words nothing is masked at all: mask=None only means that words see all words, the patches still must not see the words
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    @staticmethod
    def four_corners(S: int, mask: Tensor) -> Tensor:
        T = mask.shape[-1]
        upper = torch.cat([mask.new_ones(S, S), mask.new_zeros(S, T)], dim=1)
        lower = torch.cat([mask.new_ones(T, S), mask], dim=1)
        return torch.cat([upper, lower])

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        both = torch.cat((image_tokens, text_tokens), dim=-2)
        if mask is not None:
            mask = self.four_corners(image_tokens.shape[-2], mask)
        return self.self_attn(both, mask=mask)


# %% [wrong] text_first | the words are put in front of the image, and the mask built for that order: who sees whom is right, but tokens and weights come back in the wrong order
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        T, S = text_tokens.size(-2), image_tokens.size(-2)
        device = text_tokens.device
        is_text = torch.arange(T + S, device=device) < T
        allowed = is_text[:, None] | ~is_text[None, :]  # words ask anybody, patches only patches
        if mask is not None:
            allowed[:T, :T] = mask
        tokens, weights = self.self_attn(torch.cat([text_tokens, image_tokens], dim=-2), mask=allowed)
        return tokens, weights


# %% [wrong] only_the_words_returned | cuts the image off the result and returns T tokens and the rows of the words: the text asks for what the self-attention returns for the whole sequence, S + T
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        words = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device) if mask is None else mask
        allowed = F.pad(words, (S, 0), value=True)       # (T, S + T)
        patches = torch.arange(S + T, device=words.device).lt(S).expand(S, -1)
        everything = torch.cat([image_tokens, text_tokens], dim=-2)
        tokens, weights = self.self_attn(everything, mask=torch.cat([patches, allowed]))
        return tokens[..., S:, :], weights[..., S:, :]


# %% [right] padded_mask | the four corners by F.pad and a comparison of kinds, nothing assigned
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        S, T = (tokens.shape[-2] for tokens in (image_tokens, text_tokens))
        is_word = torch.arange(S + T, device=text_tokens.device).ge(S)
        allowed = is_word.unsqueeze(1) >= is_word  # a patch may not ask a word
        if mask is not None:
            allowed = allowed & F.pad(mask.to(torch.uint8), (S, 0, S, 0), value=1).bool()
        return self.self_attn(torch.cat((image_tokens, text_tokens), -2), mask=allowed)
