# %% [wrong] still_inverted_twice | ~ is applied twice (once when the name is made, once in the call), so the padding itself is allowed, as in broken_look
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = ~padding.unsqueeze(-2)
    return cross_attn(words, patches, ~real)

# %% [wrong] no_word_axis | ~padding is (B, S) without an axis for the words: the layer takes it as (T, S), an error or, where B = T, another scene's padding for each word
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches, ~padding)

# %% [wrong] painted_over | the padding is set to zeros and no mask is handed on; the empty cells still take their share of the weight
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    clean = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, clean)

# %% [wrong] weights_cut_afterwards | it looks without a mask and clears the weights on padding afterwards: what is seen still comes from the padding, and the rows sum to less than 1
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights

# %% [wrong] count_from_the_first_scene | the number of real cells is read from the first scene and the rest cut off for all; scenes have different lengths, and the weights come back with fewer than S columns
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    n = int((~padding[0]).sum())
    return cross_attn(words, patches[:, :n])

# %% [wrong] axis_for_the_wrong_side | unsqueeze(-1) makes (B, S, 1): the mask says which words may ask, not which patches may answer; it does not fit (B, T, S) unless T = S or S = 1
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = padding.logical_not().unsqueeze(-1)
    seen, weights = cross_attn(words, patches, mask=allowed)
    return seen, weights

# %% [right] expanded_for_each_word | the mask is written out for every word, (B, T, S), from a comparison with False
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    own = padding.eq(False)[:, None, :].expand(-1, words.shape[1], -1)
    return cross_attn(words, context=patches, mask=own)
