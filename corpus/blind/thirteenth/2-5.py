# %% [wrong] view_refuses | view after a swap of axes: the numbers do not lie in order in memory, so it raises a RuntimeError
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], swapped.shape[-2] * swapped.shape[-1])


# %% [wrong] heads_to_the_end | moves the heads to the last place before flattening, so the numbers of the heads alternate instead of standing block by block
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(start_dim=-2)


# %% [wrong] first_axis | unbinds axis 0, which is the heads only without a batch; with a batch it joins the scenes side by side
def merge_heads(heads):
    return torch.cat([one for one in heads], dim=-1)


# %% [wrong] no_swap | reshapes without swapping heads and tokens: each row of the result is filled with several tokens of one head
def merge_heads(heads):
    H, n, d_head = heads.shape[-3:]
    lead = heads.shape[:-3]
    return heads.reshape(lead + (n, H * d_head))


# %% [wrong] four_axes | permute(0, 2, 1, 3) needs exactly one batch axis: raises for (H, n, d_head) and for two batch axes
def merge_heads(heads):
    together = heads.permute(0, 2, 1, 3).contiguous()
    return together.reshape(together.shape[0], together.shape[1], -1)


# %% [right] padded_and_added | each head is padded with zeros to the full width at its place, and all are added
def merge_heads(heads):
    H, _, width = heads.shape[-3:]
    merged = 0
    for h, one in enumerate(heads.unbind(-3)):
        merged = merged + F.pad(one, (h * width, (H - 1 - h) * width))
    return merged
