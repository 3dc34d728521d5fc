# %% [wrong] softmax_along_axis_one | Runs the softmax along axis 1. Without a batch that is the keys; with a batch it is the queries, and then the columns of each map sum to 1 and not the rows.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores, dim=1)
    return weights @ value, weights


# %% [wrong] returned_in_the_wrong_order | Computes both things rightly but returns the weights first and the output second; asked for is output, weights.
def attention(query, key, value):
    attn = stable_softmax(scaled_scores(query, key))
    out = torch.matmul(attn, value)
    return attn, out


# %% [wrong] scaled_after_the_softmax | Divides by the root of d_k after the softmax and not before it. The rows of weights sum to 1/√d_k and not to 1, and they are sharper than they should be.
def attention(query, key, value):
    d_k = query.shape[-1]
    weights = stable_softmax(attention_scores(query, key)) / math.sqrt(d_k)
    output = weights @ value
    return output, weights


# %% [wrong] root_of_the_value_width | Divides the scores by the root of the width of the values. It is right only where d_v = d_k.
def attention(query, key, value):
    scale = value.size(-1) ** -0.5
    weights = (torch.einsum("...qd,...kd->...qk", query, key) * scale).softmax(dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


# %% [wrong] dropout_that_is_always_on | Copied a dropout of 0.1 from a tutorial. F.dropout is on by default, so a tenth of the weights becomes 0 at random and the rest is enlarged: rows no longer sum to 1, and two calls differ.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    p_attn = F.softmax(scores, dim=-1)
    p_attn = F.dropout(p_attn, p=0.1)
    return torch.matmul(p_attn, value), p_attn


# %% [right] through_the_logarithm | Takes exp of log_softmax, and mixes the values by broadcasting and a sum instead of a matrix product.
def attention(query, key, value):
    shares = scaled_scores(query, key).log_softmax(-1).exp()
    mixture = (shares.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)
    return mixture, shares
