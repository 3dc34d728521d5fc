# %% [wrong] pieces_of_size_H | tensor.split takes the size of a piece, not the number of pieces. It gives d_model / H pieces of width H: right only where the number of heads equals their width.
def split_heads(tokens, num_heads):
    pieces = tokens.split(num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)

# %% [wrong] heads_in_front_of_the_batch | Stacks the heads along axis 0. They should stand just before the tokens: with a batch it is (H, B, n, d_head) in place of (B, H, n, d_head); without one it is right.
def split_heads(tokens, num_heads):
    heads = torch.chunk(tokens, num_heads, dim=-1)
    return torch.stack(list(heads))

# %% [wrong] width_is_a_float | Divides with / and hands the float on as a size. Sizes must be whole numbers, so it should be //: a TypeError.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    d_head = d_model / num_heads
    return tokens.reshape(*lead, n, num_heads, d_head).transpose(-3, -2)

# %% [wrong] heads_as_wide_as_the_model | Gives each head the whole token with the features of the others set to 0. A head should be d_head wide: the result is (..., H, n, d_model).
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    owner = torch.arange(tokens.shape[-1], device=tokens.device) // d_head
    keep = owner == torch.arange(num_heads, device=tokens.device)[:, None]
    return tokens.unsqueeze(-3) * keep[:, None, :].to(tokens.dtype)

# %% [wrong] slice_one_too_short | Takes "from h·d_head to (h + 1)·d_head" for a range that includes its end and subtracts 1. The end of a slice is not included anyway: each head loses its last feature.
def split_heads(tokens, num_heads):
    d = tokens.size(-1) // num_heads
    parts = [tokens[..., h * d : (h + 1) * d - 1] for h in range(num_heads)]
    return torch.stack(parts, -3)

# %% [wrong] every_Hth_feature | Cuts the last axis into (d_head, H), so head h gets every H-th feature. It should get neighbours, from h·d_head on: right shape, wrong features.
def split_heads(tokens, num_heads):
    cut = tokens.unflatten(-1, (-1, num_heads))
    return torch.movedim(cut, -1, -3)

# %% [right] index_table_of_features | Looks the features up by a table (H, d_head) of their numbers, and moves the axis of heads before the tokens.
def split_heads(tokens, num_heads):
    table = torch.arange(tokens.shape[-1], device=tokens.device).view(num_heads, -1)
    return tokens[..., table].movedim(-2, -3)
