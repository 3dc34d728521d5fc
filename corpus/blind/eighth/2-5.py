# %% [wrong] reshaped_without_a_swap | The heads are reshaped to (..., n, H · d_head) at once; heads and tokens must be swapped first. The shape is right, and each row holds several tokens of one head.
def merge_heads(heads):
    *lead, H, n, d_head = heads.shape
    return heads.reshape(*lead, n, H * d_head)

# %% [wrong] first_axis_is_not_the_heads | torch.cat(list(heads)) goes through axis 0; the heads are the third axis from the end (unbind(-3)). Right without a batch; with one the scenes are put side by side.
def merge_heads(heads):
    return torch.cat(list(heads), dim=-1)

# %% [wrong] interleaved | The heads are moved behind d_head before the flatten, so the numbers of the heads alternate; they should stand side by side, first all of head 0.
def merge_heads(heads):
    return heads.movedim(-3, -1).flatten(-2)

# %% [wrong] view_after_a_swap | After the transpose the numbers do not lie in order in memory, and view raises a RuntimeError; it should be reshape or flatten.
def merge_heads(heads):
    swapped = heads.transpose(-3, -2)  # (..., n, H, d_head)
    return swapped.view(*swapped.shape[:-2], -1)

# %% [wrong] tokens_side_by_side | The tokens are unbound (axis −2) and put side by side; it should be the heads (axis −3). The result is (..., H, n · d_head).
def merge_heads(heads):
    return torch.cat(heads.unbind(dim=-2), dim=-1)

# %% [wrong] batch_read_from_axis_zero | The result is reshaped to (heads.shape[0], n, -1), as if there were exactly one batch axis. Without a batch shape[0] is H, and with two batch axes the second one is swallowed.
def merge_heads(heads):
    n = heads.shape[-2]
    return heads.transpose(-3, -2).reshape(heads.shape[0], n, -1)

# %% [right] filled_column_by_column | An empty tensor of the final shape is filled, a block of columns for each head.
def merge_heads(heads):
    *lead, count, n, d_head = heads.shape
    merged = heads.new_empty(*lead, n, count * d_head)
    for head in range(count):
        merged[..., head * d_head : (head + 1) * d_head] = heads[..., head, :, :]
    return merged
