# %% [right] values_first_then_attention | d_k from size(), matmul, softmax, values and attention returned, after hypercube-ai-dev/simple_ne (simple_ne_attention.py)
def attention(query, key, value):
    d_k = query.size()[-1]
    attn_logits = torch.matmul(query, key.transpose(-2, -1))
    attn_logits = attn_logits / math.sqrt(d_k)
    attn = torch.softmax(attn_logits, dim=-1)
    values = torch.matmul(attn, value)
    return values, attn


# %% [right] float32_softmax_then_type_as | softmax in float32, then type_as the query, after ise-uiuc/WhiteFox (sfdp=7: float32 softmax, cast back) (unsure: precision of float64 input)
def attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    scores = F.softmax(scores.float(), dim=-1).type_as(query)
    return torch.matmul(scores, value), scores


# %% [right] subtract_detached_amax | sim - sim.amax().detach() before the softmax, after mlfoundations/open_flamingo (helpers.py, PerceiverAttention)
def attention(query, key, value):
    q = query * query.shape[-1] ** -0.5
    sim = torch.einsum("... i d, ... j d -> ... i j", q, key)
    sim = sim - sim.amax(dim=-1, keepdim=True).detach()
    attn = sim.softmax(dim=-1)
    out = torch.einsum("... i j, ... j d -> ... i d", attn, value)
    return out, attn


# %% [right] baddbmm_and_bmm | folded batch, baddbmm with alpha, bmm with the values, after huggingface/diffusers (AttnProcessor) (unsure: leading dimensions that broadcast)
def attention(query, key, value):
    lead = query.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    scores = torch.baddbmm(
        torch.zeros(q.shape[0], q.shape[1], k.shape[1], dtype=q.dtype, device=q.device),
        q,
        k.transpose(-1, -2),
        beta=0,
        alpha=q.shape[-1] ** -0.5,
    )
    probs = scores.softmax(dim=-1)
    hidden_states = torch.bmm(probs, v)
    return hidden_states.reshape(*lead, *hidden_states.shape[-2:]), probs.reshape(*lead, *probs.shape[-2:])


# %% [right] ones_column_as_denominator | a column of ones behind the values gives the denominator of the same product, after linear attention code (lucidrains/performer-pytorch idea)
def attention(query, key, value):
    scores = (query @ key.transpose(-2, -1)) * key.shape[-1] ** -0.5
    unnormalised = (scores - scores.amax(-1, keepdim=True)).exp()
    ones = torch.ones_like(value[..., :1])
    both = unnormalised @ torch.cat([value, ones], dim=-1)
    total = both[..., -1:]
    return both[..., :-1] / total, unnormalised / total


# %% [right] loop_over_queries | one query after the other, torch.softmax for each, outputs stacked, after rasbt/LLMs-from-scratch (ch03, context vector of one query)
def attention(query, key, value):
    outputs, weights = [], []
    for i in range(query.shape[-2]):
        q_i = query[..., i : i + 1, :]
        w_i = torch.softmax(q_i @ key.transpose(-2, -1) / key.shape[-1] ** 0.5, dim=-1)
        weights.append(w_i)
        outputs.append(w_i @ value)
    return torch.cat(outputs, dim=-2), torch.cat(weights, dim=-2)


# %% [right] module_softmax_and_weighted_sum | nn.Softmax(dim=-1), then broadcast multiply and sum in place of a product, after explaining blog posts (memory heavy)
def attention(query, key, value):
    softmax = nn.Softmax(dim=-1)
    weights = softmax(torch.einsum("...qd,...kd->...qk", query, key) / np.sqrt(query.shape[-1]).item())
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2)
    return output, weights


# %% [right] vmap_over_leading_axes | torch.vmap of a two-dimensional function, once for each leading axis, after al-jshen/gpt (gpt/utils.py)
def _attend(q, k, v):
    w = torch.softmax(q @ k.T * q.shape[-1] ** -0.5, dim=-1)
    return w @ v, w


def attention(query, key, value):
    attend = _attend
    for _ in range(query.ndim - 2):
        attend = torch.vmap(attend)
    return attend(query, key, value)


# %% [right] own_stable_softmax_inside | a private softmax with max and exp, einsum for both products, after a CS336 answer (jaxtyping style)
def attention(query, key, value):
    def soft(x):
        y = (x - x.max(dim=-1, keepdim=True).values).exp()
        return y / y.sum(dim=-1, keepdim=True)

    qk = torch.einsum("...qd,...kd->...qk", query, key)
    probs = soft(qk / key.shape[-1] ** 0.5)
    return torch.einsum("...qk,...kv->...qv", probs, value), probs


# %% [right] softmax_along_minus_two_of_the_transposed | keys as rows, softmax over the key axis, transposed at the end, after column-convention code
def attention(query, key, value):
    scores = key @ query.transpose(-2, -1) / math.sqrt(key.shape[-1])  # (..., K, Q)
    weights = F.softmax(scores, dim=-2).transpose(-2, -1)
    return weights @ value, weights


# %% [right] in_place_scores | scores /= sqrt(d), weights by softmax, asserts on shapes, after nlp course code (CS224n a5)
def attention(query, key, value):
    assert query.size(-1) == key.size(-1) and key.size(-2) == value.size(-2)
    scores = torch.matmul(query, key.transpose(-2, -1))
    scores /= math.sqrt(query.size(-1))
    alpha = F.softmax(scores, dim=-1)
    a = torch.matmul(alpha, value)
    return a, alpha


# %% [right] dot_product_module_called | an nn.Module with temperature and dropout 0, called by the function, after jadore801120/attention-is-all-you-need-pytorch (ScaledDotProductAttention)
class _ScaledDotProductAttention(nn.Module):
    def __init__(self, temperature, attn_dropout=0.0):
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(attn_dropout)

    def forward(self, q, k, v):
        attn = torch.matmul(q / self.temperature, k.transpose(-2, -1))
        attn = self.dropout(F.softmax(attn, dim=-1))
        output = torch.matmul(attn, v)
        return output, attn


def attention(query, key, value):
    return _ScaledDotProductAttention(temperature=query.size(-1) ** 0.5)(query, key, value)


# %% [right] log_softmax_exponentiated | log_softmax, then exp, einsum with swapped letters, after probabilistic code
def attention(query, key, value):
    logits = torch.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5
    weights = logits.log_softmax(dim=-1).exp()
    return torch.einsum("...jv,...ij->...iv", value, weights), weights


# %% [right] float_scale_tensor_parameter_free | torch.rsqrt scale, addmm free folding with flatten and unflatten, torch.bmm twice, after multi-head code that folds heads into the batch (unsure: leading dimensions that broadcast)
def attention(query, key, value):
    lead = query.shape[:-2]
    count = 1
    for size in lead:
        count *= size
    q = query.reshape(count, *query.shape[-2:])
    k = key.reshape(count, *key.shape[-2:])
    v = value.reshape(count, *value.shape[-2:])
    w = F.softmax(torch.bmm(q, k.transpose(1, 2)) * (float(q.size(-1)) ** -0.5), dim=-1)
    out = torch.bmm(w, v)
    return out.reshape(*lead, *out.shape[1:]), w.reshape(*lead, *w.shape[1:])


# %% [right] import_torch_as_t | torch imported as t, einops-free einsum names, after callummcdougall/ARENA_3.0 (attention from scratch)
import torch as t


def attention(query: t.Tensor, key: t.Tensor, value: t.Tensor) -> tuple[t.Tensor, t.Tensor]:
    d_head = query.shape[-1]
    attn_scores = t.einsum("...qh,...kh->...qk", query, key)
    attn_pattern = (attn_scores / d_head**0.5).softmax(-1)
    z = t.einsum("...kv,...qk->...qv", value, attn_pattern)
    return z, attn_pattern


# %% [right] global_max_before_softmax | the largest score of the whole tensor subtracted, then softmax, after a masked_softmax with x - torch.max(x)
def attention(query, key, value):
    x = torch.matmul(query, key.transpose(-2, -1)) * query.shape[-1] ** -0.5
    x = x - torch.max(x)
    Y = F.softmax(x, dim=-1)
    return Y @ value, Y
