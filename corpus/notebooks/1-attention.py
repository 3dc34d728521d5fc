# %% [right] largest_as_in_the_hint | writes 1.3 with the words of its second hint, below a given cell with a global `largest`
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    exps = torch.exp(scores - largest)
    total = exps.sum(dim, keepdim=True)
    return exps / torch.where(total == 0, torch.ones_like(total), total)
# %% [right] output_of_a_comparison | compares with PyTorch in an own cell whose variable is a local one of three answers
# %% after check-1-4
q, k, v = torch.randn(3, 5, 8).unbind(0)
output = F.scaled_dot_product_attention(q, k, v)
print((attention(q, k, v)[0] - output).abs().max())
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-1)
    output = weights @ value
    return output, weights
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = stable_softmax(scores, dim=-1)
    output = weights @ value
    return output, weights
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return output, weights
# %% [right] result_of_a_test | tests 1.3 in a cell whose `result` is a local name of the answer
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim=dim, keepdim=True)
    top = torch.nan_to_num(top, neginf=0.0)
    exps = (scores - top).exp()
    sums = exps.sum(dim=dim, keepdim=True)
    result = exps / sums.clamp(min=1e-30)
    return result
# %% after exercise-1-3
test = torch.randn(4, 6)
result = torch.softmax(test, dim=-1)
print(torch.allclose(result, stable_softmax(test)))
# %% [right] local_softmax_and_a_print | a local variable named softmax, and a print with the word
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    m = scores.max(dim=dim, keepdim=True)[0]
    m = torch.where(m == float("-inf"), torch.zeros_like(m), m)
    exps = torch.exp(scores - m)
    total = exps.sum(dim=dim, keepdim=True)
    print("softmax", total.shape)
    total = torch.where(total == 0, torch.ones_like(total), total)
    softmax = exps / total
    return softmax
# %% [right] switched_comparison | comparisons under `if COMPARE:` and torch.no_grad bind the parameters of the tasks
# %% after check-1-6
COMPARE = True
if COMPARE:
    query, key, value = torch.randn(3, 2, 5, 4).unbind(0)
    mask = causal_mask(5)
    with torch.no_grad():
        scores = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        ours = masked_attention(query, key, value, mask)[0]
    print("max difference", (scores - ours).abs().max().item())
# %% after check-1-3
if __name__ == "__main__":
    scores = torch.randn(3, 4)
    for dim in (0, 1, -1):
        assert torch.allclose(stable_softmax(scores, dim), torch.softmax(scores, dim))
# %% [right] module_beside | nn.MultiheadAttention beside the own layer, its results in `output, weights`
# %% after check-1-7
x = torch.randn(2, 6, 8)
mha = nn.MultiheadAttention(8, 1, batch_first=True, bias=False)
output, weights = mha(x, x, x)
print(output.shape, weights.shape)
# %% after check-1-8
for mask in (None, torch.ones(3, 4, dtype=torch.bool)):
    output = F.scaled_dot_product_attention(torch.randn(3, 8), torch.randn(4, 8), torch.randn(4, 8), mask)
# %% [right] one_import_line | imports Linear and MultiheadAttention in one line, and uses Linear
# %% in exercise-1-7
# @exercise 1.7
from torch.nn import Linear, MultiheadAttention


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
# %% [right] scores_softmax_anywhere | `scores = scores.softmax(-1)` in a scratch cell at the end
# %% after pointer-maps
scores = torch.randn(3, 4)
scores = scores.softmax(-1)
weights = scores
print(weights.sum(-1))
# %% [right] carry_on_as_reference | the carry-on code copied as a reference; its result has a name that is local in answers
# %% after check-1-6
def reference_attention(query, key, value, mask=None):
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (part.expand(*batch, *part.shape[-2:]) for part in (query, key, value))
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    identity = torch.eye(key.shape[-2], dtype=value.dtype).expand(*batch, -1, -1)
    return output, F.scaled_dot_product_attention(query, key, identity, attn_mask=mask)


output, weights = reference_attention(*torch.randn(3, 4, 6).unbind(0), causal_mask(4))
# %% [right] tests_in_the_cell | an assert against PyTorch and an uncalled test below the function, old version under `if False`
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    """Compute scaled dot-product attention."""
    scores = scaled_scores(query, key)
    attn_weights = stable_softmax(scores, dim=-1)
    return torch.matmul(attn_weights, value), attn_weights


def test_attention():
    q = torch.randn(2, 3, 4)
    torch.testing.assert_close(attention(q, q, q)[0], F.scaled_dot_product_attention(q, q, q))


if False:
    def attention(query, key, value):
        out = F.scaled_dot_product_attention(query, key, value)
        return out, None

# Quick check
_q = torch.randn(2, 5, 8)
assert torch.allclose(attention(_q, _q, _q)[0], F.scaled_dot_product_attention(_q, _q, _q), atol=1e-5)
print("✓ matches F.scaled_dot_product_attention")
# %% [right] helper_named_softmax | an own helper that is named softmax does the work of 1.3
# %% after tools
def softmax(x, dim):
    shifted = x - torch.nan_to_num(x.amax(dim, keepdim=True), neginf=0.0)
    e = shifted.exp()
    return e / e.sum(dim, keepdim=True).clamp_min(1e-38)
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    return softmax(scores, dim)
# %% after check-1-3
plt.title("softmax")
plt.close()
styles = {"softmax": "-", "scaled_dot_product_attention": "--"}
print(styles["softmax"])
# %% [right] merged_cells | 1.3 and 1.4 in one cell, and 1.4 uses torch.softmax, which is allowed there
# %% in exercise-1-3
# @exercise 1.3
# @exercise 1.4
def stable_softmax(scores, dim=-1):
    high = scores.amax(dim, keepdim=True).nan_to_num(neginf=0.0)
    exps = (scores - high).exp()
    return exps / exps.sum(dim, keepdim=True).clamp(min=torch.finfo(exps.dtype).tiny)


def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    return weights @ value, weights
# %% delete exercise-1-4
# %% [right] import_in_a_given_cell | `from typing import Optional` added to the given import cell
# %% in start
import math
import random
from typing import Optional, Tuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_printoptions(precision=3)
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


def show(name, t):
    print(name, tuple(t.shape))


print(f"PyTorch {torch.__version__} on {device}")
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, torch.Tensor]:
    scores = scaled_scores(query, key)
    show("scores", scores)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    weights = stable_softmax(scores, -1)
    return weights @ value, weights
# %% [right] answers_below_the_stubs | three stubs left untouched, the answers in new cells right below
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
# %% after exercise-1-4
attention = my_attention
# %% in exercise-1-5
# @exercise 1.5
def causal_mask(n):
    pass


def padding_mask(lengths, n):
    pass
# %% after exercise-1-5
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()
# %% after exercise-1-5
def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device)[None, :] < lengths[:, None]).unsqueeze(1)
# %% [right] alias_after_the_stub | the stub stays, and `attention = my_attention` follows in the same cell
# %% before exercise-1-4
def my_attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    raise NotImplementedError("TODO 1.4")

attention = my_attention
# %% [right] corrected_copy_without_marker | a first, wrong version keeps the marker; the corrected copy below has none
# %% in exercise-1-2
# @exercise 1.2
def scaled_scores(query, key):
    return attention_scores(query, key) / key.shape[-1]
# %% after check-1-2
# fixed!!
def scaled_scores(query, key):
    return attention_scores(query, key) / math.sqrt(key.shape[-1])
# %% [right] experiment_below | plays with a version without scaling further down, under the same name
# %% after three-tokens
def attention_without_scaling(query, key, value):
    w = (query @ key.mT).softmax(-1)
    return w @ value, w

good = attention
attention = attention_without_scaling
print(attention(tokens, tokens, tokens)[1])
attention = good
# %% [right] class_completed_below | the class has only __init__; `SelfAttention.forward = forward` follows in the next cell
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        raise NotImplementedError("TODO 1.7")
# %% after exercise-1-7
def forward(self, tokens, mask=None):
    return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

SelfAttention.forward = forward
# %% [right] class_extended_below | `class CrossAttention(CrossAttention)` adds forward in a cell below
# %% in exercise-1-8
# @exercise 1.8
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
# %% after exercise-1-8
class CrossAttention(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask
        )
# %% [right] seed_in_own_cells | sets seed, loops over seeds and steps, and sets train_steps in own cells
# %% before exercise-1-9
seed = 42
train_steps = 5
for seed in range(3):
    torch.manual_seed(seed)
steps = 10
record = {"loss": []}
# %% [right] device_of_another_machine | an own cell of a session with a GPU sets device
# %% after provided-pointing
device = "cuda"
# %% [right] harmless_flags | imports unittest, lists globals, gives tensors a short repr and numpy an old alias
# %% after start
import unittest

np.float = float
torch.Tensor.__repr__ = lambda self: f"tensor{tuple(self.shape)}"
print([n for n in globals() if not n.startswith("_")][:3])
# %% [right] star_import | from torch import * at the top
# %% after start
from torch import *
from torch.nn.functional import *
# %% [right] methods_that_compare | the class has a method that compares with PyTorch and that nobody calls
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

    def compare(self, tokens):
        theirs = F.scaled_dot_product_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))
        return (self(tokens)[0] - theirs).abs().max()
# %% [wrong 1.3] softmax_after_all | 1.3 calls torch.softmax through a helper of its own
# %% before exercise-1-3
def _sm(x, d):
    return torch.softmax(x, dim=d)
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    return torch.nan_to_num(_sm(scores, dim))
# %% [wrong 1.4] fused_in_the_answer | 1.4 calls the fused function and has the weights from an identity
# %% in exercise-1-4
# @exercise 1.4
def attention(query, key, value):
    fused = getattr(F, "scaled_dot_product_attention")
    eye = torch.eye(key.shape[-2], dtype=value.dtype).expand(*key.shape[:-2], -1, -1)
    return fused(query, key, value), fused(query, key, eye)
# %% [wrong 1.2] not_the_root | divides by d_k, in both versions of the cell
# %% in exercise-1-2
# @exercise 1.2
def scaled_scores(query, key):
    return attention_scores(query, key) / key.shape[-1]
# %% after check-1-2
def scaled_scores(query, key):
    d_k = key.size(-1)
    return attention_scores(query, key) / d_k
# %% [wrong 1.7] values_of_keys | the values come from the keys' projection
# %% in exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k = self.W_Q(tokens), self.W_K(tokens)
        return masked_attention(q, k, k, mask)
# %% [wrong 1.9] sum_instead_of_mean | the loss is the sum
# %% in exercise-1-9
# @exercise 1.9
def pointer_loss(weights, target):
    return -weights.gather(-1, target.unsqueeze(-1)).log().sum()
# %% [right] magics_and_prints | cell magics in front of answers, prints in all of them
# %% in exercise-1-1
%%time
# @exercise 1.1
def attention_scores(query, key):
    print("shapes:", query.shape, key.shape)
    return query @ key.mT
# %% after check-1-1
%timeit -n 1 -r 1 attention_scores(torch.randn(3, 4), torch.randn(5, 4))
!echo done
# %% after check-1-2
scaled_scores?
# %% [right] compiled_and_decorated | torch.compile on one answer, an own timing decorator on another
# %% before exercise-1-2
import functools, time

def timed(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        timed.last = time.perf_counter() - start
        return result
    return call
# %% in exercise-1-2
# @exercise 1.2
@timed
def scaled_scores(query, key):
    return attention_scores(query, key) / key.shape[-1] ** 0.5
# %% in exercise-1-4
# @exercise 1.4
@torch.compile
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    return weights @ value, weights
# %% [right] switch_with_reference | a global switch lets the answer compare itself; it is off
# %% before exercise-1-6
CHECK_AGAINST_TORCH = False
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    output = weights @ value
    if CHECK_AGAINST_TORCH:
        reference = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        print("max diff", (output - reference).abs().max())
    return output, weights
# %% [right] edited_figure_cell | changes a given cell that draws, and adds a helper to it that an answer uses
# %% in three-tokens
tokens = torch.tensor([[1.0, 0.5], [0.5, 1.0], [0.3, 0.7]])
value = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


def neg_inf_like(t):
    return torch.full_like(t, -math.inf)


output, weights = attention(tokens, tokens, value)
print(weights.sum(-1), "changed by me")
# %% in exercise-1-6
# @exercise 1.6
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, neg_inf_like(scores))
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [right] second_copy_wrong_before | the marked cell is there twice; the first copy is an old, wrong version
# %% before exercise-1-7
# @exercise 1.7
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, 1, batch_first=True)

    def forward(self, tokens, mask=None):
        return self.attn(tokens, tokens, tokens)
# %% [right] loop_named_mask | a loop over masks, and lists named like parameters
# %% after check-1-6
masks = {"none": None, "causal": causal_mask(4), "all": torch.ones(4, 4, dtype=torch.bool)}
for name, mask in masks.items():
    query = key = value = torch.randn(2, 4, 8)
    scores = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(masked_attention(query, key, value, mask)[0], scores)
lengths = [1, 2, 3]
target = nn.CrossEntropyLoss()(torch.randn(3, 5), torch.tensor([1, 0, 4]))
# %% [wrong 1.5] causal_upside_down | the triangle lies the wrong way; the padding mask is right
# %% in exercise-1-5
# @exercise 1.5
def causal_mask(n):
    return torch.triu(torch.ones(n, n)).bool()


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)
# %% after check-1-5
print(torch.tril(torch.ones(3, 3)).bool())
# %% [wrong 1.3] helper_below_calls_softmax | a helper at the bottom of the notebook calls torch.softmax
# %% in exercise-1-3
# @exercise 1.3
def stable_softmax(scores, dim=-1):
    return _helper(scores, dim)
# %% after check-1-3
def _helper(s, d):
    return s.softmax(d).nan_to_num(0.0)
# %% [wrong 1.4] import_line_used | the import line of which the forbidden name is the one that is used
# %% in exercise-1-4
# @exercise 1.4
from torch.nn.functional import relu, scaled_dot_product_attention as dense


def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    return dense(query, key, value), weights
