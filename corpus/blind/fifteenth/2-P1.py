# %% [wrong] divided_by_log_of_queries | The entropy is divided by the logarithm of the number of queries. The largest entropy depends on the number of keys S, the last axis; the two agree only for square maps.
def attention_entropy(weights):
    n = weights.shape[-2] if weights.dim() > 1 else weights.shape[-1]
    h = torch.special.entr(weights).sum(-1)
    return h / torch.log(torch.tensor(float(n)))
# %% [wrong] all_queries_in_one_number | Picking the weights above 0 throws all rows into one long list, so one number comes back for all queries together. There should be one number for each query: sum along the last axis only.
def attention_entropy(weights):
    """0 for one key, 1 for all keys alike."""
    S = weights.size(-1)
    w = weights[weights > 0]          # leave out 0 * log 0
    return -(w * torch.log(w)).sum() / weights.new_tensor(float(S)).log()
# %% [wrong] only_keys_with_weight_counted | Divided by the logarithm of how many keys have weight, not of all keys. So half and half on two of four keys gives 1 in place of 0.5. The largest entropy there can be is log S.
def attention_entropy(weights):
    seen = (weights > 0).sum(dim=-1).clamp(min=2)
    terms = torch.where(weights > 0, weights * weights.clamp(min=1e-30).log(), torch.zeros_like(weights))
    return -terms.sum(dim=-1) / torch.log(seen.to(weights.dtype))
