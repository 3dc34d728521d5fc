# %% [wrong] no_axis_for_the_words | The mask is negated, but stays (B, S). The layer lines its first axis up with the words and not with the scenes, so it stops with an error, or, where B equals T, each word gets the padding of another scene.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches, ~padding)
    return seen, weights

# %% [wrong] painted_over | The padding is overwritten with zeros, and there is no mask. The gate is passed, because the second 7 is gone, but the empty cells still take their share of the weight; they should have none.
def look_past_padding(cross_attn, words, patches, padding):
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    seen, weights = cross_attn(words, patches)
    return seen, weights

# %% [wrong] weights_wiped_afterwards | The layer looks without a mask, and the weights on padding are set to 0 after that. The map looks clean, but what is seen was mixed from the padding too, and the rows of the weights no longer sum to 1.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights

# %% [wrong] one_minus_a_bool | The mask is turned round by `1 - padding`, as in NumPy. PyTorch does not subtract bool tensors and stops with a RuntimeError; `~padding` was meant.
def look_past_padding(cross_attn, words, patches, padding):
    """What each word sees of its own scene, and where it looks."""
    mask = (1 - padding).bool()
    return cross_attn(words, patches, mask.unsqueeze(-2))

# %% [wrong] padding_taken_to_be_at_the_end | Only the number of real cells is counted, and the first ones of each scene are allowed, as one pads sentences. Here padding may stand anywhere, so real cells behind it are hidden, and padding in front is looked at.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    lengths = (~padding).sum(dim=-1)                                         # (B,)
    place = torch.arange(patches.shape[-2], device=patches.device)
    mask = place[None, :] < lengths[:, None]                                 # (B, S)
    return cross_attn(words, patches, mask[:, None, :])

# %% [right] expanded_for_every_word | logical_not in place of ~, and the mask is written out for each word by expand, so that it has its full shape (B, T, S).
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    B, T, S = words.shape[0], words.shape[1], patches.shape[1]
    real = torch.logical_not(padding).view(B, 1, S).expand(B, T, S)
    return cross_attn(words, context=patches, mask=real)
