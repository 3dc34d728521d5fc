# %% [right] view_with_star_shape | view(*lead, n, H, d) and transpose, after FRIDAYFRINGE/Attention (view and transpose(1, 2)) (unsure: tokens that view refuses)
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.view(*lead, n, num_heads, d_model // num_heads).transpose(-3, -2)


# %% [right] chunk_and_stack | chunks of the last axis stacked as heads, after TensorFlow style split-and-concat (kyubyong/transformer)
def split_heads(tokens, num_heads):
    return torch.stack(torch.chunk(tokens, num_heads, dim=-1), dim=-3)


# %% [right] size_tuple_plus_permute | new shape from size()[:-1] and permute with computed axes, after maximzubkov/LinBERT (transpose_for_scores)
def split_heads(tokens, num_heads):
    new_x_shape = tokens.size()[:-1] + (num_heads, tokens.size(-1) // num_heads)
    x = tokens.reshape(new_x_shape)
    axes = list(range(x.dim()))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return x.permute(*axes).contiguous()


# %% [right] unflatten_movedim | unflatten and movedim, after recent PyTorch tutorials (nested tensor MHA)
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, [num_heads, d_head]).movedim(-2, -3)


# %% [right] tensor_split_sizes | torch.split with a width, an axis added to each piece, cat, after peterbloem/former narrow-head code
def split_heads(tokens, num_heads):
    width = tokens.size(-1) // num_heads
    pieces = [piece.unsqueeze(-3) for piece in torch.split(tokens, width, dim=-1)]
    return torch.cat(pieces, dim=-3)


# %% [right] strided_window_view | unfold along the last axis with step d_head, after sliding window view tricks
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unfold(-1, d_head, d_head).swapaxes(-3, -2)
