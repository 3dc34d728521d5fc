# %% [right] chunks_stacked | right
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=-3)

# %% [wrong] plain_reshape | The tokens are reshaped straight to (H, n, d_head), which mixes tokens and heads.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)

# %% [wrong] no_swap | Heads and tokens are not swapped: the result is (..., n, H, d_head).
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1))

# %% [wrong] interleaved_features | The last axis is cut into (d_head, H) instead of (H, d_head), so a head gets every H-th feature.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (d_head, num_heads)).movedim(-1, -3)

# %% [wrong] one_batch_axis | Exactly one batch axis is taken for granted (view to (B, n, H, d_head)), so none or two fail.
def split_heads(tokens, num_heads):
    B, n, d_model = tokens.shape
    return tokens.view(B, n, num_heads, d_model // num_heads).transpose(1, 2)

# %% [wrong] axes_from_the_front | The axes are counted from the front, transpose(0, 1), which hits the batch when there is one.
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).transpose(0, 1)

# %% [wrong] last_two_swapped | The wrong axes are swapped: heads and d_head instead of heads and tokens.
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-2, -1)

# %% [wrong] head_width_as_number | num_heads is taken for the width of a head: (d_head, H) heads come out.
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (-1, num_heads)).transpose(-3, -2)
