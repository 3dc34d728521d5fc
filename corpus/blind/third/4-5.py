# %% [wrong] no_axis_for_words | The mask is (B, S) without an axis for the words, so the scenes of the batch meet the words.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches, ~padding)

# %% [wrong] mask_left_out | Leaves the mask out: the words also see the cells of other scenes.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches)
    return seen, weights

# %% [wrong] painted_over | Fills the padding with zeros in place of masking it: empty cells still get weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    visible = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, visible)

# %% [wrong] weights_hidden_afterwards | Sets the weights on padding to 0 after the attention: what is seen still comes from there, and the rows no longer sum to 1.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights.masked_fill(padding[:, None, None, :], 0.0)

# %% [wrong] common_to_all_scenes | Hides a cell only where it is padding in all scenes of the batch.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    may = ~padding.all(dim=0, keepdim=True)  # (1, S)
    return cross_attn(words, patches, mask=may)

# %% [wrong] hides_the_words | Puts the new axis behind in place of before the cells: (B, S, 1) masks queries, and does not fit (B, T, S).
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = padding.logical_not().unsqueeze(-1)
    return cross_attn(words, patches, mask)

# %% [right] expanded_for_each_word | Builds the full (B, T, S) mask by repeating, from a comparison with False.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    T = words.shape[1]
    may_look = torch.stack([padding == False] * T, dim=1)  # noqa: E712
    return cross_attn(tokens=words, context=patches, mask=may_look)
