# %% [right] scaled_scores_softmax | scores times d ** -0.5, softmax, after to_q, scale, softmax code of small vision transformers
def look_once(query, key, value):
    dots = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5
    attn = dots.softmax(dim=-1)
    return torch.matmul(attn, value), attn


# %% [right] same_lines_with_the_root | the given lines kept, the root added, exp made once, after homework repairs
import math


def look_once(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    scores = scores - scores.amax(-1, keepdim=True)
    raised = torch.exp(scores)
    weights = raised / raised.sum(-1, keepdim=True)
    return weights @ value, weights


# %% [right] normalised_before_the_product_by_fourth_roots | both sides scaled by d ** -0.25, einsum, float32 softmax cast back, after openai/whisper (qkv_attention)
def look_once(query, key, value):
    scale = query.shape[-1] ** -0.25
    qk = torch.einsum("...td,...sd->...ts", query * scale, key * scale)
    w = F.softmax(qk.float(), dim=-1).to(query.dtype)
    return torch.einsum("...ts,...sv->...tv", w, value), w
