# %% [wrong] other_corner | The wrong corner is closed, allowed[S:, :S]: the words cannot see the image, and the patches see the words
class ConcatenatedAttention(nn.Module):
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
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=allowed)

# %% [wrong] text_in_front | The text stands in front of the image in the sequence, while the mask is built for the image first: the corners lie on the wrong tokens
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        n_img, n_txt = image_tokens.shape[-2], text_tokens.shape[-2]
        both = torch.cat([text_tokens, image_tokens], dim=-2)
        may = torch.ones(n_img + n_txt, n_img + n_txt, dtype=torch.bool, device=both.device)
        may[:n_img, n_img:] = False
        if mask is not None:
            may[n_img:, n_img:] = mask
        return self.self_attn(both, mask=may)

# %% [wrong] patches_read_the_question | The corner in which patches ask and words answer stays open, as in PaliGemma; here the image must not depend on the question
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S = image_tokens.shape[-2]
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        n = sequence.shape[-2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=sequence.device)
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(sequence, mask=allowed)

# %% [wrong] one_causal_mask | One causal mask lies over everything, as in LLaVA: a patch sees only the patches before it, and the mask that is handed in is not read
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        both = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(both, mask=causal_mask(both.shape[-2], both.device))

# %% [wrong] causal_by_default | Without a mask the words get a causal one; the task says that without one all words see all words
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
        top = torch.arange(S + T, device=text_tokens.device).lt(S).expand(S, -1)
        bottom = torch.cat([torch.ones(T, S, dtype=torch.bool, device=mask.device), mask], dim=1)
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=torch.cat([top, bottom]))

# %% [wrong] words_alone_returned | Only the words' part of the output is returned, (..., T, d_model), instead of all S + T tokens
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

# %% [right] padded_mask | the words' mask is padded with True to the left and with rows for the patches above
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device)
        words = F.pad(mask, (S, 0), value=True)  # (T, S + T)
        patches = torch.arange(S + T, device=mask.device).lt(S).expand(S, -1)  # (S, S + T)
        sequence = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(sequence, mask=torch.cat([patches, words], dim=0))
