# %% [wrong] one_added_inside_elu | The 1 is added before elu, so the features become negative where x is below -1. The feature is elu(x) + 1, which is always positive.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    q, k = F.elu(query + 1), F.elu(key + 1)
    above = q @ (k.transpose(-2, -1) @ value)
    below = q @ k.sum(-2).unsqueeze(-1)
    return above / below


# %% [wrong] queries_divided_by_root_d | The queries are divided by the root of d, as in softmax attention, before the feature map. The formula has no such scale: it compares the features of q and k as they are.
def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    def phi(x):
        return F.elu(x) + 1

    query = phi(query / query.shape[-1] ** 0.5)
    key = phi(key)
    memory = torch.einsum("...nd,...ne->...de", key, value)
    total = key.sum(dim=-2)
    numerator = torch.einsum("...nd,...de->...ne", query, memory)
    denominator = torch.einsum("...nd,...d->...n", query, total)
    return numerator / denominator.unsqueeze(-1)
