# %% [wrong] reshaped_without_a_swap | The heads are reshaped to (..., n, H · d_head) without swapping heads and tokens first; the shape is right, but a row holds numbers of several tokens of one head.
def merge_heads(heads):
    *batch, H, n, d_head = heads.shape
    return heads.reshape(*batch, n, H * d_head)

# %% [wrong] view_after_transpose | After transpose the memory is no longer in order, so view raises a RuntimeError; reshape or flatten would do.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], swapped.shape[-2] * swapped.shape[-1])

# %% [wrong] heads_in_turn | The heads are stacked behind the features and flattened, so the numbers of the heads alternate, 0 of head 0, 0 of head 1, …; they should stand one head after the other.
def merge_heads(heads):
    return torch.stack(heads.unbind(-3), dim=-1).flatten(-2)

# %% [wrong] flattened_from_axis_two | flatten(2) counts from the front, so it joins heads and features only with exactly one batch axis; without a batch it does nothing, with two it joins too much. It should be flatten(-2).
def merge_heads(heads):
    return heads.transpose(-3, -2).flatten(2)

# %% [wrong] heads_added_up | The heads are summed instead of put side by side, so the result is only d_head wide, and who brought what is lost.
def merge_heads(heads):
    joined = heads.sum(dim=-3)
    return joined

# %% [wrong] one_below_the_other | The heads are concatenated along the tokens, dim=-2, which gives (..., H · n, d_head); they belong beside each other along the features, dim=-1.
def merge_heads(heads):
    return torch.cat([heads[..., h, :, :] for h in range(heads.shape[-3])], dim=-2)

# %% [right] permuted_then_reshaped | spells the two steps with movedim and one reshape that copies where it must
def merge_heads(heads):
    beside = heads.movedim(-3, -2)  # (..., n, H, d_head)
    return beside.reshape(*beside.shape[:-2], beside.shape[-2] * beside.shape[-1])
