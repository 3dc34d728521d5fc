# %% [wrong] unbinds_the_first_axis | The heads are taken from the first axis, which is the batch where there is one.
def merge_heads(heads):
    return torch.cat(heads.unbind(0), dim=-1)

# %% [wrong] numbers_of_the_heads_in_turn | The heads become the last axis before it is flattened, so the first numbers of all heads come first, then the second ones.
def merge_heads(heads):
    moved = heads.movedim(-3, -1)
    return moved.flatten(-2)

# %% [wrong] reshaped_without_swapping | Heads and tokens are not swapped before the reshape: the shape is right, but a row holds several tokens of one head.
def merge_heads(heads):
    *lead, count, n, width = heads.shape
    return heads.reshape(*lead, n, count * width)
