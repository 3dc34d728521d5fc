# %% [wrong] still_padding | The mask is handed over as it is, True where a cell is padding: the words look at the padding alone.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = padding[:, None, :]
    return cross_attn(words, patches, mask)
# %% [wrong] no_mask | The mask is left out altogether, so the padding gets weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    seen, weights = cross_attn(words, patches)
    return seen, weights
# %% [wrong] painted_zero | The padding is painted over with zeros and not masked, so it still takes a share of the weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    seen, weights = cross_attn(words, patches)
    return seen, weights
# %% [wrong] no_unsqueeze | The mask stays (B, S): the axis of the words is missing.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = ~padding
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights
# %% [wrong] unsqueezed_behind | The new axis is put last, (B, S, 1): that hides words, not patches.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = ~padding.unsqueeze(-1)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights
# %% [wrong] weights_zeroed_after | The weights are set to 0 on the padding after the attention; the rows no longer sum to 1, and what is seen still holds the padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights
# %% [wrong] inverted_in_place | The padding of the caller is inverted in place.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = padding.logical_not_().unsqueeze(-2)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights
# %% [wrong] minus_sign | The mask is inverted with a minus sign, which PyTorch refuses for booleans.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = (1 - padding).unsqueeze(-2)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights
# %% [wrong] only_seen | Only what is seen is returned, and the weights are forgotten.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    mask = ~padding.unsqueeze(-2)
    seen, _ = cross_attn(words, patches, mask)
    return seen
# %% [right] expanded_mask | Compares with False and expands the mask over all words before the call.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    B, T, _ = words.shape
    own = padding.eq(False).reshape(B, 1, -1).expand(B, T, patches.size(1))
    result = cross_attn(words, patches, mask=own)
    return result[0], result[1]
# %% [right] scene_by_scene | Cuts the padding off each scene, and puts zeros into the map where it was.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    """What each word sees of its own scene, and where it looks."""
    seen, maps = [], []
    for word, patch, hidden in zip(words, patches, padding):
        out, weight = cross_attn(word[None], patch[~hidden][None])
        full = weight.new_zeros(*weight.shape[1:3], len(hidden))
        full[..., ~hidden] = weight[0]
        seen.append(out[0])
        maps.append(full)
    return torch.stack(seen), torch.stack(maps)
