# %% [wrong] no_mask_at_all | The mask was left out; the 7 of another scene in the padding can be looked at.
def look_past_padding(cross_attn, words, patches, padding):
    seen, weights = cross_attn(words, patches)
    return seen, weights


# %% [wrong] painted_over | The padding is painted over with zeros in place of being masked: its cells still take their share of the weight.
def look_past_padding(cross_attn, words, patches, padding):
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, patches)


# %% [wrong] axis_in_the_wrong_place | Turned round rightly, but the new axis comes last: (B, S, 1) says which words may ask, not which patches answer.
def look_past_padding(cross_attn, words, patches, padding):
    mask = ~padding.unsqueeze(-1)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights


# %% [wrong] weights_cleaned_afterwards | The weights on padding are set to zero after the call; what is seen has been mixed from the padding already, and the rows no longer sum to 1.
def look_past_padding(cross_attn, words, patches, padding):
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights


# %% [wrong] no_axis_for_words | The mask stays (B, S) and is read as (T, S): the batch stands where the words belong.
def look_past_padding(cross_attn, words, patches, padding):
    may_look = torch.logical_not(padding)
    return cross_attn(words, patches, may_look)


# %% [wrong] still_pytorchs_meaning | The mask is only built in another way: it is still True where there is padding.
def look_past_padding(cross_attn, words, patches, padding):
    B, S = padding.shape
    key_padding_mask = padding[:, None, :].expand(B, words.shape[1], S)
    return cross_attn(words, patches, mask=key_padding_mask)


# %% [right] eq_false_expanded | Compares with False in place of `~`, and gives every word a row of its own.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = padding.eq(False)
    rows = torch.stack([real] * words.shape[-2], dim=-2)
    return cross_attn(words, context=patches, mask=rows)
