# %% [wrong] one_reshape | a single reshape to (..., H, n, d_head): the shape is right, but head 0 gets all the features of the first tokens instead of the first features of all tokens
def split_heads(tokens, num_heads):
    *batch, n, d_model = tokens.shape
    d_head = d_model // num_heads
    return tokens.reshape(*batch, num_heads, n, d_head)


# %% [wrong] interleaved | cuts the last axis into (d_head, H) instead of (H, d_head): head h gets every H-th feature, not a block of neighbours
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.unflatten(-1, (d_head, num_heads))
    return cut.movedim(-1, -3)


# %% [wrong] heads_in_front | stacks the chunks along axis 0: with a batch the heads come before the batch, (H, ..., n, d_head)
def split_heads(tokens, num_heads):
    parts = torch.chunk(tokens, num_heads, dim=-1)
    return torch.stack(parts)


# %% [wrong] pieces_of_size_h | tensor.split takes the SIZE of a piece, and gets the number of heads: there are d_model / H pieces of width H, right only where H = d_head
def split_heads(tokens, num_heads):
    pieces = [piece for piece in tokens.split(num_heads, dim=-1)]
    return torch.stack(pieces, dim=-3)


# %% [wrong] one_batch_axis | writes three axes into the code (batch, n, d_model): raises without a batch and with two batch axes
def split_heads(tokens, num_heads):
    batch, n, d_model = tokens.shape
    d_head = d_model // num_heads
    heads = torch.empty(batch, num_heads, n, d_head, dtype=tokens.dtype, device=tokens.device)
    for h in range(num_heads):
        heads[:, h] = tokens[:, :, h * d_head : (h + 1) * d_head]
    return heads


# %% [right] sliding_window | Tensor.unfold cuts windows of d_head features with a step of d_head, then the axis of the windows moves
def split_heads(tokens, num_heads):
    width = tokens.shape[-1] // num_heads
    return tokens.unfold(-1, width, width).movedim(-2, -3)
