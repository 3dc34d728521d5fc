# %% [wrong] flatten_without_swap | Heads and tokens are not swapped first: the reshape joins whole heads row by row, and mixes tokens.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)


# %% [wrong] view_after_transpose | After the swap the numbers no longer lie in order, and `view` raises an error.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], swapped.shape[-2] * swapped.shape[-1])


# %% [wrong] axes_from_the_front | Swaps axes 1 and 2: right with one batch dimension, wrong without one or with two.
def merge_heads(heads):
    return heads.transpose(1, 2).flatten(-2)


# %% [wrong] unbinds_the_batch | `unbind(0)` goes over axis 0: those are the heads without a batch, and the scenes with one.
def merge_heads(heads):
    return torch.cat(heads.unbind(0), dim=-1)


# %% [wrong] number_by_number | The heads' numbers are shuffled into one another: first number 0 of every head, then number 1 of every head.
def merge_heads(heads):
    # (..., H, n, d_head) -> (..., n, d_head, H)
    h = heads.movedim(-3, -1)
    return h.flatten(-2)


# %% [wrong] heads_added_up | The heads are added up in place of standing side by side.
def merge_heads(heads):
    merged = heads.sum(dim=-3)
    return merged


# %% [right] cat_of_heads | Takes the heads apart at the third axis from the end and puts them side by side with `cat`.
def merge_heads(heads):
    return torch.cat([heads.select(-3, h) for h in range(heads.size(-3))], dim=-1)
