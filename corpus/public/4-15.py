# %% [right] ones_mask_with_two_corners | True everywhere, one corner False, one corner the mask, after prefix masks in captioning code
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        attn_mask = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        attn_mask[:S, S:] = False
        if mask is not None:
            attn_mask[S:, S:] = mask
        inputs_embeds = torch.cat([image_tokens, text_tokens], dim=-2)
        return self.self_attn(inputs_embeds, mask=attn_mask)


# %% [right] block_cat_of_corners | four corners put together by cat, after huggingface ports of CogVLM and GIT (microsoft/GenerativeImage2Text attention mask)
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        num_memory, num_tgt = image_tokens.size(-2), text_tokens.size(-2)
        device = text_tokens.device
        tgt = torch.ones(num_tgt, num_tgt, dtype=torch.bool, device=device) if mask is None else mask
        top_left = torch.ones(num_memory, num_memory, dtype=torch.bool, device=device)
        top_right = torch.zeros(num_memory, num_tgt, dtype=torch.bool, device=device)
        bottom_left = torch.ones(num_tgt, num_memory, dtype=torch.bool, device=device)
        top = torch.cat((top_left, top_right), dim=1)
        bottom = torch.cat((bottom_left, tgt), dim=1)
        full = torch.cat((top, bottom), dim=0)
        seq = torch.cat((image_tokens, text_tokens), dim=-2)
        tokens, weights = self.self_attn(seq, seq, full)
        return tokens, weights


# %% [right] kind_by_cumulative_index | a cumulative kind for each token, attend where the key's kind is not later, then the words' mask, after google-research/big_vision (make_attn_mask with cumsum)
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    @staticmethod
    def _make_attn_mask(n_image, n_text, mask, device):
        mask_ar = torch.zeros(n_image + n_text, dtype=torch.long, device=device)
        mask_ar[n_image : n_image + 1] = 1  # the first word opens a new block
        cumsum = mask_ar.cumsum(0)
        attn = cumsum[None, :] <= cumsum[:, None]
        if mask is not None:
            attn = attn & F.pad(mask, (n_image, 0, n_image, 0), value=True)
        return attn

    def forward(self, text_tokens, image_tokens, mask=None):
        attn = self._make_attn_mask(image_tokens.shape[-2], text_tokens.shape[-2], mask, text_tokens.device)
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), None, attn)


# %% [right] or_of_is_image_keys | allowed = key is image | (both words & mask), after huggingface/transformers (masking_utils or_masks, and_masks)
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.add_module("self_attn", MultiHeadAttention(d_model, num_heads))

    def forward(self, text_tokens, image_tokens, mask=None):
        hidden = torch.cat((image_tokens, text_tokens), -2)
        S, N = image_tokens.shape[-2], hidden.shape[-2]
        is_text = torch.arange(N, device=hidden.device) >= S
        both_words = is_text[:, None] & is_text[None, :]
        words = torch.zeros(N, N, dtype=torch.bool, device=hidden.device)
        words[S:, S:] = True if mask is None else mask
        allowed = ~is_text[None, :] | (both_words & words)
        out = self.self_attn(hidden, mask=allowed)
        return out


# %% [right] additive_then_bool_prefix_mask | a float mask with a block of -inf turned into bool at the end, cached by nothing, after GIT like code (top = zeros, right = full(-inf))
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        n_image, n_text = image_tokens.size(-2), text_tokens.size(-2)
        full = torch.zeros(n_image + n_text, n_image + n_text, device=text_tokens.device)
        full[:n_image, n_image:] = float("-inf")
        if mask is not None:
            full[n_image:, n_image:].masked_fill_(~mask, float("-inf"))
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=full == 0)


# %% [right] padded_mask_by_f_pad | the words' mask padded to the left with True and above with a row block, after F.pad tricks in multimodal code
class ConcatenatedAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        if mask is None:
            mask = text_tokens.new_ones(T, T, dtype=torch.bool)
        lower = F.pad(mask, (S, 0), value=True)  # (T, S + T)
        upper = torch.arange(S + T, device=mask.device).lt(S).expand(S, -1)
        return self.self_attn(torch.cat([image_tokens, text_tokens], dim=-2), mask=torch.vstack([upper, lower]))
