# %% [wrong] flatten_at_once | The heads are reshaped without the swap of heads and tokens, so the shape is right and the numbers of different tokens are mixed
def merge_heads(heads):
    *lead, H, n, d = heads.shape
    return heads.reshape(*lead, n, H * d)

# %% [wrong] view_after_swap | view after a transpose raises an error, because the numbers no longer lie in order in memory; it should be reshape or flatten
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], swapped.shape[-2] * swapped.shape[-1])

# %% [wrong] features_outside | The heads are moved to the very last place, (..., n, d_head, H), before flattening: the numbers of the heads are interleaved instead of standing block by block
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] cat_tokens | The heads are concatenated along dim=-2, the tokens, so the result is (..., H · n, d_head) instead of (..., n, H · d_head)
def merge_heads(heads):
    return torch.cat(heads.unbind(-3), dim=-2)

# %% [wrong] added_up | The heads are summed instead of put side by side, so the result is d_head wide and who brought what is lost
def merge_heads(heads):
    # combine what every head has found
    return heads.sum(dim=-3)

# %% [wrong] unbind_zero | unbind(0) takes the first axis for the heads: right without a batch; with a batch it puts the batch elements side by side
def merge_heads(heads):
    return torch.cat(heads.unbind(0), dim=-1)

# %% [right] einsum_rename | einsum only names the axes anew, then the last two become one
def merge_heads(heads):
    return torch.einsum("...hnd->...nhd", heads).flatten(start_dim=-2)
