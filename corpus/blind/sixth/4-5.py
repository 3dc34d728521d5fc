# %% [wrong] painted_over | The patches in the padding are set to zero instead of masked: no second 7 is left, but the empty cells still get weight
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    cleaned = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, cleaned)

# %% [wrong] no_axis_for_words | The mask stays (B, S), without an axis for the words; the layer takes two axes for (T, S), so scenes are taken for words and it fails for B ≠ T
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches, ~padding)

# %% [wrong] axis_at_the_end | unsqueeze(-1) makes (B, S, 1) instead of (B, 1, S), so the mask belongs to the words instead of the patches and does not broadcast to (B, T, S)
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = padding.logical_not().unsqueeze(-1)
    return cross_attn(words, patches, mask=allowed)

# %% [wrong] no_mask | The mask is left out altogether, so cells of other scenes in the padding are looked at like the scene's own
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights

# %% [wrong] weights_cleaned_afterwards | The weights on the padding are set to 0 and the rows scaled to 1 after the layer has run: the map looks right, but what is seen still holds the padding
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights / weights.sum(-1, keepdim=True)

# %% [wrong] mask_of_the_first_scene | The mask is made of padding[0] and laid over the whole batch, though every scene has its own padding
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    may_look = ~padding[0].expand(words.shape[-2], -1)      # (T, S)
    return cross_attn(words, patches, may_look)

# %% [right] comparison | a comparison with False, spread over the words by expand
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    holds_something = padding.eq(False)[:, None, :].expand(-1, words.shape[1], -1)
    return cross_attn(words, context=patches, mask=holds_something)
