# %% [wrong] paints_the_padding_white | The padding is filled with zeros, and no mask is given. It should be masked. The empty cells have scores of 0 and take their share of the weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    clean = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, clean)

# %% [wrong] one_minus_a_bool | The mask is turned round as 1 − padding. Bool tensors cannot be subtracted; it should be ~padding. A RuntimeError comes out.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = (1 - padding).bool()
    seen, weights = cross_attn(words, patches, allowed[:, None, :])
    return seen, weights

# %% [wrong] mask_without_an_axis_for_words | ~padding (B, S) is handed over as it is, and read as (T, S). It needs an axis for the words, (B, 1, S). An error comes out, or with as many words as scenes the padding of a scene is laid on a word.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = torch.logical_not(padding)
    return cross_attn(words, patches, mask=real)

# %% [wrong] weights_wiped_afterwards | The layer looks at everything, and the weights on padding are set to 0 afterwards. The mask should be given to the layer. What is seen still holds the padding, and the weights sum to less than 1.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    hidden = padding[:, None, None, :].expand_as(weights)
    weights = torch.where(hidden, torch.zeros_like(weights), weights)
    return seen, weights

# %% [wrong] padding_turned_round_in_place | logical_not_() turns round the caller's padding itself. It should make a new tensor with ~. The first call is right, and the next one with the same padding looks at nothing but padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    may_look = padding.logical_not_().unsqueeze(1)
    return cross_attn(words, patches, may_look.expand(-1, words.shape[1], -1))

# %% [wrong] first_scene_decides_for_all | The cells are cut away that are padding in the first scene. Each scene has its own padding, and the weights should keep all S columns. The other scenes keep padding or lose cells, and the map is too narrow.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    columns = torch.nonzero(~padding[0]).flatten()
    return cross_attn(words, patches.index_select(1, columns))

# %% [right] compares_with_false | Makes the mask by comparing padding with False, at full size for each word, by einsum-like broadcasting with a column of True.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    asking = torch.ones(*words.shape[:-1], 1, dtype=torch.bool, device=words.device)
    real = torch.eq(padding, False)[..., None, :]
    output, where = cross_attn(tokens=words, context=patches, mask=torch.logical_and(asking, real))
    return output, where
