# %% [wrong] painted_with_zeros | Puts the padding's vectors to zero instead of masking them. There is no second 7 any more, but the zero keys still take their share of the softmax: weight stays on padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    cleared = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, cleared)


# %% [wrong] weights_zeroed_afterwards | Looks without a mask and sets the weights on padding to zero afterwards. What is seen was made with the old weights and contains the padding, and the rows do not sum to 1.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    hidden = padding[:, None, None, :]
    weights = torch.where(hidden, torch.zeros_like(weights), weights)
    return seen, weights


# %% [wrong] mask_without_word_axis | ~padding is (B, S) and goes in without an axis for the words. The layer takes it for (T, S): it raises unless B is 1 or B = T, and then scenes and words are mixed up.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = torch.logical_not(padding)
    return cross_attn(words, patches, mask=real)


# %% [wrong] first_scene_for_all | Builds the mask from the padding of the first scene and broadcasts it over the batch, though every scene has its own padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    T, S = words.shape[1], patches.shape[1]
    mask = torch.zeros(T, S, dtype=torch.bool, device=padding.device)
    for s in range(S):
        mask[:, s] = ~padding[0, s]
    return cross_attn(words, patches, mask)


# %% [wrong] one_minus_bool | 1 - padding on a bool tensor: PyTorch refuses to subtract bools and raises a RuntimeError.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    visible = (1 - padding)[:, None, :].expand(-1, words.shape[1], -1)
    seen, weights = cross_attn(words, patches, visible.bool())
    return seen, weights


# %% [right] scene_by_scene | A loop over the scenes: each looks at its real cells alone, without any mask, and the weights are put back to their places among nine.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, maps = [], []
    for asking, cells, empty in zip(words, patches, padding):
        real = (~empty).nonzero().squeeze(-1)
        if real.numel() == 0:  # nothing but padding: the layer's own answer to a mask that allows nothing
            one, weights = cross_attn(asking, cells, ~empty.unsqueeze(0))
        else:
            one, few = cross_attn(asking, cells[real])
            weights = few.new_zeros(*few.shape[:-1], len(empty)).index_copy(-1, real, few)
        seen.append(one)
        maps.append(weights)
    return torch.stack(seen), torch.stack(maps)
