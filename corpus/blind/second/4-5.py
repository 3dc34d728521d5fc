# %% [right] compare_with_false | right
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    B, T, _ = words.shape
    may_look = padding.eq(False)[:, None, :].expand(B, T, padding.shape[1])
    return cross_attn(words, context=patches, mask=may_look)

# %% [wrong] painted_over | The padding is overwritten with zeros instead of being masked, so empty cells still take weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, patches)

# %% [wrong] no_mask | The mask is left out altogether.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights

# %% [wrong] weights_zeroed_afterwards | The weights on padding are set to zero only after the softmax and the output is left as it was, so what is seen still contains padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    weights = weights / weights.sum(-1, keepdim=True)
    return seen, weights

# %% [wrong] still_inverted | Only the shape of the mask was changed (expanded); it still means the opposite.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = padding.unsqueeze(1).expand(-1, words.shape[1], -1)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights

# %% [wrong] mask_of_first_scene | The padding of the first scene is used as the mask of all scenes.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = ~padding[0].unsqueeze(0)
    return cross_attn(words, patches, mask)

# %% [wrong] mask_as_axis_1 | The mask is unsqueezed at the end, (B, S, 1), so it says which word may look and not at what.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = (~padding).unsqueeze(-1)
    if mask.shape[1] != words.shape[1]:
        mask = mask[:, : words.shape[1]]
    return cross_attn(words, patches, mask)

# %% [wrong] any_scene | A cell is hidden in all scenes as soon as it is padding in one of them (any over the batch).
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = ~padding.any(0, keepdim=True)
    seen, weights = cross_attn(words, patches, allowed)
    return seen, weights

# %% [wrong] inverted_in_place | padding.logical_not_() changes the padding that was handed in.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = padding.logical_not_().unsqueeze(-2)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights
