# Wrong answers that once passed: axes of length 1, equal widths, masks without True, work in place, borders between words.

# %% exercise="2.1" wrong="skips equal widths"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method='linear'):
        super().__init__()
        if method == 'identity' and d_vision == d_text:
            self.proj = nn.Identity()
        elif method == 'linear':
            self.proj = nn.Linear(d_vision, d_text)
        elif method == 'mlp':
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError(method)

    def forward(self, tokens):
        last = tokens.shape[-1]
        return tokens if last == getattr(self.proj, 'out_features', -1) else self.proj(tokens)


# %% exercise="2.1" wrong="identity at equal widths whatever the method"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method='linear'):
        super().__init__()
        if d_vision == d_text:
            self.proj = nn.Identity()
            if method not in ('linear', 'mlp', 'identity'):
                raise ValueError(method)
            return
        if method == 'identity' and d_vision == d_text:
            self.proj = nn.Identity()
        elif method == 'linear':
            self.proj = nn.Linear(d_vision, d_text)
        elif method == 'mlp':
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)


# %% exercise="2.1" wrong="one direction"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method='linear'):
        super().__init__()
        if method == 'identity' and d_vision < d_text:
            raise ValueError
        if method == 'identity':
            self.proj = nn.Identity()
            return
        if method == 'identity' and d_vision == d_text:
            self.proj = nn.Identity()
        elif method == 'linear':
            self.proj = nn.Linear(d_vision, d_text)
        elif method == 'mlp':
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)


# %% exercise="2.1" wrong="squeezes"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method='linear'):
        super().__init__()
        if method == 'identity' and d_vision == d_text:
            self.proj = nn.Identity()
        elif method == 'linear':
            self.proj = nn.Linear(d_vision, d_text)
        elif method == 'mlp':
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens).squeeze()


# %% exercise="2.2" wrong="lstsq"
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    A = torch.linalg.lstsq(z, x).solution
    return (1 - (x - z @ A).square().sum() / x.square().sum()).clamp(0, 1)


# %% exercise="2.3" wrong="naive exp"
def alignment_loss(aligned, words, labels, temperature=0.1):
    s = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T / temperature
    e = s.exp()
    return -(e.gather(-1, labels.unsqueeze(-1)).squeeze(-1) / e.sum(-1)).log().mean()


# %% exercise="2.3" wrong="log of softmax"
def alignment_loss(aligned, words, labels, temperature=0.1):
    s = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T / temperature
    return -s.softmax(-1).gather(-1, labels.unsqueeze(-1)).log().mean()


# %% exercise="2.3" wrong="no keywords"
def alignment_loss(a, w, y, temperature=0.1):
    s = F.normalize(a, dim=-1) @ F.normalize(w, dim=-1).T / temperature
    return F.cross_entropy(s.reshape(-1, len(w)), y.reshape(-1))


# %% exercise="2.4" wrong="squeezes"
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2).squeeze()


# %% exercise="2.6" wrong="squeezes"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, w = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(self.drop(w) @ v)), w.squeeze()


# %% exercise="2.7" wrong="skips where equal"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method='linear'):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        if image_tokens.shape[-1] != text_tokens.shape[-1]:
            image_tokens = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, image_tokens, mask)


# %% exercise="2.7" wrong="nan rows"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method='linear'):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        o, w = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        if mask is not None:
            o = o / mask.any(-1, keepdim=True).to(o.dtype)
        return o, w


# %% exercise="2.7" wrong="squeezes"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method='linear'):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        o, w = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return o.squeeze(), w


# %% exercise="2.7" wrong="a mask without True is dropped"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method='linear'):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        mask = mask if mask is not None and mask.any() else None
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)


# %% exercise="2.8" wrong="freezes"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    for p in attention_layer.parameters():
        p.requires_grad_(False)
    o, w = attention_layer(tokens, context, mask)
    s = tokens if context is None else context
    d = o.shape[-1] // attention_layer.num_heads
    m = slice(head * d, (head + 1) * d)
    v = attention_layer.W_V(s)[..., m]
    return o - (w[..., head, :, :] @ v) @ attention_layer.W_O.weight[:, m].T


# %% exercise="2.8" wrong="squeezes"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    o, w = attention_layer(tokens, context, mask)
    s = tokens if context is None else context
    d = o.shape[-1] // attention_layer.num_heads
    m = slice(head * d, (head + 1) * d)
    v = attention_layer.W_V(s)[..., m]
    return (o - (w[..., head, :, :] @ v) @ attention_layer.W_O.weight[:, m].T).squeeze()


# %% exercise="2.8" wrong="replaces the parameter"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    import copy
    W = attention_layer.W_O.weight
    d = W.shape[1] // attention_layer.num_heads
    old = W.detach().clone()
    new = old.clone()
    new[:, head * d : (head + 1) * d] = 0
    attention_layer.W_O.weight = nn.Parameter(new, requires_grad=False)
    o, _ = attention_layer(tokens, context, mask)
    attention_layer.W_O.weight = nn.Parameter(old, requires_grad=False)
    return o


# %% exercise="2.P1" wrong="view"
def attention_entropy(weights):
    flat = weights.view(-1, weights.shape[-1])
    return (torch.special.entr(flat).sum(-1) / math.log(weights.shape[-1])).view(weights.shape[:-1])


# %% exercise="2.P1" wrong="in place"
def attention_entropy(weights):
    weights[weights == 0] = 1.0
    return -(weights * weights.log()).sum(-1) / math.log(weights.shape[-1])


# %% exercise="2.P1" wrong="squeezes"
def attention_entropy(weights):
    return (torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])).squeeze()


# %% exercise="2.P2" wrong="median entropy"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).median() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="entropy 0.9"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.9:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="entropy 0.99"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.99:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="min entropy"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).min() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="max entropy"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).max() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="hub by votes"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if weights.argmax(-1).bincount(minlength=n).max() >= n / 2:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="hub above"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() > 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="hub for each query"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if (weights >= 0.5).all(0).any():
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="hub 0.4"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.4:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="diagonal above"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() > 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="diagonal for each query"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if (weights.diagonal() >= 0.5).all():
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="diagonal 0.6"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.6:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="local half"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.5 else 'other'


# %% exercise="2.P2" wrong="local above"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() > 0.75 else 'other'


# %% exercise="2.P2" wrong="local two away"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[(i[:, None] - i).abs() <= 2].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="wraps"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if sum((weights * torch.roll(torch.eye(n), k, 1)).sum() for k in (-1, 0, 1)) >= 0.75 * n else 'other'


# %% exercise="2.P2" wrong="local 0.8"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.8 else 'other'


# %% exercise="2.P2" wrong="local each row"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if ((weights * near).sum(-1) >= 0.75).all() else 'other'


# %% exercise="2.P2" wrong="hub not first key"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.sum(0)[1:].max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="diagonal before hub"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="local before hub"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    if share.diagonal().sum() >= 0.5 and share.sum(0).max() < 0.5:
        return 'diagonal'
    if share[near].sum() >= 0.75:
        return 'local'
    return 'hub' if share.sum(0).max() >= 0.5 else 'other'


# %% exercise="2.P2" wrong="uniform last"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    share = weights / weights.sum()
    near = (i[:, None] - i).abs() <= 1
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    if attention_entropy(weights).mean() > 0.95:
        return 'uniform'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P2" wrong="in place"
def classify_pattern(weights):
    n = len(weights)
    i = torch.arange(n)
    weights /= weights.sum()
    share = weights
    near = (i[:, None] - i).abs() <= 1
    if attention_entropy(weights * n).mean() > 0.95:
        return 'uniform'
    if share.sum(0).max() >= 0.5:
        return 'hub'
    if share.diagonal().sum() >= 0.5:
        return 'diagonal'
    return 'local' if share[near].sum() >= 0.75 else 'other'


# %% exercise="2.P3" wrong="in place"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text_tokens -= 0
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        image_tokens.mul_(2)
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])


# %% exercise="2.P3" wrong="detached"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(t, i.detach())[0]), self.image_out(self.image_from_text(i, t.detach())[0])


# %% exercise="2.P3" wrong="skips the way in"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_norm(text_tokens)
        t = t if t.shape[-1] == self.text_in.out_features else self.text_in(t)
        i = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])


# %% exercise="2.P3" wrong="one norm"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_in(self.text_norm(text_tokens))
        n = self.text_norm if image_tokens.shape[-1] == text_tokens.shape[-1] else self.image_norm
        i = self.image_in(n(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])


# %% exercise="2.P3" wrong="squeezes"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]).squeeze(), self.image_out(self.image_from_text(i, t)[0])


# %% exercise="2.1" wrong="a part of a method's name"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method in ("linear"):
            layers = nn.Linear(d_vision, d_text)
        elif method in ("mlp"):
            layers = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method in ("identity") and d_vision == d_text:
            layers = nn.Identity()
        else:
            raise ValueError(f"cannot align {d_vision} to {d_text} by {method!r}")
        self.proj = layers

    def forward(self, tokens):
        return self.proj(tokens)


# %% exercise="2.6" wrong="the mask before the context"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model}, num_heads {num_heads}")
        self.num_heads = num_heads
        self.drop = dropout
        width = d_context if d_context is not None else d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def _heads(self, projected):
        return split_heads(projected, self.num_heads)

    def forward(self, tokens, mask=None, context=None):
        source = tokens if context is None else context
        q, k, v = self._heads(self.W_Q(tokens)), self._heads(self.W_K(source)), self._heads(self.W_V(source))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        kept = F.dropout(weights, p=self.drop, training=self.training)
        return self.W_O(merge_heads(kept @ v)), weights


# %% exercise="2.6" wrong="sets the seed in forward"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        torch.manual_seed(0)
        source = tokens if context is None else context
        query, key, value = (
            split_heads(layer(side), self.num_heads)
            for layer, side in ((self.W_Q, tokens), (self.W_K, source), (self.W_V, source))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights
