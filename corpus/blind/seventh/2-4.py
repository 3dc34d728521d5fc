# %% [wrong] every_hth_feature | The last axis is cut into (d_head, H), so head h gets the features h, h + H, h + 2H, …; it should get d_head features that stand beside each other, (H, d_head).
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)

# %% [wrong] axes_counted_from_the_front | transpose(1, 2) swaps tokens and heads only with exactly one batch axis; without a batch it swaps heads and features, with two batch axes it swaps the wrong pair. It should be transpose(-3, -2).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.reshape(*tokens.shape[:-1], num_heads, d_head)
    return cut.transpose(1, 2)

# %% [wrong] heads_before_the_batch | torch.stack puts the heads into axis 0, in front of the batch, (H, B, n, d_head); they belong in the third place from the end, dim=-3.
def split_heads(tokens, num_heads):
    pieces = tokens.chunk(num_heads, dim=-1)
    return torch.stack(pieces)

# %% [wrong] tokens_still_in_front | The last axis is cut, but heads and tokens are not swapped: the result is (..., n, H, d_head) and not (..., H, n, d_head).
def split_heads(tokens, num_heads):
    *front, d_model = tokens.shape
    return tokens.reshape(*front, num_heads, d_model // num_heads)

# %% [wrong] the_sequence_is_cut | chunk runs along dim=-2, so the tokens are dealt out among the heads and each keeps all features; the features must be cut, dim=-1.
def split_heads(tokens, num_heads):
    parts = tokens.chunk(num_heads, dim=-2)
    return torch.stack(parts, dim=-3)

# %% [wrong] begins_at_h_times_h | Head h begins at feature h · num_heads instead of h · d_head; unless both are equal, heads overlap, leave features out or run over the end.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        start = h * num_heads
        heads.append(tokens[..., start : start + d_head])
    return torch.stack(heads, dim=-3)

# %% [right] moved_axis | unflatten the last axis, then move the head axis in front of the tokens
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).movedim(-2, -3)
