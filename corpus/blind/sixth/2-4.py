# %% [wrong] one_reshape | One reshape to (..., H, n, d_head) has the right shape and the wrong numbers: head 0 gets the first tokens whole instead of the first features of every token
def split_heads(tokens, num_heads):
    *lead, n, d = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d // num_heads)

# %% [wrong] interleaved | The last axis is cut into (d_head, H) instead of (H, d_head), so head h gets every H-th feature and not a block of neighbours
def split_heads(tokens, num_heads):
    cut = tokens.unflatten(-1, (-1, num_heads))     # (..., n, d_head, H)
    return cut.movedim(-1, -3)

# %% [wrong] fixed_axes | transpose(1, 2) counts from the front: right for exactly one batch axis; without one it swaps heads and features, with two it swaps a batch axis with the tokens
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.reshape(*tokens.shape[:-1], num_heads, d_head).transpose(1, 2)

# %% [wrong] not_swapped | The axes of tokens and heads are never swapped: the result is (..., n, H, d_head) instead of (..., H, n, d_head)
def split_heads(tokens, num_heads):
    assert tokens.size(-1) % num_heads == 0
    return tokens.unflatten(-1, (num_heads, tokens.size(-1) // num_heads))

# %% [wrong] split_by_size | tokens.split(num_heads) cuts pieces that are num_heads wide, not num_heads pieces (np.split means the other): for d_model 12 and H = 3 there are 4 heads of 3
def split_heads(tokens, num_heads):
    pieces = tokens.split(num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)

# %% [wrong] heads_in_front | The heads are stacked as the very first axis (dim=0), so with a batch the result is (H, B, n, d_head) instead of (B, H, n, d_head)
def split_heads(tokens, num_heads):
    w = tokens.shape[-1] // num_heads
    heads = [tokens[..., h * w:(h + 1) * w] for h in range(num_heads)]
    return torch.stack(heads)

# %% [right] unfold | unfold over the features makes a window for each head, then the axes are moved
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    windows = tokens.unfold(-1, d_head, d_head)  # (..., n, H, d_head)
    return windows.movedim(-2, -3)
