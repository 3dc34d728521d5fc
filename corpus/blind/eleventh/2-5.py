# %% [wrong] heads_interleaved | Moves the heads behind the features before flattening, so their numbers alternate: first number of head 0, first number of head 1, and so on. They should stand side by side, head 0 whole and then head 1.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)


# %% [wrong] view_after_a_swap | Calls view after the swap. The numbers do not lie in order in memory any more, so it stops with an error wherever there is more than one head and more than one token.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], -1)


# %% [wrong] joined_along_the_first_axis | Goes through the first axis and joins what it finds there. Without a batch these are the heads; with a batch it joins the examples of the batch.
def merge_heads(heads):
    return torch.cat([h for h in heads], dim=-1)


# %% [wrong] exactly_four_axes | Unpacks the shape into exactly four names. Without a batch, or with two batch axes, it stops with an error about the number of values to unpack.
def merge_heads(heads):
    B, H, n, d_head = heads.shape
    return heads.permute(0, 2, 1, 3).reshape(B, n, H * d_head)


# %% [wrong] reshape_without_a_swap | Reshapes without swapping heads and tokens first. The shape is right, but the numbers of one head's neighbouring tokens stand side by side and not those of one token's heads.
def merge_heads(heads):
    *lead, h, n, d = heads.shape
    return heads.reshape(*lead, n, h * d)


# %% [right] written_into_place | Makes an empty result and writes each head into its columns.
def merge_heads(heads):
    count, n, width = heads.shape[-3:]
    joined = heads.new_empty((*heads.shape[:-3], n, count * width))
    for index in range(count):
        start = index * width
        joined[..., start : start + width] = heads.select(-3, index)
    return joined
