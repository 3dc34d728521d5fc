# %% [right] einsum_ellipsis | einsum with an ellipsis for the leading axes, after lllldj/cs336 style course answers (CS336 attention)
def attention_scores(query, key):
    return torch.einsum("...qd,...kd->...qk", query, key)


# %% [right] matmul_transposed_last_two | torch.matmul with transpose(-2, -1), after meme2515/transformer_pytorch (model.py)
def attention_scores(query, key):
    logits = torch.matmul(query, key.transpose(-2, -1))
    return logits


# %% [right] matrix_transpose_attribute | the .mT attribute in place of a transpose call, after torch documentation (Tensor.mT)
def attention_scores(query, key):
    return query @ key.mT


# %% [right] broadcast_product_and_sum | products of all pairs by broadcasting, summed over the width, after first versions of attention in blog posts
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)  # (..., Q, K, d_k)
    return pairs.sum(dim=-1)


# %% [right] bmm_on_flattened_batch | torch.bmm after folding all leading axes into one, after PSRahul/Transformer_Learner (util.py) (unsure: leading dimensions that broadcast)
def attention_scores(query, key):
    lead = query.shape[:-2]
    q = query.reshape(-1, query.size(-2), query.size(-1))
    k = key.reshape(-1, key.size(-2), key.size(-1))
    out = torch.bmm(q, k.permute(0, 2, 1))
    return out.view(*lead, query.size(-2), key.size(-2))


# %% [right] swapaxes_numpy_names | torch.swapaxes and torch.matmul, numpy names, after a numpy flavoured scaled_dot_product (torch.transpose, np.sqrt)
def attention_scores(query, key):
    key_t = torch.swapaxes(key, -1, -2)
    return torch.matmul(query, key_t)


# %% [right] inner_product_loop_over_queries | a Python loop over the queries that fills a new tensor, after Nahuelluca20/obsidian-garden (ch3, scores by torch.dot in a loop)
def attention_scores(query, key):
    rows = []
    for i in range(query.shape[-2]):
        q_i = query[..., i, :].unsqueeze(-1)  # (..., d_k, 1)
        rows.append((key @ q_i).squeeze(-1))
    return torch.stack(rows, dim=-2)
