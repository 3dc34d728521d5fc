# %% [wrong] features_dealt_like_cards | The last axis is cut into (d_head, H), so head h gets every H-th feature and not a run of neighbours.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    dealt = tokens.unflatten(-1, (d_head, num_heads))
    return dealt.movedim(-1, -3)

# %% [wrong] heads_before_the_batch | The heads are stacked as the very first axis: without a batch that is right, with one the heads stand in front of it.
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=0)

# %% [wrong] pieces_of_num_heads_numbers | tensor.split takes the size of a piece and not how many there are: there are d_head heads of H numbers each.
def split_heads(tokens, num_heads):
    pieces = torch.split(tokens, num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)
