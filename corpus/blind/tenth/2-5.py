# %% [wrong] reshaped_without_a_swap | The heads are reshaped to (..., n, H · d_head) without swapping heads and tokens first: a row holds several tokens of one head. It should hold the numbers of all heads for one token.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)

# %% [wrong] view_after_the_swap | After the swap the numbers do not lie in order in memory, and view raises a RuntimeError. reshape or flatten would do.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)
    n, H, d_head = swapped.shape[-3:]
    return swapped.view(*swapped.shape[:-3], n, H * d_head)

# %% [wrong] heads_shuffled_together | The axis of the heads is moved to the very end and flattened there: number 0 of each head, then number 1 of each head. First all of head 0 should come, then all of head 1.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] list_of_the_first_axis | list(heads) goes through the first axis. Without a batch that is the heads; with a batch it joins the scenes of the batch and leaves the heads apart: (H, n, B · d_head).
def merge_heads(heads):
    return torch.cat(list(heads), dim=-1)

# %% [wrong] squeezed_at_the_end | squeeze() drops every axis of size 1: for a single token, a batch of one, or d_model = 1 an axis is missing. The result should be (..., n, d_model) whatever the sizes.
def merge_heads(heads):
    pieces = torch.split(heads, 1, dim=-3)  # H pieces (..., 1, n, d_head)
    return torch.cat(pieces, dim=-1).squeeze()

# %% [right] cut_and_join | Moves the heads to the front, goes through them, and puts their numbers side by side with cat; no reshape.
def merge_heads(heads):
    joined, *others = heads.movedim(-3, 0)
    for other in others:
        joined = torch.cat((joined, other), dim=-1)
    return joined
