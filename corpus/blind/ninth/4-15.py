# %% [wrong] block_diagonal | The mask is made with block_diag, so words see words and patches see patches. Words should see all patches. The image never reaches the words.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        device = text_tokens.device
        words = torch.ones(T, T, device=device) if mask is None else mask.float()
        allowed = torch.block_diag(torch.ones(S, S, device=device), words).bool()
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=allowed)

# %% [wrong] causal_without_being_asked | Without a mask the words get a causal one. Without a mask all words should see all words. Earlier words do not see later ones.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.size(-2), text_tokens.size(-2)
        if mask is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device).tril()
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        allowed[S:, S:] = mask
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        output, weights = self.self_attn(sequence, mask=allowed)
        return output, weights

# %% [wrong] mask_of_ones_and_zeros | The mask is made of the floats 1 and 0. MultiHeadAttention wants bool. An error comes out of the layer: & and | do not work with floats.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S = image_tokens.shape[-2]
        tokens = torch.cat((image_tokens, text_tokens), -2)
        n = tokens.shape[-2]
        allowed = torch.ones(n, n, device=tokens.device)
        allowed[:S, S:] = 0
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(tokens, mask=allowed)

# %% [wrong] joined_on_axis_one | Image and words are joined on axis 1. It should be the axis before the last. With one batch axis it is the same; without a batch the vectors are joined side by side, and the shapes do not fit.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    @staticmethod
    def who_sees_whom(S, T, mask, device):
        rows = torch.arange(S + T, device=device)[:, None]
        columns = torch.arange(S + T, device=device)[None, :]
        allowed = (rows >= S) | (columns < S)
        if mask is not None:
            allowed[S:, S:] &= mask
        return allowed

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        allowed = self.who_sees_whom(image_tokens.shape[-2], text_tokens.shape[-2], mask, text_tokens.device)
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=1), mask=allowed)

# %% [wrong] hands_back_the_words_alone | The part that belongs to the words is cut out of the result. The whole sequence was asked for, image first. T tokens come back in place of S + T, and the image is not passed on.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = torch.full((T, T), True, device=text_tokens.device)
        upper = torch.tensor([True] * S + [False] * T, device=mask.device).repeat(S, 1)
        lower = torch.cat([mask.new_ones(T, S), mask], dim=1)
        out, weights = self.self_attn(
            torch.cat([image_tokens, text_tokens], -2), mask=torch.cat([upper, lower])
        )
        return out[..., S:, :], weights

# %% [wrong] padded_with_true_all_round | The mask of the words is padded with True above and to the left. Above, to the right, stands the corner in which patches ask and words answer, and it should be False. The image depends on the question.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        patches, words = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = torch.ones(words, words, dtype=torch.bool, device=text_tokens.device)
        allowed = F.pad(mask, (patches, 0, patches, 0), value=True)
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, None, allowed)

# %% [right] outer_or_of_kinds | The mask comes from what each token is: whoever asks as a word may see, and whatever answers as a patch may be seen; the corner of the words is multiplied in by padding.
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("self_attn", MultiHeadAttention(d_model, num_heads))

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S = image_tokens.shape[-2]
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        is_word = torch.arange(sequence.shape[-2], device=sequence.device) >= S
        allowed = is_word.unsqueeze(1) | ~is_word
        if mask is not None:
            allowed = allowed & F.pad(mask, (S, 0, S, 0), value=True)
        return self.self_attn(sequence, mask=allowed)
