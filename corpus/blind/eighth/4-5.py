# %% [wrong] painted_over | The padding is painted over with zeros and no mask is given; it should be hidden by a mask. Painted cells still take their share of the weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    cleared = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    seen, weights = cross_attn(words, cleared)
    return seen, weights

# %% [wrong] mask_without_an_axis_for_words | The mask is ~padding, (B, S), which the layer takes for (T, S); it should get an axis for the words, (B, 1, S). For most B an error; a batch of one is right, and where B = T each word of every scene gets the padding of another scene.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    may_look = padding.logical_not()
    return cross_attn(words, patches, mask=may_look)

# %% [wrong] hidden_only_in_the_map | Only the weights that are returned are set to 0 on the padding; what is seen was mixed with all cells. The mask should go into the attention. The rows do not sum to 1, and the answer still comes from the padding.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights

# %% [wrong] the_first_scenes_padding_for_all | The cells that are padding in the first scene are hidden in all scenes; each scene should have its own padding. Right for a batch of one.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = ~padding[0]
    mask = real.expand(words.shape[-2], -1)  # (T, S)
    return cross_attn(words, patches, mask)

# %% [wrong] mask_of_numbers | The mask is 1 − padding as floats; it should be bool. The layer combines it with bools by | and ~, and raises an error.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = 1 - padding.float()
    seen, weights = cross_attn(words, patches, mask.unsqueeze(1))
    return seen, weights

# %% [wrong] an_axis_for_heads_as_well | The mask is (B, 1, 1, S), with an axis for the heads; this layer makes that axis itself and wants (B, 1, S). It cannot be expanded to (B, T, S), and an error is raised.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    # (B, H, T, S): the same for each head and each word
    mask = torch.logical_not(padding)[:, None, None, :]
    return cross_attn(words, patches, mask)

# %% [right] compared_with_false | The mask is asked as a question, padding == False, for every word, and handed on by keyword.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    own_cells = padding.eq(False).unsqueeze(1).expand(-1, words.shape[1], -1)  # (B, T, S), True = may look
    seen, weights = cross_attn(words, context=patches, mask=own_cells)
    return seen, weights
