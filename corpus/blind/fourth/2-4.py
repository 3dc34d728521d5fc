# %% [wrong] one_reshape | A single reshape to (…, H, n, d_head): the shape is right, and head 0 gets whole tokens.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)


# %% [wrong] interleaved_features | The last axis is cut into (d_head, H): head h gets every H-th feature and not d_head neighbours.
def split_heads(tokens, num_heads):
    cut = tokens.unflatten(-1, (-1, num_heads))      # (..., n, d_head, H)
    return cut.movedim(-1, -3)


# %% [wrong] split_takes_a_size | `split` wants the size of a piece and gets the number of heads: there are d_model / H pieces of H numbers each.
def split_heads(tokens, num_heads):
    parts = tokens.split(num_heads, dim=-1)
    return torch.stack(parts, dim=-3)


# %% [wrong] heads_before_the_batch | The heads are stacked at axis 0: right without a batch, and in front of the batch with one.
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=0)


# %% [wrong] three_axes_only | Unpacks exactly three axes: tokens without a batch, or with two batch dimensions, raise an error.
def split_heads(tokens, num_heads):
    B, n, d = tokens.shape
    return tokens.view(B, n, num_heads, d // num_heads).transpose(1, 2)


# %% [wrong] never_swapped | The last axis is cut, but tokens and heads are not swapped: (…, n, H, d_head).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (num_heads, d_head))


# %% [right] slices_stacked | Cuts a slice for each head in a comprehension and stacks them at the third axis from the end.
def split_heads(tokens, num_heads):
    width = tokens.shape[-1] // num_heads
    return torch.stack([tokens[..., h * width : (h + 1) * width] for h in range(num_heads)], dim=-3)
