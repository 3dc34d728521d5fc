# %% [wrong] not_swapped_back | It reshapes without swapping heads and tokens first, so the numbers of one head follow each other across tokens.
def merge_heads(heads):
    *batch, H, n, d_head = heads.shape
    return heads.reshape(*batch, n, H * d_head)

# %% [wrong] view_after_transpose | view cannot be used after the transpose, because the numbers no longer lie in order in memory; it raises.
def merge_heads(heads):
    *batch, H, n, d_head = heads.shape
    return heads.transpose(-3, -2).view(*batch, n, H * d_head)

# %% [wrong] interleaved | The head axis is moved to the very end before flattening, so the features of the heads are interleaved and not side by side.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] heads_added | The heads are added up; they should stand side by side.
def merge_heads(heads):
    return heads.sum(dim=-3)

# %% [wrong] needs_batch | It unpacks exactly four axes, so heads without a batch axis raise.
def merge_heads(heads):
    b, h, n, d = heads.shape
    out = heads.permute(0, 2, 1, 3).contiguous()
    return out.view(b, n, h * d)

# %% [wrong] cat_along_tokens | The heads are joined along the axis of tokens (-2), one under the other, and not along the features (-1).
def merge_heads(heads):
    return torch.cat(heads.unbind(-3), dim=-2)

# %% [wrong] iterates_first_axis | Iterating over the tensor walks along its first axis, which is the batch and not the heads once there is one.
def merge_heads(heads):
    return torch.cat([head for head in heads], dim=-1)

# %% [wrong] flatten_from_axis_two | flatten(2) counts the axis from the front, so it fits one batch axis only; without a batch nothing is joined.
def merge_heads(heads):
    swapped = heads.transpose(-2, -3)
    return swapped.flatten(2)

# %% [wrong] last_head_first | The heads are joined in reverse order, the last one first.
def merge_heads(heads):
    H = heads.shape[-3]
    merged = heads[..., 0, :, :]
    for h in range(1, H):
        merged = torch.cat((heads[..., h, :, :], merged), dim=-1)
    return merged

# %% [wrong] squeezed | The final squeeze() also removes axes of length 1 that belong to the result, such as a single token or a batch of one.
def merge_heads(heads):
    return heads.transpose(-3, -2).flatten(-2).squeeze()

# %% [wrong] stacked_not_joined | It stacks the heads along a new axis, so the result is (..., n, H, d_head) and the last two axes are not joined.
def merge_heads(heads):
    return torch.stack(heads.unbind(dim=-3), dim=-2)

# %% [wrong] misspelt_transpose | A misspelt method name (tranpose) raises an AttributeError.
def merge_heads(heads):
    n, d_head = heads.shape[-2:]
    merged = heads.tranpose(-2, -3)
    return merged.reshape(*merged.shape[:-2], -1)

# %% [wrong] transposes_tokens_and_features | The last two axes, tokens and features, are swapped in place of heads and tokens.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    x = heads.transpose(-1, -2)            # swap
    return x.reshape(*lead, n, H * d_head) # merge

# %% [wrong] detached | .detach() cuts the gradient, so nothing flows back through the merged heads.
def merge_heads(heads):
    out = heads.detach().transpose(-3, -2)
    return out.flatten(-2)

# %% [wrong] mean_and_repeat | The heads are averaged and the mean is repeated to get the width right; their numbers should stand side by side.
def merge_heads(heads):
    H = heads.shape[-3]
    mean = heads.mean(dim=-3)
    return mean.repeat_interleave(H, dim=-1)

# %% [right] slices_filled | A new tensor is filled head by head.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    merged = heads.new_zeros(*lead, n, H * d_head)
    for h in range(H):
        merged[..., h * d_head : (h + 1) * d_head] = heads[..., h, :, :]
    return merged

# %% [right] einsum_reshape | einsum names the axes, reshape joins the last two.
def merge_heads(heads):
    swapped = torch.einsum("...hnd->...nhd", heads)
    return swapped.reshape(swapped.shape[:-2] + (-1,))

# %% [right] cat_of_selected | torch.cat of a list comprehension with select.
def merge_heads(heads):
    return torch.cat([heads.select(-3, h) for h in range(heads.size(-3))], -1)

# %% [right] contiguous_view | The classic contiguous().view(), with the leading shape kept.
def merge_heads(heads):
    x = heads.transpose(-2, -3).contiguous()
    n, num_heads, d_head = x.shape[-3:]
    return x.view(x.shape[:-3] + (n, num_heads * d_head))
