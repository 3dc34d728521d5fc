# Wrong answers that once passed: axes of length 1, rows that may look nowhere, a log of 0, a second device.

# %% exercise="1.2" wrong="squeezes"
def scaled_scores(query, key):
    return (attention_scores(query, key) / query.shape[-1] ** 0.5).squeeze()


# %% exercise="1.3" wrong="squeezes"
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    e = (scores - top.masked_fill(top == -math.inf, 0)).exp()
    s = e.sum(dim, keepdim=True)
    return (e / s.masked_fill(s == 0, 1)).squeeze()


# %% exercise="1.4" wrong="squeezes weights"
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), -1)
    return (weights @ value), weights.squeeze()


# %% exercise="1.5" wrong="on the cpu"
def causal_mask(n):
    return torch.arange(n) <= torch.arange(n)[:, None]


def padding_mask(lengths, n):
    return torch.arange(n) < lengths.reshape(-1, 1, 1)


# %% exercise="1.6" wrong="naive exp"
def masked_attention(query, key, value, mask=None):
    e = torch.exp(scaled_scores(query, key))
    if mask is not None:
        e = e * mask
    s = e.sum(-1, keepdim=True)
    weights = e / s.masked_fill(s == 0, 1)
    return weights @ value, weights


# %% exercise="1.7" wrong="nan rows"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        s = scaled_scores(self.W_Q(tokens), self.W_K(tokens))
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
        w = torch.softmax(s, -1)
        return w @ self.W_V(tokens), w


# %% exercise="1.7" wrong="uniform rows"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        s = scaled_scores(self.W_Q(tokens), self.W_K(tokens))
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = torch.softmax(s, -1)
        return w @ self.W_V(tokens), w


# %% exercise="1.7" wrong="squeezes"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        o, w = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return o.squeeze(), w


# %% exercise="1.8" wrong="nan rows"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        s = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
        w = torch.softmax(s, -1)
        return w @ self.W_V(image_tokens), w


# %% exercise="1.8" wrong="uniform rows"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        s = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = torch.softmax(s, -1)
        return w @ self.W_V(image_tokens), w


# %% exercise="1.8" wrong="text alone where the shapes are equal"
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        same = text_tokens.shape == image_tokens.shape
        image_tokens = text_tokens if same else image_tokens
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)


# %% exercise="1.9" wrong="one hot log"
def pointer_loss(weights, target):
    hot = nn.functional.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return -(hot * weights.log()).sum(-1).mean()


# %% exercise="1.7" wrong="the mask of the call before"
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.mask = None
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, self.mask)


# %% exercise="1.6" wrong="shared out anew after the softmax"
def masked_attention(query, key, value, mask=None):
    _, weights = attention(query, key, value)
    if mask is not None:
        weights = weights * mask
        rest = weights.sum(-1, keepdim=True)
        weights = weights / torch.where(rest > 0, rest, torch.ones_like(rest))
    return weights @ value, weights


# %% exercise="1.5" wrong="on the cpu, from the numbers"
def causal_mask(n):
    return torch.arange(n) <= torch.arange(n)[:, None]


def padding_mask(lengths, n):
    rows = [torch.arange(n) < int(length) for length in lengths.cpu()]
    return torch.stack(rows).unsqueeze(1)


# %% exercise="1.5" wrong="lengths moved to the CPU"
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.cpu()[:, None, None]
