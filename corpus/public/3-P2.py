# %% [right] einsum_kv_and_z_with_eps | KV by einsum, Z with 1e-6 in the denominator, after idiap/fast-transformers (LinearAttention) (unsure: the eps)
def _elu_feature_map(x):
    return F.elu(x) + 1


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    Q = _elu_feature_map(query)
    K = _elu_feature_map(key)
    KV = torch.einsum("...sd,...sm->...dm", K, value)
    Z = 1 / (torch.einsum("...ld,...d->...l", Q, K.sum(dim=-2)) + 1e-6)
    return torch.einsum("...ld,...dm,...l->...lm", Q, KV, Z)


# %% [right] values_divided_by_length | values divided by the length and multiplied back, after zju3dv/LoFTR (linear_attention.py) (unsure: the eps)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    eps = 1e-6
    Q = torch.nn.functional.elu(query) + 1
    K = torch.nn.functional.elu(key) + 1
    v_length = value.size(-2)
    values = value / v_length  # keeps sums small
    KV = K.transpose(-2, -1) @ values
    Z = 1 / (Q @ K.sum(dim=-2).unsqueeze(-1) + eps)
    return (Q @ KV) * Z * v_length


# %% [right] d_inv_as_in_performer | D_inv first, context next, three einsums, after lucidrains/performer-pytorch (linear_attention)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = (F.elu(t) + 1.0 for t in (query, key))
    k_cumsum = k.sum(dim=-2)
    D_inv = 1.0 / torch.einsum("...nd,...d->...n", q, k_cumsum.type_as(q))
    context = torch.einsum("...nd,...ne->...de", k, value)
    out = torch.einsum("...de,...nd,...n->...ne", context, q, D_inv)
    return out


# %% [right] ones_column_with_values | a column of ones behind the values, one product for both sums, after mit-han-lab/efficientvit (LiteMLA pads v with 1)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    v = F.pad(value, (0, 1), mode="constant", value=1)
    out = torch.matmul(q, torch.matmul(k.transpose(-1, -2), v))
    return out[..., :-1] / out[..., -1:]


# %% [right] feature_map_by_where | elu + 1 written as x + 1 or exp(x), after hand written kernels
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))

    keys = phi(key)
    numerator = phi(query) @ (keys.mT @ value)
    denominator = phi(query) @ keys.sum(-2, keepdim=True).mT
    return numerator / denominator


# %% [right] recurrent_state_over_keys | a state S and a sum z that walk over the keys, after the RNN form in "Transformers are RNNs" code (fla-org/flash-linear-attention naive)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query) + 1, F.elu(key) + 1
    S = torch.zeros(*value.shape[:-2], k.shape[-1], value.shape[-1], dtype=value.dtype, device=value.device)
    z = torch.zeros_like(k[..., 0, :])
    for t in range(k.shape[-2]):
        S = S + k[..., t, :, None] * value[..., t, None, :]
        z = z + k[..., t, :]
    return (q @ S) / (q * z.unsqueeze(-2)).sum(-1, keepdim=True)


# %% [right] clamped_denominator_and_mm | denominators clamped at a small number, matmul chain on transposed keys, after HazyResearch or xformers style linear attention
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    phi_q = F.elu(query).add(1)
    phi_k_t = F.elu(key).add(1).transpose(-2, -1)
    context = phi_k_t.matmul(value)
    normalizer = phi_q.matmul(phi_k_t.sum(dim=-1, keepdim=True))
    return phi_q.matmul(context) / normalizer.clamp(min=1e-9)


# %% [right] chunked_sum_of_kv | the sums over keys made in chunks of 128, after memory saving variants (lucidrains/linear-attention-transformer buckets)
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q = F.elu(query, alpha=1.0) + 1
    context, k_sum = 0, 0
    for k, v in zip(key.split(128, dim=-2), value.split(128, dim=-2)):
        k = F.elu(k, alpha=1.0) + 1
        context = context + torch.einsum("...nd,...ne->...de", k, v)
        k_sum = k_sum + k.sum(dim=-2)
    return torch.einsum("...nd,...de->...ne", q, context) / torch.einsum("...nd,...d->...n", q, k_sum).unsqueeze(-1)


# %% [right] module_with_eps_called | an nn.Module with eps 1e-6 called by the function, layout with heads last made by movedim, after weihan28/paper_arch_implementations and other LinearAttention modules (unsure: the eps)
class _LinearAttention(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, queries, keys, values):
        Q = nn.functional.elu(queries) + 1
        K = nn.functional.elu(keys) + 1
        KV = torch.einsum("...sd,...sv->...vd", K, values)
        Z = 1 / (torch.einsum("...ld,...d->...l", Q, K.sum(dim=-2)) + self.eps)
        return torch.einsum("...ld,...vd,...l->...lv", Q, KV, Z).contiguous()


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _LinearAttention()(query, key, value)
