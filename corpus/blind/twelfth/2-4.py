# %% [wrong] one_reshape | a single reshape to (H, n, d_head): the shape is right, but the numbers are cut in memory order and head 0 gets whole tokens, not its features of every token
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)


# %% [wrong] interleaved | the last axis is cut into (d_head, H) and not (H, d_head): head h gets every H-th feature, h, h + H, …, and not a block of its own
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.unflatten(-1, (d_head, num_heads))  # (..., n, d_head, H)
    return cut.movedim(-1, -3)


# %% [wrong] never_swapped | the features are cut but tokens and heads are not swapped: the result is (..., n, H, d_head)
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    parts = [tokens[..., h * d_head : (h + 1) * d_head] for h in range(num_heads)]
    return torch.stack(parts, dim=-2)


# %% [wrong] axes_from_the_front | the axes 1 and 2 are swapped, counted from the front: right for exactly one batch dimension; with none it swaps heads and features, with two it swaps a batch axis
def split_heads(tokens, num_heads):
    x = tokens.reshape(tokens.shape[:-1] + (num_heads, -1))
    return x.transpose(1, 2)


# %% [wrong] pieces_of_the_wrong_size | Tensor.split takes the SIZE of a piece and not their number: pieces of num_heads features, d_head of them, so H and d_head change places unless they are equal
def split_heads(tokens, num_heads):
    return torch.stack(tokens.split(num_heads, dim=-1), dim=-3)


# %% [right] table_of_features | a table (H, d_head) of feature numbers picks the features by indexing; then heads and tokens are swapped
def split_heads(tokens, num_heads):
    table = torch.arange(tokens.shape[-1], device=tokens.device).reshape(num_heads, -1)
    return tokens[..., table].swapaxes(-3, -2)
