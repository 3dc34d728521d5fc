# %% [wrong] a_single_reshape | A single reshape to (..., H, n, d_head). The shape is right, but the numbers are cut in memory order: head 0 gets the first tokens whole and not the first features of every token.
def split_heads(tokens, num_heads):
    *batch, n, d_model = tokens.shape
    return tokens.reshape(*batch, num_heads, n, d_model // num_heads)


# %% [wrong] features_dealt_out_like_cards | Cuts the last axis into (d_head, H), so head h gets the features h, h + H, h + 2H and so on, and not a block of neighbours. By hand head 0 gets [0, 2] and not [0, 1].
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    dealt = tokens.unflatten(-1, (d_head, num_heads))
    return dealt.movedim(-1, -3)


# %% [wrong] axes_counted_from_the_front | Swaps the axes 1 and 2, counted from the front. That is right with one batch axis; without a batch it swaps heads and features, with two batch axes a batch axis and the tokens.
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.reshape(*tokens.shape[:-1], num_heads, d_head)
    return cut.transpose(1, 2)


# %% [wrong] pieces_of_the_wrong_size | torch.split wants the size of a piece and not their number. There come d_model / num_heads pieces of num_heads numbers; it is right only where the two are equal, as in the example by hand.
def split_heads(tokens, num_heads):
    pieces = torch.split(tokens, num_heads, dim=-1)
    return torch.stack(pieces, dim=-3)


# %% [wrong] already_turned_for_the_keys | Leaves the last two axes as (d_head, n), the layout in which older code keeps its keys for the matrix product. Asked for is (..., H, n, d_head).
def split_heads(tokens, num_heads):
    n_state = tokens.shape[-1]
    x = tokens.reshape(tokens.shape[:-1] + (num_heads, n_state // num_heads))
    return x.movedim(-3, -1)


# %% [right] cut_while_transposed | Transposes first, so that the features come before the tokens, cuts them there, and transposes back: the heads' axis is then in its place without a swap.
def split_heads(tokens, num_heads):
    features_first = tokens.mT
    return features_first.unflatten(-2, (num_heads, -1)).mT
