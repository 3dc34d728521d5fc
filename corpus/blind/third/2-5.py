# %% [wrong] reshape_without_swap | Reshapes straight to (..., n, d_model) without swapping heads and tokens, which mixes up tokens.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)

# %% [wrong] view_after_swap | view after a transpose: the numbers no longer lie in order, and it raises an error.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], -1)

# %% [wrong] heads_move_last | Moves the heads behind d_head, so the features of the heads are interleaved in place of standing side by side.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] cat_over_first_axis | Iterates over the first axis, which is the heads only without a batch; with one it joins the scenes of the batch.
def merge_heads(heads):
    return torch.cat([head for head in heads], dim=-1)

# %% [wrong] swap_one_and_two | Swaps axes 1 and 2, counted from the front: right for exactly one batch axis, wrong for none or two.
def merge_heads(heads):
    return heads.swapaxes(1, 2).flatten(start_dim=-2)

# %% [wrong] features_swapped | Swaps tokens and features in place of heads and tokens before it flattens.
def merge_heads(heads):
    n = heads.shape[-2]
    turned = heads.transpose(-1, -2)  # (..., H, d_head, n)
    return turned.flatten(-3, -2).reshape(*heads.shape[:-3], n, -1)

# %% [right] permute_by_list | Lists the order of all axes for permute, and reshapes.
def merge_heads(heads):
    count = heads.ndim
    order = [*range(count - 3), count - 2, count - 3, count - 1]
    swapped = heads.permute(order)
    return swapped.reshape(swapped.shape[:-2] + (swapped.shape[-2] * swapped.shape[-1],))
