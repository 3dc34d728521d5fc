# %% [wrong] every_hth_feature | The last axis is cut as (d_head, H), so head h gets every H-th feature; it should be (H, d_head), neighbouring ones. In the example head 0 gets 0 and 2 in place of 0 and 1.
def split_heads(tokens, num_heads):
    parts = tokens.unflatten(-1, (-1, num_heads))  # (..., n, d_head, H)
    return parts.movedim(-1, -3)

# %% [wrong] heads_in_front_of_the_batch | torch.stack puts the heads on axis 0; they should stand third from the end (dim=-3). Right without a batch; with one the result is (H, B, n, d_head).
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1))

# %% [wrong] split_by_size | split(num_heads) makes chunks that are num_heads wide; the chunks should be d_model / num_heads wide. Right only where d_head = H, else heads and widths are exchanged.
def split_heads(tokens, num_heads):
    pieces = tokens.split(num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)

# %% [wrong] swapped_with_the_width | The last swap is between axes −3 and −1; it should be between −3 and −2. The result is (..., d_head, H, n).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (num_heads, d_head)).transpose(-3, -1)

# %% [wrong] squeezed | The result is squeezed at the end; all axes should stay. With one head, one token or a batch of one an axis is missing.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    heads = tokens.reshape(*lead, n, num_heads, d_model // num_heads).transpose(-3, -2)
    return heads.squeeze()

# %% [wrong] exactly_one_batch_axis | The axes are unpacked as (B, n, d_model) and permuted by number; there may be any number of batch axes. No batch and two batch axes raise an error.
def split_heads(tokens, num_heads):
    B, n, d_model = tokens.shape
    return tokens.view(B, n, num_heads, -1).permute(0, 2, 1, 3)

# %% [right] slices_stacked | The features of each head are cut out as a slice, and the slices are stacked in the third place from the end.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    slices = [tokens[..., start : start + d_head] for start in range(0, num_heads * d_head, d_head)]
    return torch.stack(slices, dim=-3)
