# %% [wrong] one_reshape | A single reshape to (..., H, n, d_head) has the right shape and sorts the numbers wrongly: head 0 gets all of the first tokens in place of the first features of every token.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)

# %% [wrong] features_dealt_like_cards | The last axis is cut into (d_head, H) in place of (H, d_head): head h gets the features h, h + H, h + 2H, …. It should get neighbouring ones, from h · d_head on.
def split_heads(tokens, num_heads):
    d_head = tokens.size(-1) // num_heads
    cut = tokens.unflatten(-1, (d_head, num_heads))  # (..., n, d_head, H)
    return cut.movedim(-1, -3)

# %% [wrong] axes_counted_from_the_front | The swap is transpose(1, 2), which is right for one batch dimension only. With none it swaps heads and features, with two it swaps the wrong axes.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = tokens.reshape(*tokens.shape[:-1], num_heads, d_head)
    return heads.transpose(1, 2)

# %% [wrong] split_takes_a_size | tensor.split(num_heads) makes pieces of num_heads numbers, not num_heads pieces. Only where d_head equals H is it right; with d_model = 6 and H = 2 there are three heads of two numbers, not two of three.
def split_heads(tokens, num_heads):
    return torch.stack(tokens.split(num_heads, dim=-1), dim=-3)

# %% [wrong] heads_in_front_of_the_batch | The heads are stacked along axis 0 and stand in front of the batch: (H, B, n, d_head). Without a batch it is right; it should be (B, H, n, d_head).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(tokens[..., h * d_head : (h + 1) * d_head])
    return torch.stack(heads)

# %% [right] gathered_by_an_index_table | An index table (H, d_head) picks the features of every head at once; then the axis of the heads moves in front of the tokens.
def split_heads(tokens, num_heads):
    table = torch.arange(tokens.shape[-1], device=tokens.device).view(num_heads, -1)
    return tokens[..., table].movedim(-2, -3)
