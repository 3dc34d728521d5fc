# %% [wrong] padding_painted_over | Padded patches are set to zero and no mask is used. The second 7 is gone, but the empty cells still take their share of the weight; the weights on padding have to be 0.
def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, patches)

# %% [wrong] weights_zeroed_after_the_softmax | The layer looks at everything, and the weights on padding are set to 0 afterwards. Those on the scene then do not sum to 1, and what is seen still contains the padding.
def look_past_padding(cross_attn, words, patches, padding):
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights

# %% [wrong] mask_of_the_first_scene | The mask of scene 0 is used for the whole batch, so that its shape is (1, S). Each scene has its own padding.
def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    may_look = torch.logical_not(padding)
    mask = may_look[:1].expand(words.shape[1], -1)  # (T, S)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights

# %% [wrong] unsqueezed_on_the_side_of_the_queries | The mask is (B, S, 1) in place of (B, 1, S): the axis of the patches stands where the words belong. It cannot be broadcast to (B, T, S) and crashes (or, for T = S, hides the wrong words).
def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    mask = ~padding.unsqueeze(-1)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights

# %% [wrong] scenes_cut_to_the_first_cells | The number of cells is counted, and the first so many patches may be seen. Padding does not stand at the end here, it may be anywhere; real cells are hidden and padded ones seen.
def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    lengths = (~padding).sum(-1)  # (B,)
    position = torch.arange(patches.shape[-2], device=patches.device)
    mask = position[None, None, :] < lengths[:, None, None]
    return cross_attn(words, patches, mask)

# %% [right] a_full_mask_filled_in | A mask of the full size (B, T, S) is made of ones, and set to False where cells are padding.
def look_past_padding(cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    batch, asking = words.shape[:2]
    allowed = torch.ones(batch, asking, patches.shape[1], dtype=torch.bool, device=words.device)
    allowed = allowed & padding.eq(False)[:, None]
    found = cross_attn(words, context=patches, mask=allowed)
    return found
