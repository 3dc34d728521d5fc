# Right answers in other styles: each must pass every check. One cell each, as a student would write it.

# %% exercise="1.1" variant="matmul and mT"
def attention_scores(query, key):
    return torch.matmul(query, key.mT)


# %% exercise="1.1" variant="broadcast and sum"
def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)


# %% exercise="1.1" variant="einsum without ellipsis, flattened"
def attention_scores(query, key):
    lead = query.shape[:-2]
    q = query.reshape(-1, *query.shape[-2:])
    k = key.reshape(-1, *key.shape[-2:])
    s = torch.einsum("bqd,bkd->bqk", q, k)
    return s.view(*lead, *s.shape[-2:])


# %% exercise="1.1" variant="loops over queries and keys"
def attention_scores(query, key):
    rows = []
    for i in range(query.shape[-2]):
        row = [(query[..., i, :] * key[..., j, :]).sum(-1) for j in range(key.shape[-2])]
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows, dim=-2)


# %% exercise="1.1" variant="tensordot for one, recursion for many"
def attention_scores(query, key):
    if query.dim() == 2:
        return torch.tensordot(query, key, dims=([1], [1]))
    return torch.stack([attention_scores(q, k) for q, k in zip(query, key)])


# %% exercise="1.2" variant="scales the queries first"
def scaled_scores(query, key):
    return attention_scores(query / query.size(-1) ** 0.5, key)


# %% exercise="1.2" variant="both sides by the fourth root"
def scaled_scores(query, key):
    root = math.sqrt(math.sqrt(query.shape[-1]))
    return (query / root) @ (key / root).transpose(-1, -2)


# %% exercise="1.2" variant="numpy's square root and an extra argument"
def scaled_scores(query, key, scale=None):
    import numpy

    scale = 1 / numpy.sqrt(key.shape[-1]) if scale is None else scale
    return attention_scores(query, key) * float(scale)


# %% exercise="1.2" variant="a tensor root"
def scaled_scores(query, key):
    d_k = torch.tensor(key.shape[-1], dtype=key.dtype, device=key.device)
    return torch.einsum("...ij,...kj->...ik", query, key).div(d_k.sqrt())


# %% exercise="1.2" variant="in place on its own scores"
def scaled_scores(query, key):
    scores = query @ key.transpose(-2, -1)
    scores /= math.sqrt(query.shape[-1])
    return scores


# %% exercise="1.3" variant="max and where"
def stable_softmax(scores, dim=-1):
    m, _ = torch.max(scores, dim=dim, keepdim=True)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    e = torch.exp(scores - m)
    total = e.sum(dim=dim, keepdim=True)
    return torch.where(
        total > 0, e / torch.where(total > 0, total, torch.ones_like(total)), torch.zeros_like(e)
    )


# %% exercise="1.3" variant="nan_to_num at the end"
def stable_softmax(scores, dim=-1):
    exps = (scores - scores.amax(dim=dim, keepdim=True)).exp()
    return torch.nan_to_num(exps / exps.sum(dim=dim, keepdim=True), nan=0.0)


# %% exercise="1.3" variant="axis moved to the end, maximum detached"
def stable_softmax(scores, dim=-1):
    x = scores.transpose(dim, -1)
    with torch.no_grad():
        top = x.max(-1, keepdim=True)[0]
        top = top.masked_fill(torch.isneginf(top), 0)
    numerator = torch.exp(x - top)
    out = numerator / (numerator.sum(-1, keepdim=True) + torch.finfo(scores.dtype).tiny)
    return out.transpose(dim, -1)


# %% exercise="1.3" variant="through logarithms"
def stable_softmax(scores, dim=-1):
    shift = scores.detach().amax(dim, keepdim=True)
    shift = torch.clamp(shift, min=torch.finfo(scores.dtype).min)
    z = scores - shift
    total = torch.exp(z).sum(dim, keepdim=True)
    return torch.exp(z - torch.log(total + (total == 0)))


# %% exercise="1.3" variant="powers of e, very small epsilon"
def stable_softmax(scores, dim=-1):
    best = scores.max(dim, keepdim=True).values.clamp(min=-1e30)
    e = torch.pow(torch.tensor(math.e, dtype=torch.float64), (scores - best).double())
    return (e / (e.sum(dim, keepdim=True) + 1e-12)).to(scores.dtype)


# %% exercise="1.4" variant="einsum"
def attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    weights = scores.softmax(-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


# %% exercise="1.4" variant="bmm, returns a list"
def attention(query, key, value):
    lead = query.shape[:-2]
    q, k, v = [t.reshape(-1, t.shape[-2], t.shape[-1]) for t in (query, key, value)]
    w = torch.bmm(q, k.transpose(1, 2)).mul_(q.shape[-1] ** -0.5).softmax(dim=2)
    return [torch.bmm(w, v).reshape(*lead, q.shape[1], v.shape[2]), w.reshape(*lead, q.shape[1], k.shape[1])]


# %% exercise="1.4" variant="a loop over queries"
def attention(query, key, value):
    outputs, maps = [], []
    for q in query.unbind(-2):
        s = (key * q.unsqueeze(-2)).sum(-1) / math.sqrt(key.shape[-1])
        w = stable_softmax(s)
        maps.append(w)
        outputs.append((w.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, -2), torch.stack(maps, -2)


# %% exercise="1.4" variant="a named tuple and a helper"
from collections import namedtuple

Attended = namedtuple("Attended", ["output", "weights"])


def _weights(query, key):
    return nn.Softmax(dim=-1)(scaled_scores(query, key))


def attention(query, key, value):
    weights = _weights(query, key)
    return Attended(output=weights @ value, weights=weights)


# %% exercise="1.4" variant="columns, transposed at the end"
def attention(query, key, value):
    columns = torch.softmax(scaled_scores(key, query), dim=-2)
    return columns.mT @ value, columns.mT


# %% exercise="1.5" variant="tril and arange"
def causal_mask(n):
    return torch.tril(torch.ones((n, n), dtype=torch.bool))


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(1)


# %% exercise="1.5" variant="not triu, expand"
def causal_mask(n):
    return ~torch.triu(torch.ones(n, n), diagonal=1).bool()


def padding_mask(lengths, n):
    steps = torch.arange(1, n + 1, device=lengths.device).expand(lengths.numel(), n)
    return steps.le(lengths.view(-1, 1))[:, None]


# %% exercise="1.5" variant="python lists"
def causal_mask(n):
    return torch.tensor([[j <= i for j in range(n)] for i in range(n)])


def padding_mask(lengths, n):
    rows = [[[j < length for j in range(n)]] for length in lengths.tolist()]
    return torch.tensor(rows, device=lengths.device)


# %% exercise="1.5" variant="on the cpu, and moved back"
def causal_mask(n):
    return torch.arange(n) <= torch.arange(n)[:, None]


def padding_mask(lengths, n):
    rows = [torch.arange(n) < int(length) for length in lengths.cpu()]
    return torch.stack(rows).unsqueeze(1).to(lengths.device)


# %% exercise="1.5" variant="loops that fill in"
def causal_mask(n, device=None):
    mask = torch.zeros(n, n, dtype=torch.bool, device=device)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def padding_mask(lengths, n):
    mask = torch.zeros(lengths.shape[0], 1, n, dtype=torch.bool, device=lengths.device)
    for b in range(lengths.shape[0]):
        mask[b, 0, : int(lengths[b])] = True
    return mask


# %% exercise="1.5" variant="cumulative sums"
def causal_mask(n):
    return torch.eye(n).cumsum(0).eq(1)


def padding_mask(lengths, n):
    ends = torch.zeros(len(lengths), n + 1, device=lengths.device)
    ends.scatter_(1, lengths.long().unsqueeze(1), 1.0)
    return ends.cumsum(1)[:, None, :n] == 0


# %% exercise="1.6" variant="masked_fill"
def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights


# %% exercise="1.6" variant="additive mask and nan_to_num"
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        bias[~mask] = -math.inf
        scores = scores + bias
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


# %% exercise="1.6" variant="large negative, then zeroed"
def masked_attention(query, key, value, mask=None):
    if mask is None:
        return attention(query, key, value)
    scores = scaled_scores(query, key).masked_fill(~mask, torch.finfo(query.dtype).min)
    weights = scores.softmax(dim=-1) * mask
    return weights.matmul(value), weights


# %% exercise="1.6" variant="exponentials by hand"
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    mask = mask.expand(scores.shape)
    top = torch.where(mask, scores, torch.full_like(scores, -1e30)).max(-1, keepdim=True).values
    exps = torch.where(mask, torch.exp(torch.where(mask, scores - top, torch.zeros_like(scores))), 0)
    weights = exps / exps.sum(-1, keepdim=True).clamp_min(1e-30)
    return weights @ value, weights


# %% exercise="1.6" variant="rows that look nowhere are mended"
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key) / query.shape[-1] ** 0.5
    if mask is None:
        weights = F.softmax(scores, -1)
    else:
        somewhere = mask.any(dim=-1, keepdim=True)
        weights = F.softmax(scores.masked_fill(~mask & somewhere, -torch.inf), -1)
        weights = torch.where(somewhere, weights, torch.zeros_like(weights))
    return (weights @ value, weights)


# %% exercise="1.7" variant="a dictionary of layers by loop"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super(SelfAttention, self).__init__()
        for letter in "VKQ":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% exercise="1.7" variant="one product for all three"
class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        stacked = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight], dim=0)
        q, k, v = torch.split(F.linear(tokens, stacked), self.W_Q.out_features, dim=-1)
        return masked_attention(q, k, v, mask)


# %% exercise="1.7" variant="all written out"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        s = q @ k.transpose(-2, -1) * self.d_k**-0.5
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = torch.softmax(s, dim=-1)
        if mask is not None:
            w = w * mask
        return w @ v, w


# %% exercise="1.7" variant="a base class and an extra switch"
class Projected(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def project(self, x):
        return [layer(x) for layer in (self.W_Q, self.W_K, self.W_V)]


class SelfAttention(Projected):
    def forward(self, tokens, mask=None, need_weights=True):
        output, weights = masked_attention(*self.project(tokens), mask=mask)
        return (output, weights) if need_weights else output


# %% exercise="1.7" variant="einsum with the weights, better initialised"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        for layer in self.children():
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, tokens, mask=None):
        make = lambda layer: torch.einsum("...tm,km->...tk", tokens, layer.weight)  # noqa: E731
        return masked_attention(make(self.W_Q), make(self.W_K), make(self.W_V), mask)


# %% exercise="1.8" variant="plain"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        asks = self.W_Q(text_tokens)
        return masked_attention(asks, key=self.W_K(image_tokens), value=self.W_V(image_tokens), mask=mask)


# %% exercise="1.8" variant="all written out"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        self.scale = 1 / math.sqrt(d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = (
            torch.einsum("...td,...sd->...ts", self.W_Q(text_tokens), self.W_K(image_tokens)) * self.scale
        )
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=-1).nan_to_num(0.0)
        return torch.einsum("...ts,...sd->...td", weights, self.W_V(image_tokens)), weights


# %% exercise="1.8" variant="built on SelfAttention"
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_k)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)


# %% exercise="1.8" variant="keys folded into the queries"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = nn.Linear(d_image, d_k, bias=False), nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        folded = self.W_Q(text_tokens) @ self.W_K.weight / math.sqrt(self.d_k)
        scores = folded @ image_tokens.transpose(-2, -1)
        weights = stable_softmax(scores if mask is None else torch.where(mask, scores, -math.inf))
        return self.W_V(weights @ image_tokens), weights


# %% exercise="1.8" variant="one product for keys and values"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k, **unused):
        super().__init__()
        for name, width in {"W_Q": d_text, "W_K": d_image, "W_V": d_image}.items():
            setattr(self, name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        both = nn.functional.linear(image_tokens, torch.cat((self.W_K.weight, self.W_V.weight)))
        key, value = both.chunk(2, dim=-1)
        return masked_attention(self.W_Q(text_tokens), key, value, mask)


# %% exercise="1.9" variant="gather"
def pointer_loss(weights, target):
    return -torch.log(weights.gather(-1, target.unsqueeze(-1))).mean()


# %% exercise="1.9" variant="nll_loss"
def pointer_loss(weights, target):
    return F.nll_loss(weights.reshape(-1, weights.shape[-1]).log(), target.reshape(-1))


# %% exercise="1.9" variant="cross entropy of the logarithm"
def pointer_loss(weights, target):
    return nn.CrossEntropyLoss()(
        weights.log().flatten(end_dim=-2) if weights.dim() > 2 else weights.log(),
        target.flatten() if weights.dim() > 2 else target,
    )


# %% exercise="1.9" variant="one-hot"
def pointer_loss(weights, target):
    chosen = F.one_hot(target, num_classes=weights.shape[-1]).to(weights.dtype)
    return -torch.xlogy(chosen, weights).sum(dim=-1).mean()


# %% exercise="1.9" variant="fancy indexing with a tiny number against log 0"
def pointer_loss(weights, target):
    flat = weights.reshape(-1, weights.size(-1))
    picked = flat[torch.arange(flat.size(0), device=flat.device), target.reshape(-1)]
    return -(picked + 1e-9).log().mean()


# %% exercise="1.9" variant="a loop"
def pointer_loss(weights, target):
    maps, places = weights.reshape(-1, weights.shape[-1]), target.reshape(-1).tolist()
    total = 0.0
    for one, place in zip(maps, places):
        total = total - torch.log(one[place])
    return total / len(places)
