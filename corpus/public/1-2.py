# %% [right] scale_the_query_first | q * d ** -0.5 before the product, after lucidrains/vit-pytorch (scale = dim_head ** -0.5)
def scaled_scores(query, key):
    scale = query.shape[-1] ** -0.5
    q = query * scale
    return torch.einsum("... i d, ... j d -> ... i j", q, key)


# %% [right] fourth_root_on_both_sides | both sides divided by the fourth root of the width, after openai/guided-diffusion (QKVAttention)
import math


def scaled_scores(query, key):
    scale = 1 / math.sqrt(math.sqrt(key.shape[-1]))
    return (query * scale) @ (key * scale).transpose(-1, -2)


# %% [right] baddbmm_with_alpha | torch.baddbmm with beta=0 and alpha=scale, after huggingface/diffusers (Attention.get_attention_scores) (unsure: leading dimensions that broadcast)
def scaled_scores(query, key):
    lead, n, m = query.shape[:-2], query.shape[-2], key.shape[-2]
    q, k = query.reshape(-1, n, query.shape[-1]), key.reshape(-1, m, key.shape[-1])
    empty = torch.empty(q.shape[0], n, m, dtype=q.dtype, device=q.device)
    scores = torch.baddbmm(empty, q, k.transpose(-1, -2), beta=0, alpha=q.shape[-1] ** -0.5)
    return scores.reshape(*lead, n, m)


# %% [right] numpy_root | np.sqrt of a Python int, after hypercube-ai-dev style UvA tutorial code (phlippe/uvadlc_notebooks, tutorial 6)
def scaled_scores(query, key):
    d_k = query.size()[-1]
    attn_logits = torch.matmul(query, key.transpose(-2, -1))
    attn_logits = attn_logits / math.sqrt(d_k)
    return attn_logits


# %% [right] root_as_a_tensor_in_the_dtype | torch.sqrt of a tensor made in the dtype of the query, after a CS336 answer (minimal_transformer_llm)
def scaled_scores(query, key):
    root = torch.sqrt(torch.tensor(key.shape[-1], dtype=query.dtype, device=query.device))
    return torch.einsum("...qd,...kd->...qk", query, key) / root


# %% [right] in_place_division | scores divided in place with div_, after code that saves memory by in-place arithmetic
def scaled_scores(query, key):
    scores = torch.matmul(query, key.transpose(-2, -1))
    return scores.div_(key.size(-1) ** 0.5)


# %% [right] rsqrt_of_the_width | multiplication with torch.rsqrt, after triton style kernels (Dao-AILab/flash-attention, softmax_scale)
def scaled_scores(query, key):
    softmax_scale = torch.rsqrt(query.new_tensor(float(query.shape[-1])))
    return attention_scores(query, key) * softmax_scale
