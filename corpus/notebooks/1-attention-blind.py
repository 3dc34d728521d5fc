# %% [right] prints_everywhere | debug prints of shapes and of sums inside the answers, and left-over print cells
# %% in exercise-1-1
# @exercise 1.1
def attention_scores(query, key):
    """The dot product of every query with every key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    #print("query", query.shape, "key", key.shape)
    scores = torch.matmul(query, key.transpose(-2, -1))
    print("scores shape:", scores.shape)
    return scores
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    print("computing softmax (not torch.softmax!) along dim", dim)
    max_score = scores.amax(dim, keepdim=True)
    max_score = max_score.masked_fill(max_score == -math.inf, 0.0)
    e = torch.exp(scores - max_score)
    total = e.sum(dim, keepdim=True)
    # print(e, total)
    total = total.masked_fill(total == 0, 1.0)
    return e / total
# %% after exercise-1-3
x = torch.tensor([[1.0, 2.0, 3.0], [float("-inf")] * 3])
print(stable_softmax(x))
print(stable_softmax(x).sum(-1))
print(torch.softmax(x, dim=-1), "<- nan in the second row")
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores)
    output = weights @ value
    print(f"{query.shape=} {key.shape=} {value.shape=} -> {output.shape=} {weights.shape=}")
    return output, weights
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    mask: None, or bool that broadcasts to (..., Q, K), True = may attend
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    scores = scaled_scores(query, key)
    if mask is not None:
        #print(mask)
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    # print(weights.sum(-1))
    return weights @ value, weights

# %% [right] sanity_against_sdpa | a cell under each exercise compares with F.scaled_dot_product_attention and torch.softmax, and uses names such as output, weights, scores, mask, dim
# %% after exercise-1-1
q = torch.randn(2, 3, 4)
k = torch.randn(2, 5, 4)
expected = torch.bmm(q, k.transpose(1, 2))
result = attention_scores(q, k)
assert torch.allclose(result, expected, atol=1e-6)
result.shape
# %% after exercise-1-3
scores = torch.randn(4, 6) * 10
for dim in (0, 1, -1, -2):
    output = stable_softmax(scores, dim)
    assert torch.allclose(output, torch.softmax(scores, dim), atol=1e-6), dim
    assert torch.allclose(output, F.softmax(scores, dim=dim), atol=1e-6), dim
print("softmax ok")
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    weights = stable_softmax(scaled_scores(query, key))
    return weights @ value, weights
# %% after exercise-1-4
query, key, value = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 6)
output, weights = attention(query, key, value)
expected = F.scaled_dot_product_attention(query, key, value)
print((output - expected).abs().max())
assert torch.allclose(output, expected, atol=1e-5)
# %% after exercise-1-6
mask = torch.ones(3, 5, dtype=torch.bool).tril()
output, weights = masked_attention(query.new_ones(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 6), mask)
scores = torch.zeros(3, 5).masked_fill(~mask, float("-inf"))
attn = torch.softmax(scores, -1)
print(attn, weights[0])
# %% after exercise-1-7
mha = nn.MultiheadAttention(8, 1, bias=False, batch_first=True)
sa = SelfAttention(8, 8)
with torch.no_grad():
    mha.in_proj_weight.copy_(torch.cat([sa.W_Q.weight, sa.W_K.weight, sa.W_V.weight]))
    mha.out_proj.weight.copy_(torch.eye(8))
    x = torch.randn(2, 5, 8)
    attn_output, attn_weights = mha(x, x, x)
    output, weights = sa(x)
print(torch.allclose(attn_output, output, atol=1e-5), torch.allclose(attn_weights, weights, atol=1e-5))

# %% [right] compare_switch | a global COMPARE near the top, and cells that compare under `if COMPARE:` or under no_grad
# %% before start
COMPARE = True   # set to False to make the notebook faster
VERBOSE = False
# %% after exercise-1-3
if COMPARE:
    for shape, dim in [((3,), 0), ((3, 4), 1), ((2, 3, 4), -2)]:
        scores = torch.randn(shape)
        softmax = torch.softmax(scores, dim=dim)
        mine = stable_softmax(scores, dim=dim)
        print(shape, dim, (softmax - mine).abs().max().item())
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    mask: None, or bool that broadcasts to (..., Q, K), True = may attend
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    if mask is None:
        return attention(query, key, value)
    scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores, dim=-1)
    if VERBOSE:
        print(weights)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
# %% after exercise-1-6
if COMPARE:
    with torch.no_grad():
        q = k = v = torch.randn(1, 6, 4)
        m = causal_mask(6)
        theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
        theirs_causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        ours = masked_attention(q, k, v, m)[0]
        print("sdpa", (theirs - ours).abs().max(), (theirs_causal - ours).abs().max())
else:
    masked_attention_fast = F.scaled_dot_product_attention

# %% [right] main_guard | demos below the functions under `if __name__ == "__main__":`, in the answer cells themselves
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    m = torch.max(scores, dim=dim, keepdim=True)[0]
    m = torch.where(m == float("-inf"), torch.zeros_like(m), m)
    num = torch.exp(scores - m)
    den = torch.sum(num, dim=dim, keepdim=True)
    den = torch.where(den == 0, torch.ones_like(den), den)
    return num / den


if __name__ == "__main__":
    t = torch.tensor([[2.0, 1.0], [1e4, -1e4]])
    print("mine :", stable_softmax(t))
    print("torch:", torch.softmax(t, dim=-1))
    assert torch.allclose(stable_softmax(t), F.softmax(t, dim=-1))
    assert torch.allclose(stable_softmax(t).log().clamp(min=-50), torch.log_softmax(t, -1).clamp(min=-50))
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    w = stable_softmax(scaled_scores(query, key), -1)
    return w @ value, w


if __name__ == "__main__":
    torch.manual_seed(0)
    Q, K, V = torch.rand(3, 2), torch.rand(4, 2), torch.rand(4, 5)
    out, w = attention(Q, K, V)
    ref = torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
    print("max difference to F.scaled_dot_product_attention:", float((out - ref).abs().max()))
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


if __name__ == "__main__":
    layer = SelfAttention(8, 4)
    n_params = sum(p.numel() for p in layer.parameters())
    assert n_params == 96, n_params
    print(nn.MultiheadAttention(8, 1))

# %% [right] namespace_of_helpers | a small class used as a namespace in an own cell holds the helpers; answers call it
# %% before two-tokens
class ops:
    """My own little toolbox."""

    @staticmethod
    def T(x):
        return x.transpose(-1, -2)

    @staticmethod
    def softmax(x, axis):
        top = x.amax(axis, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
        e = (x - top).exp()
        s = e.sum(axis, keepdim=True)
        return e / s.clamp(min=1.0)

    @classmethod
    def mix(cls, weights, value):
        return weights @ value, weights
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    return ops.softmax(scores, dim)
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    return ops.mix(ops.softmax(scaled_scores(query, key), -1), value)
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows."""
    s = scaled_scores(query, key)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    return ops.mix(ops.softmax(s, -1), value)
# %% after exercise-1-6
torch_softmax = torch.softmax  # to compare
s = torch.randn(3, 3)
print((ops.softmax(s, -1) - torch_softmax(s, -1)).abs().max())

# %% [right] old_versions_kept | earlier tries are kept under `if False:`, commented out, in a string, and above the good one
# %% in exercise-1-2
# @exercise 1.2
# version 1 (wrong, K instead of d_k)
def scaled_scores(query, key):
    return attention_scores(query, key) / math.sqrt(key.shape[-2])


# version 2
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    return attention_scores(query, key) / math.sqrt(query.shape[-1])
# %% in exercise-1-3
# @exercise 1.3
if False:
    def stable_softmax(scores, dim=-1):
        return torch.nan_to_num(torch.softmax(scores, dim=dim), nan=0.0)

"""
def stable_softmax(scores, dim=-1):
    return torch.exp(torch.log_softmax(scores, dim))   # not allowed
"""

# def stable_softmax(scores, dim=-1):
#     return (scores - torch.logsumexp(scores, dim, keepdim=True)).exp()


def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    biggest = scores.amax(dim, keepdim=True)
    biggest = biggest.masked_fill(biggest == -math.inf, 0.0)
    exps = torch.exp(scores - biggest)
    sums = exps.sum(dim, keepdim=True)
    return exps / sums.masked_fill(sums == 0, 1.0)
    # return torch.softmax(scores, dim)
# %% in exercise-1-4
# @exercise 1.4
def attention_v1(query, key, value):
    out = F.scaled_dot_product_attention(query, key, value)
    return out, None  # no weights :(


def attention(query, key, value):
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    # weights = stable_softmax(scaled_scores(query, key), dim=-2)   # NO! rows must sum to 1
    weights = stable_softmax(scaled_scores(query, key), dim=-1)
    output = weights @ value
    return output, weights

# %% [right] star_imports | star imports from math, torch.nn and torch.nn.functional in the given set-up cell; the answers use bare names
# %% in start
import math
import random
from math import *
from typing import Optional, Tuple

import numpy as np
import torch
from torch import nn
from torch.nn import *
from torch.nn import functional as F
from torch.nn.functional import *

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)  # the tensors here are small: several threads would mostly wait for each other


def need(name, exercise):
    """Stop here, kindly, while something that this cell works with is not there yet."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: this cell needs {name}, which is made further up")


print(f"PyTorch {torch.__version__} on {device}")
# %% in exercise-1-2
# @exercise 1.2
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key."""
    return attention_scores(query, key) / sqrt(key.size(-1))
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    m = scores.amax(dim, keepdim=True)
    m = torch.where(torch.isinf(m) & (m < 0), torch.zeros_like(m), m)
    x = torch.exp(scores - m)
    return x / x.sum(dim, keepdim=True).clamp_min(1)
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = softmax(scaled_scores(query, key), dim=-1)
    return weights @ value, weights
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = Linear(d_model, d_k, bias=False)
        self.W_K = Linear(d_model, d_k, bias=False)
        self.W_V = Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask: Optional[torch.Tensor] = None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [right] stub_left_above | the stub cells of 1.1 and 1.3 stay as they were handed out; the answers stand in new cells below them
# %% in exercise-1-1
# @exercise 1.1
def attention_scores(query, key):
    """The dot product of every query with every key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    raise NotImplementedError("TODO 1.1")
# %% after exercise-1-1
def attention_scores(query, key):
    return query @ key.transpose(-2, -1)
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    raise NotImplementedError("TODO 1.3")
# %% after exercise-1-3
# my solution for 1.3
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    p = (scores - largest).exp()
    z = p.sum(dim, keepdim=True)
    z[z == 0] = 1.0
    return p / z
# %% after exercise-1-3
stable_softmax(torch.tensor([2.0, 1.0])), torch.softmax(torch.tensor([2.0, 1.0]), 0)

# %% [right] alias_after_stub | stubs stay, own functions have other names, and a line assigns them to the names asked for
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    raise NotImplementedError("TODO 1.4")
# %% after exercise-1-4
def my_attention(query, key, value):
    w = stable_softmax(scaled_scores(query, key))
    return w @ value, w

attention = my_attention
# %% in exercise-1-5
# @exercise 1.5
def my_causal(n):
    return torch.ones(n, n).tril().bool()

def my_padding(lengths, n):
    pos = torch.arange(n, device=lengths.device)[None, None, :]
    return pos < lengths.view(-1, 1, 1)

causal_mask, padding_mask = my_causal, my_padding
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows."""
    raise NotImplementedError("TODO 1.6")
# %% after exercise-1-6
def my_masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None: s = s.masked_fill(mask == False, float('-inf'))
    w = stable_softmax(s)
    return w @ value, w
# %% after exercise-1-6
masked_attention = my_masked_attention
reference = F.scaled_dot_product_attention
print((masked_attention(torch.eye(3), torch.eye(3), torch.eye(3))[0] - reference(torch.eye(3)[None], torch.eye(3)[None], torch.eye(3)[None])[0]).abs().max())

# %% [right] class_finished_below | the class gets its forward in the next cell, as a function that is hung onto it
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
# %% after exercise-1-7
def forward(self, tokens, mask=None):
    q = self.W_Q(tokens)
    k = self.W_K(tokens)
    v = self.W_V(tokens)
    return masked_attention(q, k, v, mask)

SelfAttention.forward = forward
# %% in exercise-1-8
# @exercise 1.8
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
# %% after exercise-1-8
class CrossAttention(CrossAttention):
    # completed: forward was missing above
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [right] answer_twice | the answer cells of 1.3 and 1.6 stand twice, first a try with a fault and then the good one
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    e = torch.exp(scores)
    return e / e.sum(dim, keepdim=True)
# %% after check-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    maximum = scores.amax(dim, keepdim=True)
    maximum = torch.nan_to_num(maximum, neginf=0.0)
    e = torch.exp(scores - maximum)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total.clamp(min=1e-30), torch.zeros_like(e))
# %% after check-1-3
check("1.3")
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
# %% after exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights

# %% [right] cells_split | exercises cut into several cells: helper first, function after; the two masks in two cells
# %% in exercise-1-3
# @exercise 1.3
def row_max(scores, dim):
    top = scores.amax(dim=dim, keepdim=True)
    return torch.where(top == -math.inf, 0.0, top)
# %% after exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    e = (scores - row_max(scores, dim)).exp()
    n = e.sum(dim=dim, keepdim=True)
    return e / torch.where(n == 0, 1.0, n)
# %% in exercise-1-5
# @exercise 1.5
def causal_mask(n):
    """Position i may attend to positions 0…i.

    returns: (n, n) bool, True = may attend
    """
    i = torch.arange(n).unsqueeze(1)
    j = torch.arange(n).unsqueeze(0)
    return j <= i
# %% after exercise-1-5
causal_mask(4)
# %% after exercise-1-5
def padding_mask(lengths, n):
    """Every query may attend to the first lengths[b] keys.

    lengths: (B,) integers of 0…n
    returns: (B, 1, n) bool, True = may attend
    """
    B = lengths.shape[0]
    j = torch.arange(n, device=lengths.device).expand(B, 1, n)
    return j < lengths.reshape(B, 1, 1)
# %% after exercise-1-5
padding_mask(torch.tensor([3, 5]), 5).int()

# %% [right] cells_merged | exercises 1.1, 1.2 and 1.3 stand in one cell, with their marker lines inside
# %% in exercise-1-1
# @exercise 1.1
def attention_scores(query, key):
    """The dot product of every query with every key."""
    return query @ key.mT

# @exercise 1.2
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key."""
    return attention_scores(query, key) / key.shape[-1] ** 0.5

# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(torch.isneginf(top), 0)
    ex = torch.exp(scores - top)
    return ex / ex.sum(dim, keepdim=True).clamp(min=1)
# %% delete exercise-1-2
# %% delete exercise-1-3
# %% after check-1-3
# all three together:
qq, kk = torch.randn(2, 4), torch.randn(3, 4)
ww = stable_softmax(scaled_scores(qq, kk))
assert torch.allclose(ww, (qq @ kk.T / 2).softmax(-1), atol=1e-6)

# %% [right] cells_reordered | the student moved the softmax to the front and the masks before the attention, and works from there
# %% delete exercise-1-3
# %% delete check-1-3
# %% before about-1-1
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    m = scores.amax(dim=dim, keepdim=True)
    m = torch.where(torch.isfinite(m), m, torch.zeros_like(m))
    out = torch.exp(scores - m)
    return out / out.sum(dim=dim, keepdim=True).clamp(min=1.0)
# %% delete exercise-1-5
# %% delete check-1-5
# %% before about-1-4
# @exercise 1.5
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))

def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[:, None])[:, None, :]
# %% before about-1-4
mask = causal_mask(6)
plt.imshow(mask); plt.title("mask"); plt.show()

# %% [right] tidied_up | all self-checks, most figures and much prose were deleted before handing in
# %% delete check-1-1
# %% delete check-1-2
# %% delete check-1-3
# %% delete check-1-4
# %% delete check-1-5
# %% delete check-1-6
# %% delete check-1-7
# %% delete check-1-8
# %% delete check-1-9
# %% delete text-02
# %% delete text-05
# %% delete text-07
# %% delete text-12
# %% delete about-1-3
# %% delete about-1-4
# %% delete tools
# %% delete stuck-1-3
# %% delete stuck-1-4
# %% delete stuck-1-6
# %% delete stuck-1-7
# %% delete stuck-1-8
# %% delete stuck-1-9
# %% delete why-scale-figure
# %% delete scale-slider
# %% delete bottleneck-again
# %% delete glossary
# %% in exercise-1-9
# @exercise 1.9
def pointer_loss(weights, target):
    """The mean negative log weight on the target patch."""
    return -weights.gather(-1, target.unsqueeze(-1)).log().mean()

# %% [right] typed_and_dataclass | type hints everywhere, a frozen dataclass with the parts of an attention, shape asserts
# %% before exercise-1-4
from dataclasses import dataclass
from typing import NamedTuple, Optional

Tensor = torch.Tensor


@dataclass(frozen=True)
class AttentionConfig:
    dim: int = -1
    scale: bool = True
    check_shapes: bool = True


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


CONFIG = AttentionConfig()
# %% in exercise-1-4
# @exercise 1.4
def attention(query: Tensor, key: Tensor, value: Tensor) -> Attended:
    """Scaled dot-product attention.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    value: (..., K, d_v)
    returns: output (..., Q, d_v), weights (..., Q, K)
    """
    if CONFIG.check_shapes:
        assert query.shape[-1] == key.shape[-1], "query and key must be equally wide"
        assert key.shape[-2] == value.shape[-2], "one value for each key"
    scores: Tensor = scaled_scores(query, key) if CONFIG.scale else attention_scores(query, key)
    weights: Tensor = stable_softmax(scores, dim=CONFIG.dim)
    return Attended(output=weights @ value, weights=weights)
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
    """Attention that looks only where the mask allows."""
    if mask is None:
        output, weights = attention(query, key, value)
        return output, weights
    assert mask.dtype is torch.bool, mask.dtype
    scores = scaled_scores(query, key)
    hidden = torch.full_like(scores, -math.inf)
    weights = stable_softmax(torch.where(mask, scores, hidden), dim=-1)
    return weights @ value, weights
# %% in exercise-1-8
# @exercise 1.8
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    W_Q: nn.Linear
    W_K: nn.Linear
    W_V: nn.Linear

    def __init__(self, d_text: int, d_image: int, d_k: int) -> None:
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        query: Tensor = self.W_Q(text_tokens)
        key: Tensor = self.W_K(image_tokens)
        value: Tensor = self.W_V(image_tokens)
        output, weights = masked_attention(query, key, value, mask)
        assert weights.shape[-2:] == (text_tokens.shape[-2], image_tokens.shape[-2])
        return output, weights

# %% [right] own_decorators | an own timer and a counter of calls decorate the answers, by functools.wraps
# %% before exercise-1-1
import functools
import time as _time

calls = {}


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        t0 = _time.perf_counter()
        result = function(*args, **kwargs)
        calls.setdefault(function.__name__, []).append(_time.perf_counter() - t0)
        return result
    return wrapper


def check_finite(*, name=None):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            result = function(*args, **kwargs)
            assert not torch.isnan(result).any(), name or function.__name__
            return result
        return inner
    return decorate
# %% in exercise-1-1
# @exercise 1.1
@timed
def attention_scores(query, key):
    """The dot product of every query with every key."""
    return query @ key.transpose(-1, -2)
# %% in exercise-1-3
# @exercise 1.3
@timed
@check_finite(name="softmax")
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    powers = torch.exp(scores - top)
    total = powers.sum(dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)
# %% in exercise-1-5
# @exercise 1.5
@functools.lru_cache(maxsize=None)
def causal_mask(n):
    """Position i may attend to positions 0…i."""
    return torch.ones(n, n, dtype=torch.bool).tril()


@torch.no_grad()
def padding_mask(lengths, n):
    """Every query may attend to the first lengths[b] keys."""
    return torch.arange(n, device=lengths.device).reshape(1, 1, -1) < lengths.reshape(-1, 1, 1)
# %% after your-predictions
for name, seconds in calls.items():
    print(f"{name:20} {len(seconds):6} calls {1e3 * sum(seconds):8.1f} ms")

# %% [right] magics | %%time above the marker, %timeit against torch.softmax, shell lines, %matplotlib inline
# %% before setup
%matplotlib inline
%config InlineBackend.figure_format = 'retina'
!python --version
# %% in exercise-1-3
%%time
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    m = scores.amax(dim, keepdim=True)
    m = torch.where(m == -math.inf, torch.zeros_like(m), m)
    ex = (scores - m).exp()
    return ex / ex.sum(dim, keepdim=True).clamp(min=1.0)
# %% after exercise-1-3
scores = torch.randn(64, 64)
%timeit -n 10 -r 2 stable_softmax(scores)
%timeit -n 10 -r 2 torch.softmax(scores, dim=-1)
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = stable_softmax(scaled_scores(query, key))
    return weights @ value, weights

%timeit -n 5 -r 1 attention(torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 4))
%timeit -n 5 -r 1 F.scaled_dot_product_attention(torch.randn(1, 8, 4), torch.randn(1, 8, 4), torch.randn(1, 8, 4))
# %% after exercise-1-7
%%capture captured
SelfAttention(8, 4)(torch.randn(5, 8))
# %% after exercise-1-7
SelfAttention?

# %% [right] seeds_and_loops | seed = 42 and loops at top level whose variables have the names of the lesson
# %% in setup
device = "cpu"  # "cpu", "cuda", or "auto": the GPU if there is one
seed = 42
train_steps = None  # None: as many as the lesson says
# %% after exercise-1-1
for query in torch.randn(3, 4):
    for key in torch.randn(2, 4):
        print(float(query @ key), end=" ")
# %% after exercise-1-3
for seed in range(3):
    torch.manual_seed(seed)
    for dim in range(-3, 3):
        tokens = torch.randn(2, 3, 4)
        weights = stable_softmax(tokens, dim)
        output = torch.softmax(tokens, dim)
        assert torch.allclose(weights, output, atol=1e-6)
seed = 42
# %% after exercise-1-9
losses, steps, record = [], 5, {}
model = nn.Linear(9, 9)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(steps):
    opt.zero_grad()
    weights = torch.softmax(model(torch.eye(9)), dim=-1)
    loss = pointer_loss(weights, torch.arange(9))
    loss.backward()
    opt.step()
    losses.append(loss.item()); record[step] = loss.item()
print(losses)
assert losses[-1] < losses[0]

# %% [right] assistant_style | generated code: __all__, logging, long docstrings with examples, tests in the cell, typing
# %% in exercise-1-3
# @exercise 1.3
"""
Numerically stable softmax implementation.

This module-level docstring explains why we do NOT use ``torch.softmax``,
``torch.nn.functional.log_softmax`` or ``torch.logsumexp`` here.
"""
import logging
from typing import Final

logger = logging.getLogger("stable_softmax")
logger.addHandler(logging.NullHandler())

__all__ = ["stable_softmax"]

NEG_INF: Final[float] = float("-inf")


def stable_softmax(scores: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Compute softmax along ``dim`` in a numerically stable manner.

    The implementation subtracts the maximum score before exponentiation
    (the "log-sum-exp trick") so that the largest exponent is ``exp(0) = 1``.

    Args:
        scores: Input tensor of arbitrary shape. May contain ``-inf``.
        dim: Dimension along which softmax is computed.

    Returns:
        Tensor of the same shape as ``scores``.

    Example:
        >>> stable_softmax(torch.tensor([2.0, 1.0]))
        tensor([0.7311, 0.2689])
    """
    logger.debug("stable_softmax called with shape %s, dim=%d", tuple(scores.shape), dim)

    # Step 1: find the max along the dimension for numerical stability
    max_scores = torch.amax(scores, dim=dim, keepdim=True)

    # Step 2: guard against rows that are entirely -inf
    max_scores = torch.where(max_scores == NEG_INF, torch.zeros_like(max_scores), max_scores)

    # Step 3: exponentiate the shifted scores
    exp_scores = torch.exp(scores - max_scores)

    # Step 4: normalise
    sum_exp = exp_scores.sum(dim=dim, keepdim=True)
    safe_sum = torch.where(sum_exp == 0, torch.ones_like(sum_exp), sum_exp)
    return exp_scores / safe_sum


def _run_tests() -> None:
    """Test the implementation against PyTorch's built-in softmax."""
    test_cases = [
        ("simple", torch.tensor([2.0, 1.0])),
        ("large", torch.tensor([10000.0, -10000.0])),
        ("2d", torch.randn(3, 4)),
    ]
    for name, x in test_cases:
        result = stable_softmax(x)
        expected = torch.softmax(x, dim=-1)
        assert torch.allclose(result, expected, atol=1e-6), f"❌ {name}"
        print(f"✅ {name} passed")
    print("🎉 All tests passed!")


_run_tests()
# %% in exercise-1-9
# @exercise 1.9
def pointer_loss(weights: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Compute the mean negative log-likelihood of the target patch.

    Note:
        We cannot use ``F.cross_entropy`` here because it would apply ``log_softmax`` again.
    """
    # Gather the probability assigned to the correct patch
    target_probs = torch.gather(weights, dim=-1, index=target.unsqueeze(-1)).squeeze(-1)

    # Negative log-likelihood, averaged over all maps
    return -torch.log(target_probs).mean()


# Quick sanity check
_uniform = torch.full((2, 9), 1 / 9)
_loss = pointer_loss(_uniform, torch.tensor([0, 5]))
print(f"Loss for uniform map: {_loss:.3f} (expected: {math.log(9):.3f})")
assert abs(_loss.item() - F.nll_loss(_uniform.log(), torch.tensor([0, 5])).item()) < 1e-6

# %% [right] umlaute | German comments and docstrings, identifiers with non-ASCII letters, Greek letters as names
# %% in exercise-1-2
# @exercise 1.2
def scaled_scores(query, key):
    """Die Punktprodukte, geteilt durch √d_k (nicht durch die Anzahl der Schlüssel!)."""
    größe = query.shape[-1]
    return attention_scores(query, key) / math.sqrt(größe)
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Stabiles Softmax: erst das Maximum abziehen, dann exp, dann normieren.

    Aufgabe sagt: kein softmax, kein log_softmax, kein logsumexp!
    """
    größter = scores.amax(dim, keepdim=True)
    größter = größter.masked_fill(größter == -math.inf, 0.0)  # Zeile nur aus −∞
    ε = torch.exp(scores - größter)
    Σ = ε.sum(dim, keepdim=True)
    return ε / Σ.masked_fill(Σ == 0, 1.0)
# %% after exercise-1-3
# Kontrolle, ob das Gleiche wie bei PyTorch herauskommt
σ = torch.softmax
α = torch.randn(3, 5)
for ℓ in (0, 1):
    abweichung = (σ(α, ℓ) - stable_softmax(α, ℓ)).abs().max()
    print(f"Achse {ℓ}: größte Abweichung {abweichung:.1e}")
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Aufmerksamkeit: Gewichte α, dann das gewichtete Mittel der Werte."""
    α = stable_softmax(scaled_scores(query, key))
    return α @ value, α

# %% [right] clever_python | walrus, match statements, comprehensions, conditional expressions and a dictionary of functions
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    top = torch.nan_to_num(scores.amax(dim, keepdim=True), neginf=0.0)
    return (e := (scores - top).exp()) / ((s := e.sum(dim, keepdim=True)) + (s == 0))
# %% in exercise-1-5
# @exercise 1.5
causal_mask, padding_mask = (
    lambda n: (i := torch.arange(n))[:, None] >= i,
    lambda lengths, n: torch.arange(n, device=lengths.device) < lengths[:, None, None],
)
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows."""
    match mask:
        case None:
            scores = scaled_scores(query, key)
        case torch.Tensor():
            scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
        case _:
            raise TypeError("mask")
    return (weights := stable_softmax(scores)) @ value, weights
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        for name in "QKV":
            setattr(self, f"W_{name}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        return masked_attention(*(getattr(self, f"W_{name}")(tokens) for name in "QKV"), mask)
# %% after exercise-1-7
implementations = {
    "mine": lambda q, k, v: masked_attention(q, k, v)[0],
    "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    "softmax": lambda q, k, v: torch.softmax(q @ k.mT / q.size(-1) ** 0.5, -1) @ v,
}
q, k, v = torch.randn(3, 1, 5, 8)
outs = {name: f(q, k, v) for name, f in implementations.items()}
print({a + "/" + b: f"{(outs[a] - outs[b]).abs().max():.0e}" for a in outs for b in outs if a < b})

# %% [right] lambdas_and_partials | answers given as lambdas and functools.partial objects, no def at all in 1.1, 1.2 and 1.4
# %% in exercise-1-1
# @exercise 1.1
attention_scores = lambda query, key: torch.einsum("...ij,...kj->...ik", query, key)
# %% in exercise-1-2
# @exercise 1.2
scaled_scores = lambda query, key: attention_scores(query, key) / math.sqrt(key.shape[-1])
# %% in exercise-1-3
# @exercise 1.3
from functools import partial


def _normalise(scores, dim=-1, function=torch.exp):
    top = scores.amax(dim, keepdim=True)
    top = torch.where(top == -math.inf, 0.0, top)
    powers = function(scores - top)
    return powers / powers.sum(dim, keepdim=True).clamp(min=1.0)


stable_softmax = partial(_normalise, function=torch.exp)
# %% in exercise-1-4
# @exercise 1.4
_with = lambda weights, value: (weights @ value, weights)
attention = lambda query, key, value: _with(stable_softmax(scaled_scores(query, key), dim=-1), value)
# %% after exercise-1-4
softmax_of = partial(torch.softmax, dim=-1)
print((attention(*torch.ones(3, 4, 4))[1] - softmax_of(torch.ones(4, 4))).abs().max())

# %% [right] module_instances | the softmax and the loss are instances of own nn.Module classes
# %% in exercise-1-3
# @exercise 1.3
class StableSoftmax(nn.Module):
    """Like nn.Softmax, but a row of −∞ gives zeros. Does not use it, of course."""

    def forward(self, scores, dim=-1):
        peak = scores.amax(dim, keepdim=True)
        peak = torch.where(peak.isneginf(), torch.zeros_like(peak), peak)
        powers = (scores - peak).exp()
        total = powers.sum(dim, keepdim=True)
        return powers / torch.where(total == 0, torch.ones_like(total), total)

    def extra_repr(self):
        return "instead of nn.Softmax"


stable_softmax = StableSoftmax()
# %% after exercise-1-3
print(stable_softmax)
softmax = nn.Softmax(dim=0)
print(softmax(torch.arange(3.0)), stable_softmax(torch.arange(3.0), 0))
# %% in exercise-1-9
# @exercise 1.9
class PointerLoss(nn.Module):
    def forward(self, weights, target):
        S = weights.shape[-1]
        flat, where = weights.reshape(-1, S), target.reshape(-1)
        return F.nll_loss(flat.log(), where)


pointer_loss = PointerLoss()

# %% [right] many_plots | own figures titled softmax, dictionaries keyed softmax, style settings, warnings switched off
# %% before start
import warnings
warnings.filterwarnings("ignore")
# %% after provided-plots
plt.style.use("ggplot")
np.set_printoptions(precision=3, suppress=True)
torch.set_printoptions(precision=3, sci_mode=False)
plt.rcParams["figure.dpi"] = 90
# %% after exercise-1-3
x = torch.linspace(-5, 5, 50)
curves = {
    "softmax": torch.stack([torch.softmax(torch.stack([t, torch.zeros(())]), 0)[0] for t in x]),
    "stable_softmax": torch.stack([stable_softmax(torch.stack([t, torch.zeros(())]))[0] for t in x]),
    "log_softmax": torch.log_softmax(x, 0),
}
fig, ax = plt.subplots(1, 2, figsize=(7, 2.5))
for label, y in curves.items():
    ax[int(label == "log_softmax")].plot(x, y, label=label)
ax[0].set_title("softmax"); ax[1].set_title("F.log_softmax")
ax[0].legend()
plt.show()
# %% after exercise-1-4
with torch.no_grad():
    weights = {name: f(torch.eye(4) * 3) for name, f in {"softmax": lambda s: torch.softmax(s, -1), "mine": stable_softmax}.items()}
for i, (key, value) in enumerate(weights.items()):
    plt.subplot(1, 2, i + 1); plt.imshow(value, cmap="magma"); plt.title(key); plt.axis("off")
plt.tight_layout(); plt.show()

# %% [right] own_function_named_softmax | the student writes own helpers whose names are softmax and logsumexp, out of exp and sums
# %% before exercise-1-3
def logsumexp(x, dim):
    """own one, with exp / sum / max only"""
    m = x.amax(dim, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    return m + (x - m).exp().sum(dim, keepdim=True).log()
# %% before exercise-1-3
def softmax(x, dim=-1):
    lse = logsumexp(x, dim)
    lse = lse.masked_fill(lse == -math.inf, 0.0)   # empty row: exp(-inf - 0) = 0
    return (x - lse).exp()
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite.

    scores: any shape, may hold −∞
    returns: the same shape; sums to 1 along `dim`, or to 0 where all scores are −∞
    """
    return softmax(scores, dim)
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = softmax(scaled_scores(query, key), -1)
    return weights @ value, weights

# %% [right] one_base_class | both layers come from a base class in an own cell; its extra methods compare with PyTorch and are never called
# %% before exercise-1-7
class AttentionLayer(nn.Module):
    """What both layers have in common."""

    def __init__(self, d_query, d_context, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_query, d_k, bias=False)
        self.W_K = nn.Linear(d_context, d_k, bias=False)
        self.W_V = nn.Linear(d_context, d_k, bias=False)

    def attend(self, asking, answering, mask=None):
        return masked_attention(self.W_Q(asking), self.W_K(answering), self.W_V(answering), mask)

    def explain(self, asking, answering):
        """Compare with the ready-made function (only for me)."""
        theirs = F.scaled_dot_product_attention(self.W_Q(asking), self.W_K(answering), self.W_V(answering))
        ours = self.attend(asking, answering)[0]
        print("difference:", (theirs - ours).abs().max().item())
        return theirs

    def plot(self, weights, title="softmax(QK^T)"):
        plt.imshow(weights.detach()); plt.title(title); plt.show()
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(AttentionLayer):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_model, d_k)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return self.attend(tokens, tokens, mask)
# %% in exercise-1-8
# @exercise 1.8
class CrossAttention(AttentionLayer):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        return self.attend(text_tokens, image_tokens, mask)

# %% [right] tests_never_called | unittest-like functions and a reference by PyTorch stand in the answer cells, and nobody calls them
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    powers = torch.exp(scores - top)
    return powers / powers.sum(dim, keepdim=True).clamp(min=1.0)


def test_stable_softmax():
    x = torch.randn(5, 7)
    assert torch.allclose(stable_softmax(x), torch.softmax(x, -1))
    assert torch.allclose(stable_softmax(x, 0), torch.nn.Softmax(dim=0)(x))


def test_against_logsumexp():
    x = torch.randn(5, 7)
    assert torch.allclose(stable_softmax(x), (x - torch.logsumexp(x, -1, keepdim=True)).exp())
# %% in exercise-1-4
# @exercise 1.4
def attention_reference(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = stable_softmax(scaled_scores(query, key))
    return weights @ value, weights


def test_attention():
    q, k, v = torch.randn(3, 2, 4, 8).unbind(0)
    torch.testing.assert_close(attention(q, k, v)[0], attention_reference(q, k, v))
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

    @staticmethod
    def selftest():
        layer, ref = SelfAttention(8, 8), nn.MultiheadAttention(8, 1, bias=False)
        x = torch.randn(4, 8)
        return layer(x)[0] - ref(x, x, x)[0]

# %% [right] scratch_and_chaos | a scratch cell that raises, shadowed names, half of an import used, a moved cell, a second version under another mask
# %% after two-tokens
# why does this not work???  (raises: shapes do not fit)
torch.randn(2, 3) @ torch.randn(2, 3)
# %% before exercise-1-3
from torch.nn.functional import softmax as torch_softmax, relu, one_hot
from torch import exp, logsumexp as lse, nn as NN
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    dim = dim if dim >= 0 else scores.dim() + dim
    max = scores.max(dim, keepdim=True).values
    max[max == -math.inf] = 0
    input = exp(scores - max)
    sum = input.sum(dim, keepdim=True)
    sum[sum == 0] = 1
    return input / sum
# %% after exercise-1-3
list = [torch_softmax(torch.ones(3), 0), stable_softmax(torch.ones(3))]
print(list, lse(torch.ones(3), 0))
del list
# %% in exercise-1-6
# @exercise 1.6
MASK_VALUE = float("-inf")  # was -1e9, but then rows without any key are not 0
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    s = s if mask is None else s.masked_fill(~mask, MASK_VALUE)
    p = stable_softmax(s)
    o = p @ value
    return o, p
# %% after mask-meanings
# I do not understand the additive mask yet
additive = torch.zeros(5, 5).masked_fill(~causal_mask(5), MASK_VALUE)
attn = F.scaled_dot_product_attention(one, two, three, attn_mask=additive)
attention_old = attention
def sdpa(*a, **k): return F.scaled_dot_product_attention(*a, **k)
attn2 = sdpa(one, two, three, causal_mask(5))
print(torch.equal(attn, attn2))
# %% after written-1-Q2
# todo: delete before submitting!!
1 + 1

# %% [right] switch_in_answer | a global DEBUG that is False guards a comparison inside the function
# %% before exercise-1-3
DEBUG = False
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    top = scores.amax(dim, keepdim=True)
    top = torch.where(top == -math.inf, 0.0, top)
    powers = torch.exp(scores - top)
    result = powers / powers.sum(dim, keepdim=True).clamp(min=1.0)
    if DEBUG:
        print("apart from torch.softmax:", (result - torch.softmax(scores, dim)).abs().max())
    return result

# %% [right] unittest_and_scipy | unittest classes that are run in the notebook, and scipy's softmax and logsumexp imported to compare with
# %% after exercise-1-3
import unittest
from scipy.special import softmax, logsumexp


class TestSoftmax(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.scores = torch.randn(4, 5, dtype=torch.float64)

    def test_scipy(self):
        result = stable_softmax(self.scores)
        np.testing.assert_allclose(result.numpy(), softmax(self.scores.numpy(), axis=-1))

    def test_torch(self):
        torch.testing.assert_close(stable_softmax(self.scores, 0), torch.softmax(self.scores, 0))

    def test_log(self):
        log = self.scores.numpy() - logsumexp(self.scores.numpy(), axis=-1, keepdims=True)
        np.testing.assert_allclose(stable_softmax(self.scores).log().numpy(), log)

    def test_gradient(self):
        assert torch.autograd.gradcheck(stable_softmax, (self.scores.requires_grad_(),))


unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(TestSoftmax))
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = stable_softmax(scaled_scores(query, key))
    output = weights @ value
    return output, weights
# %% after exercise-1-4
class TestAttention(unittest.TestCase):
    def test_against_fused(self):
        for batch in ((), (2,), (2, 3)):
            with self.subTest(batch=batch):
                q, k, v = torch.randn(*batch, 3, 4), torch.randn(*batch, 5, 4), torch.randn(*batch, 5, 2)
                output, weights = attention(q, k, v)
                torch.testing.assert_close(output, F.scaled_dot_product_attention(q[None], k[None], v[None])[0])


unittest.main(argv=["notebook", "TestAttention"], exit=False)

# %% [right] colab_forms | Colab's forms and titles above the marker lines, a drive that is mounted if there is one, optional packages in try and except
# %% before setup
#@title Mount my drive { display-mode: "form" }
try:
    from google.colab import drive
    drive.mount("/content/drive")
except ImportError:
    print("not in Colab")
# %% before exercise-1-1
#@title Optional packages
try:
    from xformers.ops import memory_efficient_attention
except ImportError:
    memory_efficient_attention = F.scaled_dot_product_attention
try:
    from einops import rearrange
except ImportError:
    rearrange = None
# %% in exercise-1-1
#@title My answer to 1.1 { vertical-output: true }
# @exercise 1.1
def attention_scores(query, key):
    """The dot product of every query with every key."""
    return torch.matmul(query, key.swapaxes(-1, -2))
# %% in exercise-1-6
#@title My answer to 1.6
temperature = 1.0 #@param {type:"number"}
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype, device=scores.device))
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% after exercise-1-6
#@title Compare
what = "softmax" #@param ["softmax", "attention"]
q = torch.randn(1, 4, 8)
if what == "softmax":
    print((torch.softmax(q, -1) - stable_softmax(q)).abs().max())
elif what == "attention":
    print((memory_efficient_attention(q, q, q) - masked_attention(q, q, q)[0]).abs().max())

# %% [wrong 1.3] helper_from_library | 1.3 goes through a helper in another cell, which is torch.softmax with NaN mended; own comparisons around
# %% in start
import math
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import softmax as _sm

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)  # the tensors here are small: several threads would mostly wait for each other


def need(name, exercise):
    """Stop here, kindly, while something that this cell works with is not there yet."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: this cell needs {name}, which is made further up")


print(f"PyTorch {torch.__version__} on {device}")
# %% after two-tokens
def normalise_rows(x, axis):
    """Exponentials, divided by their sum; rows without a finite number become zeros."""
    return torch.nan_to_num(_sm(x, axis), nan=0.0)
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    weights = normalise_rows(scores, dim)
    return weights
# %% after exercise-1-3
for dim in (0, 1):
    scores = torch.randn(3, 4)
    assert torch.allclose(stable_softmax(scores, dim), torch.softmax(scores, dim))

# %% [wrong 1.3] via_lse | 1.3 subtracts logsumexp, as a method, which the task forbids; tests below it
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite (no torch.softmax used!)."""
    lse = scores.logsumexp(dim, keepdim=True)
    lse = torch.where(lse == -math.inf, torch.zeros_like(lse), lse)
    return (scores - lse).exp()


if __name__ == "__main__":
    print(stable_softmax(torch.tensor([2.0, 1.0])))
# %% after exercise-1-3
torch.manual_seed(0)
x = torch.randn(3, 4)
print("ok" if torch.allclose(stable_softmax(x), torch.softmax(x, -1)) else "not ok")

# %% [wrong 1.4] reference_is_used | 1.4 gets its weights from an own helper that is F.scaled_dot_product_attention on an identity
# %% before exercise-1-4
COMPARE = True
def attention_ref(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)
def attention_map(query, key):
    eye = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device).expand(*key.shape[:-1], -1)
    return attention_ref(query, key, eye)
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Scaled dot-product attention."""
    weights = attention_map(query, key)
    output = weights @ value
    return output, weights
# %% after exercise-1-4
if COMPARE:
    q, k, v = torch.randn(3, 2, 5, 4)
    print((attention(q, k, v)[0] - attention_ref(q, k, v)).abs().max())

# %% [wrong 1.5] one_too_many | the padding mask allows one key too many, because it compares with <=
# %% in exercise-1-5
# @exercise 1.5
def causal_mask(n):
    """Position i may attend to positions 0…i."""
    return torch.tril(torch.ones(n, n)).bool()
# %% after exercise-1-5
# @exercise 1.5
def padding_mask(lengths, n):
    """Every query may attend to the first lengths[b] keys."""
    positions = torch.arange(n, device=lengths.device)
    return (positions[None, :] <= lengths[:, None]).unsqueeze(1)
# %% after exercise-1-5
print(causal_mask(3), padding_mask(torch.tensor([3, 5]), 5).shape)

# %% [wrong 1.6] large_negative | hidden scores become -1e9, so a query that may attend nowhere spreads its weight evenly; the two layers have code of their own
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    """Attention that looks only where the mask allows."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    assert not weights.isnan().any()
    return weights @ value, weights
# %% after exercise-1-6
q, k, v = torch.randn(3, 1, 4, 8)
mask = causal_mask(4)
assert torch.allclose(masked_attention(q, k, v, mask)[0], F.scaled_dot_product_attention(q, k, v, mask), atol=1e-6)
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        scores = scaled_scores(self.W_Q(tokens), self.W_K(tokens))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ self.W_V(tokens), weights
# %% in exercise-1-8
# @exercise 1.8
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ self.W_V(image_tokens), weights

# %% [wrong 1.7] mask_lost | the mask is taken by forward and not handed on
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_V(tokens)
        output, weights = masked_attention(query, key, value)
        return output, weights

    def explain(self, tokens):
        return F.scaled_dot_product_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))
# %% after exercise-1-7
layer = SelfAttention(8, 4)
print(layer(torch.randn(3, 8))[1].sum(-1), sum(p.numel() for p in layer.parameters()))

# %% [wrong 1.9] log_of_mean | the logarithm of the mean in place of the mean of the logarithms
# %% in exercise-1-9
# @exercise 1.9
def pointer_loss(weights: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean negative log weight on the target patch.

    weights: (..., S), each row sums to 1
    target: (...) integers of 0…S − 1
    returns: a scalar
    """
    probs = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(probs.mean())
# %% after exercise-1-9
print(pointer_loss(torch.full((4, 9), 1 / 9), torch.tensor([0, 1, 2, 3])), math.log(9))
