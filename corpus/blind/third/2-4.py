# %% [wrong] single_reshape | One reshape to (..., H, n, d_head): the shape is right, but a head gets whole tokens in place of its features of every token.
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)

# %% [wrong] interleaved_features | Cuts the last axis as (d_head, H), so head h gets every H-th feature and not a block of neighbours.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.unflatten(-1, (d_head, num_heads))
    return cut.movedim(-1, -3)

# %% [wrong] axes_from_the_front | Swaps axes 1 and 2, which are tokens and heads only with exactly one batch axis.
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).transpose(1, 2)

# %% [wrong] split_size_is_count | torch.split takes the size of a piece, not their number: right only where d_head happens to equal H.
def split_heads(tokens, num_heads):
    return torch.stack(tokens.split(num_heads, dim=-1), dim=-3)

# %% [wrong] heads_in_front_of_batch | Stacks the heads as the first axis, before the batch: (H, B, n, d_head).
def split_heads(tokens, num_heads):
    d = tokens.size(-1) // num_heads
    return torch.stack([tokens[..., h * d : (h + 1) * d] for h in range(num_heads)])

# %% [wrong] no_swap | Cuts the last axis and leaves heads and tokens unswapped: (..., n, H, d_head).
def split_heads(tokens, num_heads):
    shape = tokens.shape[:-1] + (num_heads, tokens.shape[-1] // num_heads)
    return tokens.reshape(shape)

# %% [right] sliding_unfold | Cuts with Tensor.unfold, windows of d_head numbers with a step of d_head, then swaps.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unfold(-1, d_head, d_head).swapaxes(-3, -2)
