# %% [wrong] reshape_without_swap | heads and tokens are not swapped back before the reshape: the shape is right, but a row of the result holds several tokens of one head
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)


# %% [wrong] view_after_swap | `view` after the transpose: the numbers no longer lie in order in memory, so it raises a RuntimeError
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(swapped.shape[:-2] + (-1,))


# %% [wrong] interleaved | the heads' axis is moved to the very end, so that the numbers of the heads alternate instead of standing in blocks, first head 0 and then head 1
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)


# %% [wrong] one_below_the_other | the heads are joined along the axis of the tokens: (..., H · n, d_head) instead of (..., n, H · d_head)
def merge_heads(heads):
    H = heads.shape[-3]
    pieces = [heads[..., h, :, :] for h in range(H)]
    return torch.cat(pieces, dim=-2)


# %% [wrong] first_axis_is_the_head | iterating over the tensor goes along axis 0: these are the heads only if there is no batch in front; with one, the scenes are joined side by side
def merge_heads(heads):
    joined = torch.cat([one_head for one_head in heads], dim=-1)
    return joined


# %% [right] write_into_blocks | an empty result is made, seen as (..., n, H, d_head), and the swapped heads are copied into that view
def merge_heads(heads):
    *lead, count, n, width = heads.shape
    merged = heads.new_empty(*lead, n, count * width)
    merged.unflatten(-1, (count, width)).copy_(heads.swapaxes(-3, -2))
    return merged
