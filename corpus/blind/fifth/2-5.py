# %% [wrong] no_swap_back | it reshapes to (..., n, H · d_head) without swapping heads and tokens first; the shape is right and the numbers of different tokens are mixed
def merge_heads(heads):
    *lead, H, n, d = heads.shape
    return heads.reshape(*lead, n, H * d)

# %% [wrong] interleaved | the heads are moved to the very end before flattening, so the numbers alternate (head 0's first, head 1's first, …) in place of standing block by block
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] view_after_transpose | view on a transposed tensor raises a RuntimeError, because the numbers do not lie in order; reshape or contiguous() is needed
def merge_heads(heads):
    x = heads.transpose(-3, -2)
    return x.view(*x.shape[:-2], x.shape[-2] * x.shape[-1])

# %% [wrong] averaged_heads | the heads are averaged, (..., n, d_head), where they should stand side by side; H times fewer numbers come back
def merge_heads(heads):
    # combine what all heads say
    return heads.mean(dim=-3)

# %% [wrong] cat_on_tokens | torch.cat joins the heads along dim=-2, one under the other: (..., H · n, d_head) and not (..., n, H · d_head)
def merge_heads(heads):
    pieces = [heads[..., h, :, :] for h in range(heads.shape[-3])]
    return torch.cat(pieces, dim=-2)

# %% [wrong] reversed_heads | the loop puts each head in front of what is there, so the last head's numbers come first; merge(split(x)) is not x
def merge_heads(heads):
    merged = heads[..., 0, :, :]
    for h in range(1, heads.shape[-3]):
        merged = torch.cat([heads[..., h, :, :], merged], dim=-1)
    return merged

# %% [right] written_into_slices | an empty tensor like the heads is filled block by block, (..., n, H, d_head), and flattened
def merge_heads(heads):
    *lead, count, n, width = heads.shape
    together = heads.new_empty(*lead, n, count, width)
    for index, one in enumerate(heads.unbind(-3)):
        together[..., index, :] = one
    return together.flatten(-2)
