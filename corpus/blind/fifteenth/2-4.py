# %% [wrong] features_dealt_out_like_cards | The last axis is cut into (d_head, H), so the features are dealt out in turn: head 0 gets 0, H, 2H and so on. Each head should get a block of neighbouring features: cut into (H, d_head).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (d_head, num_heads)).movedim(-1, -3)
# %% [wrong] blocks_as_wide_as_number_of_heads | split takes the size of a block, not how many blocks there are. So there are d_model / H heads of width H, which is right only where H and d_head are equal, as in the example.
def split_heads(tokens, num_heads):
    pieces = tokens.split(num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)
# %% [wrong] heads_in_front_of_the_batch | The heads are stacked in front of all axes, so with a batch the shape is (H, B, n, d_head). The heads belong right before the tokens: dim=-3.
def split_heads(tokens, num_heads):
    """(..., n, d_model) -> (..., H, n, d_head)"""
    d_head = tokens.size(-1) // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(tokens[..., h * d_head:(h + 1) * d_head])
    return torch.stack(heads)
