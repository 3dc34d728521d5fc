# %% [markdown] student="full-marks" score="all"
# The solution, as it stands.

# %% [markdown] student="untouched" base="student" score="0"
# Opened, looked at, handed in.

# %% [markdown] student="no-scaling" score="all - 20"
# The best-known mistake: the scores are not divided by √d_k, in 1.2 and again in 1.4.

# %% exercise="1.2"
def scaled_scores(query, key):
    return query @ key.transpose(-2, -1)

# %% exercise="1.4"
def attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights

# %% [markdown] student="softmax-over-queries" score="all - 15"
# The softmax of 1.4 runs over the queries: columns sum to 1, rows do not.

# %% exercise="1.4"
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-2)
    return weights @ value, weights

# %% [markdown] student="keys-from-text" score="all - 15"
# Cross-attention in which the text also gives the keys: it never looks at the image for what it compares with.

# %% exercise="1.8"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(image_tokens), mask)

# %% [markdown] student="mask-inverted" score="all - 10"
# True is taken to forbid, as nn.MultiheadAttention means it.

# %% exercise="1.6"
def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights

# %% [markdown] student="other-style" score="all"
# Everything right, nothing as in the solution: einsum, bmm, explicit loops, NumPy habits.

# %% exercise="1.1"
def attention_scores(query, key):
    return torch.einsum("...qd,...kd->...qk", query, key)

# %% exercise="1.2"
def scaled_scores(query, key):
    width = torch.tensor(float(key.size(-1)), dtype=query.dtype, device=query.device)
    return attention_scores(query * width.rsqrt(), key)

# %% exercise="1.3"
def stable_softmax(scores, dim=-1):
    moved = scores.movedim(dim, 0)
    top = moved.max(0).values
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    powers = (moved - top).exp()
    total = powers.sum(0)
    return (powers / torch.where(total > 0, total, torch.ones_like(total))).movedim(0, dim)

# %% exercise="1.4"
def attention(query, key, value):
    lead = query.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    a = torch.bmm(q, k.permute(0, 2, 1)).mul(k.shape[-1] ** -0.5).softmax(2)
    o = torch.bmm(a, v)
    return o.reshape(*lead, *o.shape[-2:]), a.reshape(*lead, *a.shape[-2:])

# %% exercise="1.5"
def causal_mask(n):
    rows = [[column <= row for column in range(n)] for row in range(n)]
    return torch.tensor(rows, dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    mask = torch.zeros(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for row, length in enumerate(lengths.tolist()):
        mask[row, 0, :length] = True
    return mask

# %% exercise="1.6"
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        return attention(query, key, value)
    mask = mask.expand_as(scores)
    powers = torch.where(mask, scores - scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True), 0.0).exp() * mask
    weights = powers / powers.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights

# %% exercise="1.7"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        fused = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
        query, key, value = nn.functional.linear(tokens, fused).chunk(3, dim=-1)
        return masked_attention(query, key, value, mask=mask)

# %% exercise="1.9"
def pointer_loss(weights, target):
    flat = weights.reshape(-1, weights.shape[-1])
    return sum(-row[index].log() for row, index in zip(flat, target.reshape(-1))) / len(flat)

# %% [markdown] student="colab-saved" alter="colab" score="all"
# The solution, after a save in Colab: other ids, metadata gone, a cell doubled.

# %% [markdown] student="own-helper" score="all"
# Helpers in cells of the student's own: one that warns on stderr and prints, one that raises, one that is used.

# %% after="setup"
import sys

print("warming up", file=sys.stderr)
print("hello from my own cell")

# %% after="exercise-1-1"
1 / 0

# %% after="exercise-1-3"
def look(weights, value):
    return weights @ value

# %% exercise="1.4"
def attention(query, key, value):
    import warnings

    warnings.warn("an honest warning costs nothing", stacklevel=1)
    weights = stable_softmax(scaled_scores(query, key))
    return look(weights, value), weights

# %% [markdown] student="syntax-error" score="all - 5"
# One cell does not parse; the others are right.

# %% exercise="1.2"
def scaled_scores(query, key:
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])

# %% [markdown] student="endless-loop" score="all - 10"
# A loop that never ends where 1.3 is called, and another in a cell of the student's own.

# %% exercise="1.3"
def stable_softmax(scores, dim=-1):
    total = 0
    while total < 1:
        total = scores.exp().sum() * 0
    return scores

# %% [markdown] student="truncated" alter="truncated" score="unreadable"
# A download that broke off in the middle.

# %% [markdown] student="uses-the-builtin" score="all - 15"
# 1.4 hands the work to PyTorch. The result is right; writing it was the exercise.

# %% exercise="1.4"
def attention(query, key, value):
    eye = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device).expand(*key.shape[:-2], -1, -1)
    weights = F.scaled_dot_product_attention(query, key, eye)
    return F.scaled_dot_product_attention(query, key, value), weights
