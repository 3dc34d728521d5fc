# %% [wrong] weights_cleared_afterwards | The layer looks without a mask, and only the weights that are returned are set to 0 on the padding. What is seen still holds the padding, and the weights no longer sum to 1; the mask has to go into the layer.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights


# %% [wrong] padding_painted_with_zeros | The padding is painted over with zeros, and the words may still look at it: the empty cells take their share of the weight. They have to be hidden by the mask, which is True where a cell is no padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    cleared = patches * (~padding).unsqueeze(-1).to(patches.dtype)
    return cross_attn(words, cleared)
