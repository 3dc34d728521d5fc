# %% [wrong] one_reshape | A single reshape to (..., H, n, d_head) cuts the tokens apart: a head gets whole tokens and not its features of every token.
def split_heads(tokens, num_heads):
    *batch, n, d_model = tokens.shape
    return tokens.reshape(*batch, num_heads, n, d_model // num_heads)

# %% [wrong] interleaved_features | The last axis is cut into (d_head, H) and not (H, d_head), so head h gets every H-th feature.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.unflatten(-1, (d_head, num_heads))   # (..., n, d_head, H)
    return cut.movedim(-1, -3)

# %% [wrong] needs_one_batch_axis | It unpacks exactly three axes (B, n, d_model), so tokens without a batch or with two batch axes raise.
def split_heads(tokens, num_heads):
    B, n, d_model = tokens.shape
    d_head = d_model // num_heads
    return tokens.view(B, n, num_heads, d_head).permute(0, 2, 1, 3)

# %% [wrong] not_swapped | The last axis is cut, but the axes of heads and tokens are not swapped: the result is (..., n, H, d_head).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = tokens.unflatten(-1, (num_heads, d_head))
    return heads

# %% [wrong] swap_counted_from_front | Axes 1 and 2 are swapped, counted from the front, which is right for one batch axis only.
def split_heads(tokens, num_heads):
    x = tokens.reshape(*tokens.shape[:-1], num_heads, -1)
    return x.transpose(1, 2)

# %% [wrong] tuple_of_chunks | It returns a tuple of chunks, one for each head, and not one tensor with an axis for the heads.
def split_heads(tokens, num_heads):
    return tokens.chunk(num_heads, dim=-1)

# %% [wrong] num_heads_taken_for_width | num_heads is taken for the width of a head: it cuts into pieces of num_heads features.
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (-1, num_heads)).transpose(-2, -3)

# %% [wrong] stacked_in_front | The heads are stacked along axis 0, in front of the batch; the head axis must be the third from the end.
def split_heads(tokens, num_heads):
    d_head = tokens.size(-1) // num_heads
    pieces = torch.split(tokens, d_head, dim=-1)
    return torch.stack(pieces, dim=0)

# %% [wrong] true_division | d_model / num_heads is a float in Python, and a shape needs whole numbers (//), so it raises a TypeError.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] / num_heads
    return tokens.reshape(*tokens.shape[:-1], num_heads, d_head).transpose(-2, -3)

# %% [wrong] tokens_dealt_out | It cuts the axis of tokens into heads and not the axis of features, so each head gets some of the tokens.
def split_heads(tokens, num_heads):
    return torch.stack(tokens.tensor_split(num_heads, dim=-2), dim=-3)

# %% [wrong] batch_axis_left_behind | Tokens without a batch get a batch axis, and it is not taken away at the end.
def split_heads(tokens, num_heads):
    if tokens.dim() == 2:
        tokens = tokens.unsqueeze(0)
    *lead, n, d = tokens.shape
    return tokens.reshape(*lead, n, num_heads, d // num_heads).transpose(-3, -2)

# %% [wrong] wrong_pair_swapped | The last two axes are swapped, heads and features, but heads and tokens should be.
def split_heads(tokens, num_heads):
    """Give each head its own features of every token."""
    d_head = tokens.shape[-1] // num_heads
    tokens = tokens.unflatten(-1, (num_heads, d_head))
    tokens = tokens.transpose(-1, -2)
    return tokens

# %% [wrong] through_numpy | The tensor goes through numpy with .detach(), so no gradient flows back to the tokens.
def split_heads(tokens, num_heads):
    arr = tokens.detach().cpu().numpy()
    parts = np.split(arr, num_heads, axis=-1)
    return torch.from_numpy(np.stack(parts, axis=-3))

# %% [wrong] d_head_hard_coded | The width of a head is hard-coded as 2, as in the example by hand, and num_heads is not used.
def split_heads(tokens, num_heads):
    d_head = 2
    return tokens.unflatten(-1, (-1, d_head)).transpose(-2, -3)

# %% [wrong] scaled_here | The features are divided by √d_head while splitting; splitting only sorts numbers and computes nothing.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = tokens.unflatten(-1, (num_heads, d_head)).transpose(-3, -2)
    return heads / d_head ** 0.5

# %% [right] slices_stacked | A loop over heads that cuts slices and stacks them on the third axis from the end.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return torch.stack([tokens[..., h * d_head:(h + 1) * d_head] for h in range(num_heads)], dim=-3)

# %% [right] reshape_and_movedim | reshape with the leading shape, then movedim.
def split_heads(tokens, num_heads):
    lead, d_model = tokens.shape[:-1], tokens.shape[-1]
    assert d_model % num_heads == 0
    return tokens.reshape(*lead, num_heads, d_model // num_heads).movedim(-2, -3)

# %% [right] index_table | A table of feature numbers (H, d_head) indexes the last axis, then an einsum swaps the axes.
def split_heads(tokens, num_heads):
    d_model = tokens.size(-1)
    feature = torch.arange(d_model, device=tokens.device).reshape(num_heads, -1)
    picked = tokens[..., feature]  # (..., n, H, d_head)
    return torch.einsum("...nhd->...hnd", picked)
