# %% [wrong] single_reshape | one reshape to (..., H, n, d_head) without a swap: the shape is right, but head 0 gets whole tokens and not the first features of every token
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)

# %% [wrong] strided_features | unflatten(-1, (d_head, H)) gives head h the features h, h + H, h + 2H …; it should be a block of neighbours, unflatten(-1, (H, d_head))
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    parts = tokens.unflatten(-1, (d_head, num_heads))
    return parts.movedim(-1, -3)

# %% [wrong] axes_counted_from_front | transpose(1, 2) is right with exactly one batch axis; without one, or with two, it swaps others than tokens and heads
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    x = tokens.reshape(*tokens.shape[:-1], num_heads, d_head)
    return x.transpose(1, 2)

# %% [wrong] swap_forgotten | it cuts the last axis and stops: (..., n, H, d_head) comes back, where heads should stand before tokens
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, tokens.shape[-1] // num_heads))

# %% [wrong] chunk_size | split(num_heads) makes pieces num_heads wide, not num_heads pieces: for d_model = 12 and 3 heads there are four heads of 3 numbers
def split_heads(tokens, num_heads):
    pieces = tokens.split(num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)

# %% [wrong] heads_in_front | the heads are stacked on axis 0, in front of the batch: (H, B, n, d_head) where (B, H, n, d_head) is asked; right only without a batch
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(tokens[..., h * d_head : (h + 1) * d_head])
    return torch.stack(heads)

# %% [right] unfold_windows | non-overlapping windows of the last axis: unfold cuts it into (H, d_head), and movedim brings the heads before the tokens
def split_heads(tokens, num_heads):
    width = tokens.shape[-1] // num_heads
    return tokens.unfold(-1, width, width).movedim(-2, -3)
