# %% [wrong] padding_made_zero_not_hidden | The padded patches are set to zero, and nothing hides them: a zero key has the score 0 and still gets weight.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    patches = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    seen, weights = cross_attn(words, patches)
    return seen, weights
