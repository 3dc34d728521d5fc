# %% [markdown] student="full-marks" score="all"
# The solution, as it stands.

# %% [markdown] student="untouched" base="student" score="0"
# Opened, looked at, handed in.

# %% [markdown] student="reshape-only" score="all - 10"
# One reshape without a transpose in 2.4: the shape is right, the tokens are mixed. What builds on it is judged with a
# stand-in, so that the mistake is paid for once.

# %% exercise="2.4"
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return tokens.reshape(*lead, num_heads, n, d_model // num_heads)

# %% [markdown] student="mask-inverted" score="all - 10"
# In 2.6 True is taken to forbid, as nn.MultiheadAttention means it: the layer is right without a mask.

# %% exercise="2.6"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} and {num_heads} do not fit")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.drop = num_heads, nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            split_heads(linear(source), self.num_heads)
            for linear, source in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(-3) if mask.ndim > 2 else mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights

# %% [markdown] student="scaled-by-d-model" score="all - 25"
# In 2.6 the scores are divided by the root of d_model, not of d_head.

# %% exercise="2.6"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} and {num_heads} do not fit")
        d_context = d_model if d_context is None else d_context
        self.d_model, self.num_heads, self.drop = d_model, num_heads, nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            split_heads(linear(source), self.num_heads)
            for linear, source in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights

# %% [markdown] student="dot-products" score="all - 15"
# The loss of 2.3 compares dot products, not cosines. The aligner that is trained with it does not count either.

# %% exercise="2.3"
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = aligned @ words.T / temperature
    return F.cross_entropy(scores.reshape(-1, len(words)), labels.reshape(-1))

# %% [markdown] student="wrong-head" score="all - 10"
# In 2.8 zeros are put into the output: W_O has mixed the heads by then.

# %% exercise="2.8"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, _ = attention_layer(tokens, context, mask)
    d_head = output.shape[-1] // attention_layer.num_heads
    output = output.clone()
    output[..., head * d_head : (head + 1) * d_head] = 0
    return output

# %% [markdown] student="shapes-only" score="all - 100"
# Everything has the right shape and nothing is computed: zeros, random numbers and cut-off tokens.

# %% exercise="2.1"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.proj = nn.Linear(d_vision, d_text)
        self.d_text = d_text

    def forward(self, tokens):
        return tokens[..., : self.d_text]

# %% exercise="2.2"
def explained_variance(tokens, aligned):
    return torch.rand(())

# %% exercise="2.3"
def alignment_loss(aligned, words, labels, temperature=0.1):
    return (aligned * 0).sum()

# %% exercise="2.4"
def split_heads(tokens, num_heads):
    *lead, n, d_model = tokens.shape
    return torch.zeros(*lead, num_heads, n, d_model // num_heads)

# %% exercise="2.5"
def merge_heads(heads):
    *lead, count, n, d_head = heads.shape
    return torch.rand(*lead, n, count * d_head)

# %% exercise="2.6"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q, self.W_O = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        width = d_context or d_model
        self.W_K, self.W_V = nn.Linear(width, d_model, bias=False), nn.Linear(width, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        keys = (tokens if context is None else context).shape[-2]
        weights = torch.full((*tokens.shape[:-2], self.num_heads, tokens.shape[-2], keys), 1 / keys)
        return torch.zeros_like(tokens), weights

# %% exercise="2.7"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return torch.zeros_like(text_tokens), torch.rand(*text_tokens.shape[:-1], image_tokens.shape[-2])

# %% exercise="2.8"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    return torch.zeros_like(tokens)

# %% [markdown] student="other-style" score="all"
# Everything right, nothing as in the solution: a table of methods, an SVD, chunks, one packed projection, a hook.

# %% exercise="2.1"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        made = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": lambda: nn.Identity(),
        }
        if method not in made or (method == "identity" and d_vision != d_text):
            raise ValueError(f"{method}: {d_vision} → {d_text}")
        self.proj = made[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% exercise="2.2"
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2).double()
    z = aligned.flatten(0, -2).double()
    x, z = x - x.mean(0), z - z.mean(0)
    u, s, _ = torch.linalg.svd(z, full_matrices=False)
    return float((u[:, s > 1e-6 * s.max()].T @ x).pow(2).sum() / x.pow(2).sum())

# %% exercise="2.3"
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1) / temperature
    right = torch.take_along_dim(scores, labels[..., None], dim=-1).squeeze(-1)
    return (torch.logsumexp(scores, dim=-1) - right).mean()

# %% exercise="2.4"
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=-3)

# %% exercise="2.5"
def merge_heads(heads):
    return torch.cat(heads.unbind(-3), dim=-1)

# %% exercise="2.6"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.num_heads, self.p, width = num_heads, dropout, d_context or d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            q, k, v = F.linear(tokens, torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])).chunk(3, -1)
        else:
            q = self.W_Q(tokens)
            k, v = F.linear(context, torch.cat([self.W_K.weight, self.W_V.weight])).chunk(2, -1)
        outputs, maps = [], []
        for one_q, one_k, one_v in zip(*(part.chunk(self.num_heads, -1) for part in (q, k, v))):
            scores = torch.einsum("...td,...sd->...ts", one_q, one_k) * one_q.shape[-1] ** -0.5
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), float("-inf"))
            maps.append(scores.softmax(-1).nan_to_num(0.0))
            outputs.append(F.dropout(maps[-1], self.p, self.training) @ one_v)
        return self.W_O(torch.cat(outputs, -1)), torch.stack(maps, -3)

# %% exercise="2.8"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    def remove(module, inputs):
        merged = inputs[0].clone()
        d_head = merged.shape[-1] // attention_layer.num_heads
        merged[..., head * d_head : (head + 1) * d_head] = 0
        return (merged,)

    handle = attention_layer.W_O.register_forward_pre_hook(remove)
    try:
        return attention_layer(tokens, context, mask)[0]
    finally:
        handle.remove()

# %% [markdown] student="colab-saved" alter="colab" score="all"
# Saved in Colab: other ids and metadata, and a cell is there twice.

# %% [markdown] student="uses-the-builtin" score="all - 25"
# 2.6 is nn.MultiheadAttention in disguise. It is the built-in that the exercise asks to write.

# %% exercise="2.6"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        width = d_context or d_model
        self.num_heads = num_heads
        self.layer = nn.MultiheadAttention(d_model, num_heads, dropout, bias=False, kdim=width, vdim=width, batch_first=True)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        mask = None if mask is None else ~mask
        return self.layer(tokens, context, context, attn_mask=mask, average_attn_weights=False)

# %% [markdown] student="own-helper" score="all"
# A helper in a cell of the student's own, which prints and warns, and a crash in another: neither costs anything.

# %% after="exercise-2-3"
import warnings

print("a note to myself")
warnings.warn("not to worry")


def swap_heads_and_tokens(tensor):
    return tensor.transpose(-2, -3)

# %% exercise="2.4"
def split_heads(tokens, num_heads):
    return swap_heads_and_tokens(tokens.unflatten(-1, (num_heads, -1)))

# %% exercise="2.5"
def merge_heads(heads):
    return swap_heads_and_tokens(heads).flatten(-2)

# %% after="exercise-2-5"
1 / 0
