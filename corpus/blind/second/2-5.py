# %% [right] unbind_and_cat | right
def merge_heads(heads):
    return torch.cat(heads.unbind(dim=-3), dim=-1)

# %% [wrong] no_swap | The heads are reshaped to (n, d_model) without swapping heads and tokens.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)

# %% [wrong] view_after_swap | view is called after transpose, which fails because the numbers no longer lie in order.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.transpose(-3, -2).view(*lead, n, H * d_head)

# %% [wrong] interleaved | The numbers of the heads alternate: head and d_head are swapped before flattening.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] axes_from_the_front | The axes are counted from the front, so it works only for exactly one batch axis.
def merge_heads(heads):
    return heads.transpose(1, 2).flatten(2)

# %% [wrong] heads_under_each_other | The wrong axes are joined: the heads stand below each other as (H * n, d_head).
def merge_heads(heads):
    return heads.flatten(-3, -2)

# %% [wrong] swapped_not_joined | Heads and tokens are swapped back, but the last two axes are not made one.
def merge_heads(heads):
    return heads.transpose(-3, -2).contiguous()

# %% [wrong] summed | The heads are summed instead of put side by side.
def merge_heads(heads):
    return heads.sum(dim=-3)
