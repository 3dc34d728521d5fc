# %% [wrong] hook_left_on_the_layer | a hook on W_O takes the head's numbers away, and it is never removed: the layer does not stay as it is, from then on it works without this head
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.in_features // attention_layer.num_heads

    def silence(module, inputs):
        merged = inputs[0].clone()
        merged[..., head * d_head : (head + 1) * d_head] = 0
        return (merged,)

    attention_layer.W_O.register_forward_pre_hook(silence)
    output, _ = attention_layer(tokens, context, mask)
    return output


# %% [wrong] rows_of_W_O | rows of W_O.weight are set to zero instead of columns: an nn.Linear holds (out, in), so this blanks part of the OUTPUT and leaves the head in
import copy


def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    layer = copy.deepcopy(attention_layer)
    size = layer.W_O.weight.shape[0] // layer.num_heads
    with torch.no_grad():
        layer.W_O.weight[head * size : (head + 1) * size] = 0.0
    return layer(tokens, context, mask)[0]


# %% [wrong] query_set_to_zero | the head's query is set to zero: all its scores become 0, it attends to all keys alike, and still brings back their mean
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    q = split_heads(attention_layer.W_Q(tokens), H)
    k = split_heads(attention_layer.W_K(source), H)
    v = split_heads(attention_layer.W_V(source), H)
    keep = torch.ones(H, 1, 1, dtype=q.dtype, device=q.device)
    keep[head] = 0
    out, _ = masked_attention(q * keep, k, v, None if mask is None else mask.unsqueeze(-3))
    return attention_layer.W_O(merge_heads(out))


# %% [wrong] self_attention_forgotten | the values are made from `context` without the case None: in self-attention W_V gets None and raises an error
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ values
    heads = torch.cat(
        [heads[..., :head, :, :], torch.zeros_like(heads[..., head : head + 1, :, :]), heads[..., head + 1 :, :, :]],
        dim=-3,
    )
    return attention_layer.W_O(merge_heads(heads))


# %% [wrong] mask_lost_for_the_head | what the head adds is computed from the weights WITHOUT the mask and subtracted from the output WITH it: under a mask something else is taken away than was added
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output = attention_layer(tokens, context, mask)[0]
    source = context if context is not None else tokens
    weights = attention_layer(tokens, source)[1][..., head, :, :]
    d = attention_layer.W_V.out_features // attention_layer.num_heads
    block = slice(head * d, (head + 1) * d)
    contribution = weights @ attention_layer.W_V(source)[..., block]
    return output - contribution @ attention_layer.W_O.weight[:, block].T


# %% [right] sum_of_the_others | builds the sum of the other heads from nothing, each with one matrix that folds its rows of W_V and its columns of W_O together
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    whole, weights = attention_layer(tokens, context, mask)
    into = attention_layer.W_V.weight.chunk(attention_layer.num_heads, dim=0)
    out_of = attention_layer.W_O.weight.chunk(attention_layer.num_heads, dim=1)
    rest = torch.zeros_like(whole)
    for h, (rows, columns) in enumerate(zip(into, out_of)):
        if h != head:
            rest = rest + weights[..., h, :, :] @ F.linear(source, columns @ rows)
    return rest
