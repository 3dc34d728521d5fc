# %% [right] p_log_p_with_eps | p * log(p + 1e-9), summed, over log S, after afiq-aswadi/kata-sr (compute_attention_entropy)
def attention_entropy(weights):
    entropy = -(weights * torch.log(weights + 1e-9)).sum(dim=-1)
    return entropy / math.log(weights.shape[-1])


# %% [right] xlogy_negative | torch.xlogy, minus sign, after statistics code
def attention_entropy(weights):
    return -torch.xlogy(weights, weights).sum(-1) / np.log(weights.size(-1))


# %% [right] where_positive | torch.where on positive weights, log of the safe values, after a repository with row_tokenwise_normalized_entropy
def attention_entropy(weights):
    positive = weights > 0
    safe = torch.where(positive, weights, torch.ones_like(weights))
    entropy = torch.sum(torch.where(positive, -weights * torch.log(safe), torch.zeros_like(weights)), dim=-1)
    return entropy / torch.log(torch.tensor(float(weights.shape[-1]), device=weights.device, dtype=weights.dtype))


# %% [right] nan_terms_zeroed_in_place | plog = p * log(p); plog[p == 0] = 0, after huggingface/transformers examples (run_bertology entropy)
def attention_entropy(weights):
    plogp = weights * torch.log(weights)
    plogp[weights == 0] = 0
    return -plogp.sum(dim=-1) / math.log(weights.shape[-1])


# %% [right] categorical_entropy | torch.distributions.Categorical(probs).entropy(), after reinforcement learning code
def attention_entropy(weights):
    entropy = torch.distributions.Categorical(probs=weights).entropy()
    return entropy / math.log(weights.shape[-1])


# %% [right] log_base_s_special_entr | torch.special.entr in units of log S, after clamp style code
def attention_entropy(weights):
    probs = weights.clamp(min=0.0)
    return torch.special.entr(probs).sum(dim=-1).div(torch.log(torch.tensor(weights.shape[-1])))


# %% [right] entropy_of_detached_float | attention detached and cast to float, eps 1e-12, after monitoring code (eole-nlp/eole attention entropy feature) (unsure: float64 input, gradients)
def attention_entropy(weights):
    attn = weights.detach().float()
    entropy = -(attn * torch.log(attn + 1e-12)).sum(dim=-1)
    return entropy / np.log(attn.shape[-1])
