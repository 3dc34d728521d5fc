# %% [wrong] hstack_means_axis_one | torch.hstack joins along axis 1. For heads (n, d_head) that is side by side, but with a batch it puts the tokens of all heads below one another: (B, H·n, d_head).
def merge_heads(heads):
    return torch.hstack(heads.unbind(dim=-3))

# %% [wrong] squeezed_at_the_end | Calls squeeze() on the result, to tidy up. Every axis of size 1 goes: a batch of one scene or a single token loses its axis, and the shape is wrong.
def merge_heads(heads):
    swapped = torch.transpose(heads, -3, -2)
    return swapped.flatten(-2).squeeze()

# %% [wrong] swaps_the_callers_axes | transpose_ with the underscore swaps the axes of the caller's tensor as well. The first result is right; the heads are then (..., n, H, d_head), and merging them once more gives something else.
def merge_heads(heads):
    heads.transpose_(-3, -2)
    *lead, n, h, d = heads.shape
    return heads.reshape(*lead, n, h * d)

# %% [wrong] mean_of_the_heads | Joins the heads by taking their mean. They should stand side by side: the result is d_head wide in place of H·d_head.
def merge_heads(heads):
    total = 0
    for head in heads.unbind(-3):
        total = total + head
    return total / heads.shape[-3]

# %% [wrong] numbers_interleaved | Brings the heads' axis to the very end before it is flattened, so that the first numbers of all heads come first. It should be first all numbers of head 0, then those of head 1: right shape, wrong order.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(start_dim=-2)

# %% [wrong] three_axes_and_no_more | Unpacks the shape into exactly three numbers. Any batch axes may stand in front: with a batch it is a ValueError.
def merge_heads(heads):
    num_heads, n, d_head = heads.shape
    together = torch.empty(n, num_heads * d_head, dtype=heads.dtype, device=heads.device)
    for h in range(num_heads):
        together[:, h * d_head : (h + 1) * d_head] = heads[h]
    return together

# %% [right] feature_by_feature | A comprehension over the d_model features: number m is feature m % d_head of head m // d_head, and all are stacked.
def merge_heads(heads):
    num_heads, d_head = heads.shape[-3], heads.shape[-1]
    columns = [heads[..., m // d_head, :, m % d_head] for m in range(num_heads * d_head)]
    return torch.stack(columns, dim=-1)
