# %% [right] compare_with_torch_mha | own cells under the answers copy weights into nn.MultiheadAttention and compare; names ours, theirs, output, weights, mask
# %% after exercise-2-3
aligned, words, labels = torch.randn(6, 4), torch.randn(3, 4), torch.tensor([0, 1, 2, 0, 1, 2])
result = alignment_loss(aligned, words, labels)
scores = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T / 0.1
print(result, -torch.log_softmax(scores, -1)[range(6), labels].mean())
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        if d_context is None:
            d_context = d_model
        self.num_heads = num_heads
        self.p = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        # print(q.shape, k.shape, v.shape)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        output, weights = masked_attention(q, k, v, mask)
        if self.training and self.p > 0:
            output = F.dropout(weights, self.p, True) @ v
        return self.W_O(merge_heads(output)), weights
# %% after exercise-2-6
ours = MultiHeadAttention(8, 2)
theirs = nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
with torch.no_grad():
    theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
    theirs.out_proj.weight.copy_(ours.W_O.weight)
    x = torch.randn(2, 5, 8)
    mask = torch.ones(5, 5).tril().bool()
    output, weights = ours(x, mask=mask)
    expected, expected_weights = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
assert torch.allclose(output, expected, atol=1e-5)
assert torch.allclose(weights, expected_weights, atol=1e-5)
print("MultiHeadAttention == nn.MultiheadAttention ✔")

# %% [right] own_function_called_sdpa | the student writes an own function named scaled_dot_product_attention above the class, and uses it in place of the provided one
# %% before exercise-2-6
def scaled_dot_product_attention(query, key, value, mask=None):
    """My own, from lesson 1 (not F.scaled_dot_product_attention!)."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1) * mask   # * mask: zeros where nothing is allowed
    return weights @ value, weights
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_context or d_model
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        Q, K, V = (split_heads(W(x), self.num_heads) for W, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context)))
        if mask is not None:
            mask = mask.unsqueeze(-3)   # one axis for the heads; (T, S) becomes (1, T, S), which broadcasts as well
        _, weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_O(merge_heads(self.dropout(weights) @ V)), weights

# %% [right] einsum_strings | shapes as strings: einsum everywhere, and a tiny own rearrange
# %% before exercise-2-4
def rearrange(x, pattern, **sizes):
    """A tiny einops: only the two patterns that I need."""
    if pattern == "... n (h d) -> ... h n d":
        return x.reshape(*x.shape[:-1], sizes["h"], -1).movedim(-2, -3)
    if pattern == "... h n d -> ... n (h d)":
        return x.movedim(-3, -2).flatten(-2)
    raise NotImplementedError(pattern)
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens, num_heads):
    """Give each head its own features of every token."""
    return rearrange(tokens, "... n (h d) -> ... h n d", h=num_heads)
# %% in exercise-2-5
# @exercise 2.5
def merge_heads(heads):
    """Put the heads' numbers side by side again."""
    return rearrange(heads, "... h n d -> ... n (h d)")
# %% in exercise-2-8
# @exercise 2.8
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """The output of a layer without one of its heads."""
    _, weights = attention_layer(tokens, context=context, mask=mask)
    source = tokens if context is None else context
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    keep = torch.ones(attention_layer.num_heads, dtype=values.dtype, device=values.device)
    keep[head] = 0.0
    mixed = torch.einsum("...hts,...hsd,h->...htd", weights, values, keep)
    return attention_layer.W_O(merge_heads(mixed))
# %% after exercise-2-8
for head in range(2):
    layer = MultiHeadAttention(8, 2).eval()
    x = torch.randn(3, 8)
    print(head, (layer(x)[0] - ablate_head(layer, head, x)).norm().item())

# %% [right] registry_of_aligners | builders in a dictionary in an own cell, an own exception class, the class has extra methods
# %% before exercise-2-1
class AlignerError(ValueError):
    """Raised where an aligner cannot be built."""


BUILDERS = {
    "linear": lambda d_in, d_out: nn.Linear(d_in, d_out),
    "mlp": lambda d_in, d_out: nn.Sequential(nn.Linear(d_in, d_out), nn.GELU(), nn.Linear(d_out, d_out)),
}
# %% in exercise-2-1
# @exercise 2.1
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise AlignerError(f"identity needs equal widths, got {d_vision} and {d_text}")
            self.proj = nn.Identity()
        elif method in BUILDERS:
            self.proj = BUILDERS[method](d_vision, d_text)
        else:
            raise AlignerError(f"unknown method {method!r}")

    def forward(self, tokens):
        """tokens (..., n, d_vision) → (..., n, d_text)."""
        return self.proj(tokens)

    def __repr__(self):
        return f"TokenAligner({self.proj})"

    def count(self):
        return sum(p.numel() for p in self.parameters())
# %% after exercise-2-1
for method in ("linear", "mlp", "identity", "foo"):
    try:
        aligner = TokenAligner(4, 4, method)
        print(method, aligner.count(), aligner(torch.randn(2, 3, 4)).shape)
    except ValueError as error:
        print("error:", error)
# %% in exercise-2-7
# @exercise 2.7
class AlignedCrossAttention(nn.Module):
    """Text looks at an image whose tokens were aligned to it."""

    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [right] svd_and_prints | explained variance by an SVD, with debug prints and a check against scikit-learn in an own cell
# %% in exercise-2-2
# @exercise 2.2
def explained_variance(tokens, aligned):
    """How much of the tokens a linear readout gets back from the aligned ones."""
    X = tokens.reshape(-1, tokens.shape[-1])
    Z = aligned.reshape(-1, aligned.shape[-1])
    size = Z.norm()
    X = X - X.mean(0, keepdim=True)
    Z = Z - Z.mean(0, keepdim=True)
    U, S, Vh = torch.linalg.svd(Z, full_matrices=False)
    eps = torch.finfo(Z.dtype).eps * max(Z.shape) * torch.maximum(S.max(), size)
    #print("singular values", S)
    U = U[:, S > eps]
    explained = (U.T @ X).pow(2).sum()
    total = X.pow(2).sum()
    #print(f"explained {explained:.3f} of {total:.3f}")
    return torch.clamp(explained / total, 0, 1)
# %% after exercise-2-2
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

torch.manual_seed(0)
tokens = torch.randn(200, 3) * torch.tensor([1.0, 2.0, 3.0])
aligned = tokens[:, :2]
model = LinearRegression().fit(aligned.numpy(), tokens.numpy())
print("sklearn", r2_score(tokens.numpy(), model.predict(aligned.numpy()), multioutput="variance_weighted"))
print("mine   ", explained_variance(tokens, aligned).item())

# %% [right] split_and_merge_in_one_cell | 2.4 and 2.5 in one cell with both markers; the second cell is gone; asserts below
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens, num_heads):
    """Give each head its own features of every token."""
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (num_heads, d_head)).transpose(-3, -2)


# @exercise 2.5
def merge_heads(heads):
    """Put the heads' numbers side by side again."""
    return heads.transpose(-3, -2).flatten(-2)


t = torch.arange(24.0).reshape(1, 3, 8)
assert torch.equal(merge_heads(split_heads(t, 4)), t)
assert split_heads(t, 4).shape == (1, 4, 3, 2)
assert torch.equal(split_heads(t, 2)[0, 1], t[0, :, 4:])
# %% delete exercise-2-5
# %% delete check-2-4
# %% delete text-18
# %% delete text-19

# %% [right] class_in_two_parts | MultiHeadAttention is finished in the next cell by subclassing itself; explain() in it compares with PyTorch and is never called
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads = num_heads
        self.dropout = dropout
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
# %% after exercise-2-6
class MultiHeadAttention(MultiHeadAttention):
    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = [split_heads(t, self.num_heads) for t in (self.W_Q(tokens), self.W_K(context), self.W_V(context))]
        if mask is not None and mask.ndim >= 3:
            mask = mask[..., None, :, :]
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

    def explain(self, tokens):
        """What PyTorch's own says to the same tokens (not used)."""
        other = nn.MultiheadAttention(self.W_Q.in_features, self.num_heads, bias=False, batch_first=True)
        other.in_proj_weight.data = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight]).detach()
        other.out_proj.weight.data = self.W_O.weight.detach().clone()
        return other(tokens, tokens, tokens)[0] - self(tokens)[0]
# %% after exercise-2-6
print(MultiHeadAttention(8, 2)(torch.randn(3, 8))[0].shape)

# %% [right] named_like_torch | own class MultiheadAttention (spelt as in PyTorch) and an alias with the name asked for
# %% in exercise-2-6
# @exercise 2.6
class MultiheadAttention(nn.Module):
    """Own class; torch.nn has one of the same name, which is not used."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model % num_heads must be 0")
        dc = d_model if d_context is None else d_context
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(dc, d_model, bias=False) for _ in range(2))
        self.attn_dropout = nn.Dropout(p=dropout)

    def forward(self, tokens, context=None, mask=None):
        if context is None: context = tokens
        q, k, v = map(lambda t: split_heads(t, self.num_heads), [self.W_Q(tokens), self.W_K(context), self.W_V(context)])
        scores = torch.einsum("...qd,...kd->...qk", q, k) / self.d_head ** 0.5
        if mask is not None:
            m = mask if mask.ndim == 2 else mask.unsqueeze(-3)
            scores = scores.masked_fill(~m, torch.finfo(scores.dtype).min)
        attn = scores.softmax(dim=-1)
        if mask is not None:
            attn = attn * m  # rows without any key: zeros
        out = torch.einsum("...qk,...kd->...qd", self.attn_dropout(attn), v)
        return self.W_O(merge_heads(out)), attn


MultiHeadAttention = MultiheadAttention
# %% in exercise-2-P1
# @exercise 2.P1
def attention_entropy(weights):
    """How widely each query looks: 0 for one key, 1 for all keys alike."""
    return torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])

# %% [right] stubs_and_aliases | stubs of 2.4, 2.5 and 2.8 stay; answers below under own names and assigned
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens, num_heads):
    """Give each head its own features of every token.

    Args:
        tokens: (..., n, d_model)
        num_heads: H, which divides d_model.

    Returns:
        (..., H, n, d_head) with d_head = d_model / H.
    """
    raise NotImplementedError("TODO 2.4")
# %% after exercise-2-4
def my_split(tokens, num_heads):
    *batch, n, d = tokens.shape
    return tokens.reshape(batch + [n, num_heads, d // num_heads]).transpose(-2, -3)

split_heads = my_split
# %% in exercise-2-5
# @exercise 2.5
def merge_heads(heads):
    """Put the heads' numbers side by side again.

    Args:
        heads: (..., H, n, d_head)

    Returns:
        (..., n, d_model) with d_model = H · d_head.
    """
    raise NotImplementedError("TODO 2.5")
# %% after exercise-2-5
def my_merge(heads):
    heads = heads.transpose(-2, -3).contiguous()
    return heads.view(*heads.shape[:-2], -1)
merge_heads = my_merge
# %% in exercise-2-8
# @exercise 2.8
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """The output of a layer without one of its heads."""
    raise NotImplementedError("TODO 2.8")
# %% after exercise-2-8
import copy

def without(attention_layer, head, tokens, context=None, mask=None):
    # work on a copy, the layer itself must stay as it is
    clone = copy.deepcopy(attention_layer)
    d_head = clone.W_O.weight.shape[1] // clone.num_heads
    with torch.no_grad():
        clone.W_O.weight[:, head * d_head:(head + 1) * d_head] = 0
    return clone(tokens, context, mask)[0]

ablate_head = without

# %% [right] helper_next_door | a helper that 2.6 needs is defined in the answer cell of 2.5, another one in a given cell that was edited
# %% in start
import math
import random
import time
from collections import OrderedDict
from typing import Optional, Tuple   # added

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)  # the tensors here are small: sharing them out would cost more than it brings


def need(name, exercise):
    """Stop here, kindly, while something that this cell works with is not there yet."""
    if name not in globals():
        raise NotImplementedError(f"TODO {exercise}: this cell needs {name}, which is made further up")


def head_mask(mask: Optional[Tensor]) -> Optional[Tensor]:   # added, for 2.6
    return mask if mask is None or mask.ndim <= 2 else mask.unsqueeze(-3)


print(f"PyTorch {torch.__version__} on {device}")
# %% in exercise-2-5
# @exercise 2.5
def merge_heads(heads: Tensor) -> Tensor:
    """Put the heads' numbers side by side again."""
    return torch.cat(tuple(heads[..., h, :, :] for h in range(heads.shape[-3])), dim=-1)


def three_projections(layer, tokens, context):
    """query, key, value of all heads"""
    H = layer.num_heads
    return split_heads(layer.W_Q(tokens), H), split_heads(layer.W_K(context), H), split_heads(layer.W_V(context), H)
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model: int, num_heads: int, d_context: Optional[int] = None, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads=} must divide {d_model=}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens: Tensor, context: Optional[Tensor] = None, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        q, k, v = three_projections(self, tokens, tokens if context is None else context)
        weights = masked_attention(q, k, v, head_mask(mask))[1]
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [right] generated_with_tests | the style of an assistant: constants, doctests, a test runner with emojis in the cells, logging
# %% in exercise-2-3
# @exercise 2.3
from typing import Final

DEFAULT_TEMPERATURE: Final = 0.1


def alignment_loss(aligned, words, labels, temperature=DEFAULT_TEMPERATURE):
    """Contrastive alignment loss (InfoNCE, one direction).

    Steps:
        1. Normalise the tokens and the word vectors to unit length.
        2. Compute cosine similarities and divide them by the temperature.
        3. Apply cross-entropy (which does the log_softmax internally).

    Args:
        aligned: Tensor of shape (..., d).
        words: Tensor of shape (V, d).
        labels: Long tensor of shape (...).
        temperature: Softmax temperature.

    Returns:
        Scalar loss tensor.
    """
    # 1. Normalise
    aligned_norm = F.normalize(aligned, p=2, dim=-1)
    words_norm = F.normalize(words, p=2, dim=-1)

    # 2. Similarity logits
    logits = torch.matmul(aligned_norm, words_norm.transpose(-2, -1)) / temperature

    # 3. Cross-entropy over the flattened batch
    num_words = words_norm.size(0)
    return F.cross_entropy(logits.reshape(-1, num_words), labels.reshape(-1))


# ============================================================
# Tests
# ============================================================
def run_tests():
    tests_passed = 0
    token = torch.tensor([[1.0, 0.0]])
    vocab = torch.eye(2)
    loss = alignment_loss(token, vocab, torch.tensor([0]), temperature=0.5)
    assert abs(loss.item() - 0.127) < 1e-3, f"❌ expected 0.127, got {loss.item():.3f}"
    tests_passed += 1
    many = alignment_loss(token.expand(2, 3, 2), vocab, torch.zeros(2, 3, dtype=torch.long))
    assert many.ndim == 0
    tests_passed += 1
    print(f"✅ {tests_passed} tests passed")


if __name__ == "__main__":
    run_tests()
# %% in exercise-2-8
# @exercise 2.8
import logging

logger = logging.getLogger(__name__)


def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """Remove the contribution of a single head from the output.

    Mathematically: ``output - softmax(QK^T / sqrt(d)) V W_O[:, head]``.
    """
    logger.info("ablating head %d of %d", head, attention_layer.num_heads)
    full_output, attention_weights = attention_layer(tokens, context, mask)
    source = context if context is not None else tokens

    d_model = full_output.size(-1)
    d_head = d_model // attention_layer.num_heads
    start, end = head * d_head, (head + 1) * d_head

    head_values = attention_layer.W_V(source)[..., start:end]
    head_output = attention_weights[..., head, :, :] @ head_values
    contribution = F.linear(head_output, attention_layer.W_O.weight[:, start:end])
    return full_output - contribution

# %% [right] loops_and_lesson_names | top-level loops and scratch variables with the names of the lesson (patches, labels, words, steps, reader, mask, heads), all before the lesson makes its own
# %% before provided-matching
seed_before = seed
for seed in range(3):
    torch.manual_seed(seed)
    for temperature in (0.05, 0.1, 1.0):
        aligned, words, labels = torch.randn(5, 4), torch.randn(3, 4), torch.randint(3, (5,))
        print(seed, temperature, round(alignment_loss(aligned, words, labels, temperature).item(), 3))
seed = seed_before
# %% after exercise-2-5
for heads in (1, 2, 4):
    tokens = torch.randn(3, 8)
    output = merge_heads(split_heads(tokens, heads))
    assert (output == tokens).all()
# %% after exercise-2-6
steps, reader, losses = 3, MultiHeadAttention(8, 2, dropout=0.5), []
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
for step in range(steps):
    output, weights = reader(torch.randn(4, 3, 8))
    loss = output.pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    losses.append(loss.item())
print(losses)
del reader, losses
# %% in exercise-2-P2
# @exercise 2.P2
def classify_pattern(weights):
    """A word for where the weight of a map lies."""
    T = len(weights)
    i = torch.arange(T, device=weights.device)
    total = weights.sum()
    near = (i[:, None] - i[None, :]).abs() <= 1
    match [
        bool(attention_entropy(weights).mean() > 0.95),
        bool(weights.sum(0).max() >= 0.5 * total),
        bool(weights.diagonal().sum() >= 0.5 * total),
        bool(weights[near].sum() >= 0.75 * total),
    ]:
        case [True, *_]:
            return "uniform"
        case [_, True, *_]:
            return "hub"
        case [_, _, True, _]:
            return "diagonal"
        case [_, _, _, True]:
            return "local"
    return "other"

# %% [right] dataclass_and_decorators | a config dataclass, a timing decorator on forward, a cached helper, lru_cache on a mask
# %% before exercise-2-4
import functools
from dataclasses import dataclass, field


@dataclass
class HeadConfig:
    d_model: int
    num_heads: int
    names: list = field(default_factory=list)

    @property
    def d_head(self):
        if self.d_model % self.num_heads:
            raise ValueError(f"{self.d_model} / {self.num_heads}")
        return self.d_model // self.num_heads


def logged(f):
    @functools.wraps(f)
    def g(*args, **kwargs):
        logged.calls[f.__qualname__] = logged.calls.get(f.__qualname__, 0) + 1
        return f(*args, **kwargs)
    return g


logged.calls = {}
# %% in exercise-2-4
# @exercise 2.4
@logged
def split_heads(tokens, num_heads):
    """Give each head its own features of every token."""
    config = HeadConfig(tokens.shape[-1], num_heads)
    return torch.stack(tokens.split(config.d_head, dim=-1), dim=-3)
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.config = HeadConfig(d_model, num_heads)
        _ = self.config.d_head  # raises ValueError
        self.num_heads = num_heads
        d_context = d_model if d_context is None else d_context
        for name, width in {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}.items():
            self.add_module(name, nn.Linear(width, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    @logged
    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(W(x), self.num_heads) for W, x in zip((self.W_Q, self.W_K, self.W_V), (tokens, context, context)))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, attn = masked_attention(q, k, v, mask=mask)
        return self.W_O(merge_heads(torch.matmul(self.drop(attn), v))), attn
# %% after ablation-table
print(logged.calls)

# %% [right] comments_in_french | French docstrings, non-ASCII names, old versions in strings and comments with nn.MultiheadAttention in them
# %% in exercise-2-2
# @exercise 2.2
def explained_variance(tokens, aligned):
    """Quelle part de la variance des jetons une lecture linéaire retrouve-t-elle ?"""
    μ = lambda t: t.flatten(0, -2) - t.flatten(0, -2).mean(0)
    x, z = μ(tokens), μ(aligned)
    récupéré = z @ (torch.linalg.pinv(z) @ x)
    perdu = (x - récupéré).square().sum()
    return (1 - perdu / x.square().sum()).clamp(0.0, 1.0)
# %% in exercise-2-6
# @exercise 2.6
'''
Première version (interdite : nn.MultiheadAttention) :

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, num_heads, bias=False, batch_first=True)
    def forward(self, tokens, context=None, mask=None):
        return self.mha(tokens, context, context, attn_mask=~mask)
'''
class MultiHeadAttention(nn.Module):
    """Plusieurs têtes."""
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0: raise ValueError("d_model n'est pas divisible par num_heads")
        largeur = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.taux = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(largeur, d_model, bias=False)
        self.W_V = nn.Linear(largeur, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
    def forward(self, tokens, context=None, mask=None):
        source = context if context is not None else tokens
        requête = split_heads(self.W_Q(tokens), self.num_heads)
        clé = split_heads(self.W_K(source), self.num_heads)
        valeur = split_heads(self.W_V(source), self.num_heads)
        if mask is not None and mask.ndim > 2: mask = mask.unsqueeze(-3)
        # sortie = F.scaled_dot_product_attention(requête, clé, valeur, mask)   # pas permis
        sortie, α = masked_attention(requête, clé, valeur, mask)
        if self.taux > 0: sortie = F.dropout(α, self.taux, self.training) @ valeur
        return self.W_O(merge_heads(sortie)), α

# %% [right] magics_and_deleted_cells | time magics, checks and the practice part deleted, one more training of a reader switched off
# %% before start
%matplotlib inline
# %% after exercise-2-6
%%time
layer = MultiHeadAttention(64, 4)
for _ in range(10):
    layer(torch.randn(8, 9, 64))
# %% after exercise-2-6
attention_fn = nn.MultiheadAttention(64, 4, batch_first=True)
x = torch.randn(8, 9, 64)
%timeit -n 3 -r 1 attention_fn(x, x, x)
%timeit -n 3 -r 1 F.scaled_dot_product_attention(x, x, x)
# %% delete check-2-1
# %% delete check-2-2
# %% delete check-2-6
# %% delete stuck-2-1
# %% delete stuck-2-6
# %% delete text-33
# %% delete draw-own-and-other
# %% delete draw-similarities
# %% delete other-half
# %% delete pick-reader
# %% after compare-heads
if False:
    readers[16] = train_reader(16, steps, seed, device)
    print(shares_right(readers[16](unseen, cells)[0], answers))

# %% [right] fused_switch_off | the layer has a switch for the fused kernel which stays off
# %% in exercise-2-6
# @exercise 2.6
USE_FUSED = False


class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (split_heads(W(x), self.num_heads) for W, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context)))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        if USE_FUSED:  # to see how much faster it would be; no weights then
            return self.W_O(merge_heads(F.scaled_dot_product_attention(query, key, value, mask))), None
        _, weights = masked_attention(query, key, value, mask)
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights

# %% [right] per_head_modules | 2.7 by a subclass with extra methods; an own ABC; cells moved; a scratch cell that raises
# %% after exercise-2-4
# does view work? (raises: no, the numbers do not lie in order)
torch.arange(12).reshape(3, 4).T.view(12)
# %% in exercise-2-7
# @exercise 2.7
from abc import ABC, abstractmethod


class Looker(nn.Module, ABC):
    @abstractmethod
    def forward(self, text_tokens, image_tokens, mask=None): ...

    def plot(self, text_tokens, image_tokens):
        import matplotlib.pyplot as plt
        _, weights = self(text_tokens, image_tokens)
        plt.imshow(weights[0].detach()); plt.title("softmax weights of head 0"); plt.show()

    def compare(self, text_tokens, image_tokens):
        image = self.aligner(image_tokens)
        return nn.MultiheadAttention(image.shape[-1], 1)(text_tokens, image, image)


class AlignedCrossAttention(Looker):
    """Text looks at an image whose tokens were aligned to it."""

    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, context=self.aligner(image_tokens), mask=mask)
# %% delete exercise-2-5
# %% before exercise-2-4
# @exercise 2.5
def merge_heads(heads):
    """Put the heads' numbers side by side again."""
    h, n, d = heads.shape[-3:]
    return heads.transpose(-3, -2).reshape(heads.shape[:-3] + (n, h * d))

# %% [wrong 2.2] mean_of_columns | the explained shares of the columns are averaged, without their sizes
# %% in exercise-2-2
# @exercise 2.2
def explained_variance(tokens, aligned):
    """How much of the tokens a linear readout gets back from the aligned ones."""
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x, z = x - x.mean(0), z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    per_column = 1 - (x - back).pow(2).sum(0) / x.pow(2).sum(0).clamp(min=1e-12)
    return per_column.mean().clamp(0, 1)
# %% after exercise-2-2
x = torch.randn(50, 4)
print(explained_variance(x, x), explained_variance(x, torch.ones(50, 2)))

# %% [wrong 2.4] reshape_without_swap | the last two axes are reshaped straight into (H, n, d_head), so that heads mix up tokens; 2.5 and 2.6 do not use it
# %% in exercise-2-4
# @exercise 2.4
def split_heads(tokens, num_heads):
    """Give each head its own features of every token."""
    *lead, n, d_model = tokens.shape
    print("split", tokens.shape, "into", num_heads)
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads does not divide d_model")
        width = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def cut(self, t):
        return torch.stack(t.chunk(self.num_heads, dim=-1), dim=-3)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        query, key, value = self.cut(self.W_Q(tokens)), self.cut(self.W_K(source)), self.cut(self.W_V(source))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        heads = F.dropout(weights, self.dropout, self.training) @ value
        return self.W_O(merge_heads(heads)), weights

# %% [wrong 2.6] fused_inside | the layer calls F.scaled_dot_product_attention through a helper in an own cell, with the identity as values for the weights; comparisons around
# %% before exercise-2-6
sdpa = F.scaled_dot_product_attention
def fast_attention(q, k, v, mask=None):
    eye = torch.eye(k.shape[-2], dtype=k.dtype, device=k.device).expand(*k.shape[:-1], -1)
    w = sdpa(q, k, eye, attn_mask=mask)
    if mask is not None:
        w = w.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return w @ v, w
# %% in exercise-2-6
# @exercise 2.6
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(W(x), self.num_heads) for W, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context)))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = fast_attention(q, k, v, mask)
        return self.W_O(merge_heads(self.drop(weights) @ v)), weights
# %% after exercise-2-6
x = torch.randn(2, 5, 8)
layer = MultiHeadAttention(8, 2)
q, k, v = (split_heads(W(x), 2) for W in (layer.W_Q, layer.W_K, layer.W_V))
assert torch.allclose(masked_attention(q, k, v)[1], layer(x)[1], atol=1e-6)

# %% [wrong 2.8] query_set_to_zero | the head's query columns are zeroed, after which it looks at all keys alike and still brings something back
# %% in exercise-2-8
# @exercise 2.8
import copy


def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """The output of a layer without one of its heads."""
    layer = copy.deepcopy(attention_layer)
    size = layer.W_Q.weight.shape[0] // layer.num_heads
    with torch.no_grad():
        layer.W_Q.weight[head * size : (head + 1) * size] = 0.0
    output, weights = layer(tokens, context, mask)
    assert output.shape == tokens.shape
    return output
# %% after exercise-2-8
layer = MultiHeadAttention(8, 2).eval()
x = torch.randn(3, 8)
print([ablate_head(layer, h, x).norm().item() for h in range(2)], layer.training)
