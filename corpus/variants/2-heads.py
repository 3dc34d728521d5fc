# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa: B905, E402, F811, F821, RUF005, RUF012

# %% exercise="2.1" variant="table"
class TokenAligner(nn.Module):
    METHODS = {
        "linear": lambda a, b: nn.Linear(a, b),
        "mlp": lambda a, b: nn.Sequential(nn.Linear(a, b), nn.GELU(), nn.Linear(b, b)),
        "identity": lambda a, b: nn.Identity(),
    }

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in self.METHODS:
            raise ValueError(f"{method}?")
        if method == "identity" and d_vision != d_text:
            raise ValueError("widths differ")
        self.proj = self.METHODS[method](d_vision, d_text)

    def forward(self, tokens):
        return self.proj(tokens)


# %% exercise="2.1" variant="match"
class NoSuchMethod(ValueError):
    pass


class TokenAligner(nn.Module):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear", *, bias: bool = True) -> None:
        nn.Module.__init__(self)
        match method:
            case "linear":
                proj = nn.Linear(in_features=d_vision, out_features=d_text, bias=bias)
            case "mlp":
                proj = nn.Sequential()
                proj.append(nn.Linear(d_vision, d_text))
                proj.append(nn.GELU("none"))
                proj.append(nn.Linear(d_text, d_text))
            case "identity" if d_vision == d_text:
                proj = nn.Identity(d_vision)
            case _:
                raise NoSuchMethod(method)
        self.proj = proj

    def forward(self, tokens):
        return self.proj.forward(tokens)


# %% exercise="2.1" variant="built when called"
class TokenAligner(torch.nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super(TokenAligner, self).__init__()  # noqa: UP008
        self.d_vision, self.d_text, self.method = d_vision, d_text, method
        layers = []
        if method in ("linear", "mlp"):
            layers += [torch.nn.Linear(d_vision, d_text)]
        if method == "mlp":
            layers += [torch.nn.GELU(), torch.nn.Linear(d_text, d_text)]
        self.proj = (
            torch.nn.Identity()
            if not layers
            else layers[0]
            if len(layers) == 1
            else torch.nn.Sequential(*layers)
        )

    def forward(self, tokens):
        if self.method not in ("linear", "mlp", "identity"):
            raise ValueError("unknown method")
        if self.method == "identity" and self.d_vision != self.d_text:
            raise ValueError("identity needs equal widths")
        out = tokens
        for layer in self.proj if self.method == "mlp" else [self.proj]:
            out = layer(out)
        return out


# %% exercise="2.1" variant="by hand"
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision - d_text:
                raise ValueError
            self.proj = nn.Identity()
            return
        first = nn.Linear(d_vision, d_text)
        if method == "linear":
            self.proj = first
        elif method == "mlp":
            self.proj = nn.Sequential(first, nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError

    def forward(self, tokens):
        if isinstance(self.proj, nn.Sequential):
            hidden = torch.einsum("...i,oi->...o", tokens, self.proj[0].weight) + self.proj[0].bias
            hidden = 0.5 * hidden * (1 + torch.erf(hidden / math.sqrt(2)))
            return hidden @ self.proj[2].weight.T + self.proj[2].bias
        return self.proj(tokens)


# %% exercise="2.2" variant="svd"
def explained_variance(tokens, aligned):
    x = tokens.detach().flatten(0, -2).double()
    z = aligned.detach().flatten(0, -2).double()
    x = x - x.mean(0, keepdim=True)
    z = z - z.mean(0, keepdim=True)
    u, s, _ = torch.linalg.svd(z, full_matrices=False)
    u = u[:, s > 1e-6 * s.max()]
    return float((u.T @ x).pow(2).sum() / x.pow(2).sum())


# %% exercise="2.2" variant="scikit-learn"
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score


def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1]).double().numpy()
    z = aligned.reshape(-1, aligned.shape[-1]).double().numpy()
    predicted = LinearRegression().fit(z, x).predict(z)
    return float(np.clip(r2_score(x, predicted, multioutput="variance_weighted"), 0, 1))


# %% exercise="2.2" variant="column of ones"
def explained_variance(tokens, aligned):
    n_vision, n_text = tokens.shape[-1], aligned.shape[-1]
    x, z = tokens.reshape(-1, n_vision), aligned.reshape(-1, n_text)
    design = torch.hstack([z, torch.ones(len(z), 1, dtype=z.dtype)])
    prediction = design @ torch.linalg.lstsq(design, x, driver="gelsd").solution
    residual = torch.sum((x - prediction) ** 2)
    total = torch.sum((x - x.mean(0)) ** 2)
    return torch.clamp(1 - residual / total, min=0.0, max=1.0)


# %% exercise="2.2" variant="covariances"
def explained_variance(tokens, aligned):
    x = tokens.flatten(end_dim=-2).to(torch.float64)
    z = aligned.flatten(end_dim=-2).to(torch.float64)
    joint = torch.cov(torch.cat([x, z], dim=1).T, correction=0)
    d = x.shape[1]
    xx, xz, zz = joint[:d, :d], joint[:d, d:], joint[d:, d:]
    explained = torch.trace(xz @ torch.linalg.pinv(zz, hermitian=True, rtol=1e-9) @ xz.T)
    return (explained / torch.trace(xx)).clip(0, 1)


# %% exercise="2.2" variant="numpy"
def explained_variance(tokens, aligned):
    x = np.asarray(tokens.reshape(-1, tokens.shape[-1]), dtype=np.float64)
    z = np.asarray(aligned.reshape(-1, aligned.shape[-1]), dtype=np.float64)
    x, z = x - x.mean(axis=0), z - z.mean(axis=0)
    solution, *_ = np.linalg.lstsq(z, x, rcond=None)
    return max(0.0, min(1.0, 1 - ((x - z @ solution) ** 2).sum() / (x**2).sum()))


# %% exercise="2.3" variant="cosine_similarity"
def alignment_loss(aligned, words, labels, temperature=0.1):
    similarity = F.cosine_similarity(aligned.unsqueeze(-2), words, dim=-1)
    return F.cross_entropy(similarity.flatten(end_dim=-2) / temperature, labels.flatten())


# %% exercise="2.3" variant="logsumexp"
def alignment_loss(aligned, words, labels, temperature=0.1):
    scores = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).t()
    scores = scores / temperature
    right = torch.take_along_dim(scores, labels[..., None], dim=-1).squeeze(-1)
    return (torch.logsumexp(scores, dim=-1) - right).mean()


# %% exercise="2.3" variant="one hot"
def alignment_loss(aligned, words, labels, temperature=0.1, *, eps=1e-12):
    token = aligned / torch.linalg.vector_norm(aligned, dim=-1, keepdim=True).clamp(min=eps)
    word = words / torch.linalg.vector_norm(words, dim=-1, keepdim=True).clamp(min=eps)
    log_chances = torch.log_softmax(torch.einsum("...d,vd->...v", token, word) / temperature, dim=-1)
    chosen = F.one_hot(labels, len(words)).to(log_chances.dtype)
    return -(log_chances * chosen).sum(-1).mean()


# %% exercise="2.3" variant="loop"
def alignment_loss(aligned, words, labels, temperature=0.1):
    losses = []
    for token, label in zip(aligned.reshape(-1, aligned.size(-1)), labels.reshape(-1).tolist()):
        cosines = torch.stack([token @ word / (token.norm() * word.norm()) for word in words])
        losses.append(-torch.log_softmax(cosines / temperature, 0)[label])
    return sum(losses) / len(losses)


# %% exercise="2.4" variant="chunk"
def split_heads(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=-3)


# %% exercise="2.4" variant="unflatten"
def split_heads(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, tokens.size(-1) // num_heads)).movedim(-2, -3)


# %% exercise="2.4" variant="einsum"
def split_heads(tokens, num_heads):
    shape = tokens.shape[:-1] + (num_heads, tokens.shape[-1] // num_heads)
    return torch.einsum("...nhd->...hnd", tokens.reshape(shape))


# %% exercise="2.4" variant="window"
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    return tokens.unfold(-1, d_head, d_head).transpose(-2, -3)


# %% exercise="2.4" variant="loop"
def split_heads(tokens, num_heads):
    d_head = tokens.shape[-1] // num_heads
    parts = []
    for h in range(num_heads):
        parts.append(tokens[..., h * d_head : (h + 1) * d_head])
    return torch.stack(parts, -3)


# %% exercise="2.5" variant="cat"
def merge_heads(heads):
    return torch.cat(heads.unbind(dim=-3), dim=-1)


# %% exercise="2.5" variant="permute"
def merge_heads(heads):
    lead = list(range(heads.dim() - 3))
    h, n, d = len(lead), len(lead) + 1, len(lead) + 2
    turned = heads.permute(*lead, n, h, d).contiguous()
    return turned.view(*turned.shape[:-2], turned.shape[-2] * turned.shape[-1])


# %% exercise="2.5" variant="einsum"
def merge_heads(heads):
    return torch.einsum("...hnd->...nhd", heads).flatten(start_dim=-2)


# %% exercise="2.5" variant="filled in"
def merge_heads(heads):
    H, n, d_head = heads.shape[-3:]
    tokens = heads.new_empty(*heads.shape[:-3], n, H * d_head)
    for h in range(H):
        tokens[..., h * d_head : (h + 1) * d_head] = heads[..., h, :, :]
    return tokens


# %% exercise="2.6" variant="loop over heads"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} / {num_heads}")
        self.num_heads, self.p = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        outputs, maps = [], []
        groups = zip(
            *(
                part.chunk(self.num_heads, -1)
                for part in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
            )
        )
        for q, k, v in groups:
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            weights = torch.softmax(scores, dim=-1).nan_to_num()
            maps.append(weights)
            outputs.append(F.dropout(weights, self.p, self.training) @ v)
        return self.W_O(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=-3)


# %% exercise="2.6" variant="fused projection"
from typing import NamedTuple


class Attended(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model != num_heads * (d_model // num_heads):
            raise ValueError("d_model must be a multiple of num_heads")
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        d_context = d_context if d_context is not None else d_model
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            packed = torch.cat([self.W_Q.weight, self.W_K.weight, self.W_V.weight])
            q, k, v = F.linear(tokens, packed).chunk(3, dim=-1)
        else:
            q = self.W_Q(tokens)
            k, v = F.linear(context, torch.cat([self.W_K.weight, self.W_V.weight])).chunk(2, dim=-1)
        q, k, v = (part.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2) for part in (q, k, v))
        scores = q @ k.mT * k.shape[-1] ** -0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            allowed = mask if mask.dim() < 3 else mask[..., None, :, :]
            weights = scores.where(allowed, torch.finfo(scores.dtype).min).softmax(-1) * allowed
        output = (self.drop(weights) @ v).transpose(-3, -2).flatten(-2)
        return Attended(self.W_O(output), weights)


# %% exercise="2.6" variant="einsum"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0, *, scale=None):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads = {num_heads} does not divide d_model = {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.d_head, self.dropout = num_heads, d_head, nn.Dropout(p=dropout)
        self.scale = d_head**-0.5 if scale is None else scale
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_context, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_context, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        heads = (self.num_heads, self.d_head)
        q = self.W_Q(tokens).unflatten(-1, heads)
        k = self.W_K(context).unflatten(-1, heads)
        v = self.W_V(context).unflatten(-1, heads)
        scores = self.scale * torch.einsum("...thd,...shd->...hts", q, k)
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask.logical_not(), -math.inf)
            scores = scores + (bias.unsqueeze(-3) if bias.ndim > 2 else bias)
        top = scores.amax(-1, keepdim=True).clamp(min=-1e30)
        e = (scores - top).exp()
        weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
        joined = torch.einsum("...hts,...shd->...thd", self.dropout(weights), v).flatten(-2)
        return [self.W_O(joined), weights]


# %% exercise="2.6" variant="one long batch"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads, self.d_model, self.rate = num_heads, d_model, dropout
        widths = {"W_Q": d_model, "W_K": d_context or d_model, "W_V": d_context or d_model, "W_O": d_model}
        for name, width in widths.items():
            self.add_module(name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        if self.d_model % self.num_heads != 0:
            raise ValueError("the heads do not share the width evenly")
        source = context if context is not None else tokens
        lead, T, S, H = tokens.shape[:-2], tokens.shape[-2], source.shape[-2], self.num_heads
        q = (
            self.W_Q(tokens)
            .reshape(-1, T, H, self.d_model // H)
            .transpose(1, 2)
            .reshape(-1, T, self.d_model // H)
        )
        k = (
            self.W_K(source)
            .reshape(-1, S, H, self.d_model // H)
            .transpose(1, 2)
            .reshape(-1, S, self.d_model // H)
        )
        v = (
            self.W_V(source)
            .reshape(-1, S, H, self.d_model // H)
            .transpose(1, 2)
            .reshape(-1, S, self.d_model // H)
        )
        scores = torch.bmm(q, k.transpose(1, 2)) / (self.d_model // H) ** 0.5
        if mask is not None:
            full = mask.expand(*lead, T, S).reshape(-1, 1, T, S).expand(-1, H, T, S).reshape(-1, T, S)
            scores[~full] = -torch.inf
        weights = torch.nan_to_num(torch.softmax(scores, -1), nan=0.0)
        dropped = nn.functional.dropout(weights, p=self.rate, training=self.training)
        joined = (
            torch.bmm(dropped, v)
            .reshape(-1, H, T, self.d_model // H)
            .transpose(1, 2)
            .reshape(*lead, T, self.d_model)
        )
        return self.W_O(joined), weights.reshape(*lead, H, T, S)


# %% exercise="2.7" variant="keywords"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads, d_context=d_text)
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, context=self.aligner(tokens=image_tokens), mask=mask)


# %% exercise="2.7" variant="list"
class AlignedCrossAttention(torch.nn.Module):
    def __init__(
        self, d_vision: int, d_text: int, num_heads: int, align_method: str = "linear", dropout: float = 0.0
    ):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, None, dropout)

    def forward(
        self, text_tokens: torch.Tensor, image_tokens: torch.Tensor, mask: torch.Tensor | None = None
    ):
        output, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return [output, weights]


# %% exercise="2.7" variant="modules by name"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        parts = {
            "aligner": TokenAligner(d_vision, d_text, align_method),
            "cross_attn": MultiHeadAttention(d_text, num_heads),
        }
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        if mask is None:
            return self.cross_attn(text_tokens, aligned)
        return self.cross_attn(text_tokens, aligned, mask)


# %% exercise="2.7" variant="checks its widths"
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.d_vision, self.d_text = d_vision, d_text
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        if image_tokens.shape[-1] != self.d_vision:
            raise ValueError("these are no image tokens")
        image_tokens = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, image_tokens, mask)
        return output, weights


# %% exercise="2.8" variant="copy of the layer"
import copy


def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    other = copy.deepcopy(attention_layer)
    width = other.W_O.weight.shape[1] // other.num_heads
    with torch.no_grad():
        other.W_O.weight[:, head * width : (head + 1) * width] = 0
    return other(tokens, context, mask)[0]


# %% exercise="2.8" variant="sum of the others"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context=context, mask=mask)
    values = attention_layer.W_V(tokens if context is None else context)
    d_head = values.shape[-1] // attention_layer.num_heads
    total = 0
    for other in range(attention_layer.num_heads):
        if other != head:
            columns = slice(other * d_head, (other + 1) * d_head)
            total = (
                total
                + weights[..., other, :, :] @ values[..., columns] @ attention_layer.W_O.weight[:, columns].T
            )
    return total


# %% exercise="2.8" variant="put back afterwards"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_O.weight
    d_head = weight.size(1) // attention_layer.num_heads
    kept = weight.detach().clone()
    try:
        with torch.no_grad():
            weight[:, d_head * head : d_head * (head + 1)].zero_()
            output, _ = attention_layer(tokens, context, mask)
    finally:
        with torch.no_grad():
            weight.copy_(kept)
    return output


# %% exercise="2.8" variant="hook"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    def without_it(module, inputs):
        merged = inputs[0].clone()
        d_head = merged.shape[-1] // attention_layer.num_heads
        merged[..., head * d_head : (head + 1) * d_head] = 0
        return (merged,)

    handle = attention_layer.W_O.register_forward_pre_hook(without_it)
    try:
        return attention_layer(tokens, context, mask)[0]
    finally:
        handle.remove()


# %% exercise="2.8" variant="functional call"
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_V.out_features // attention_layer.num_heads
    changed = attention_layer.W_V.weight.detach().clone()
    changed[head * d_head : (head + 1) * d_head] = 0
    output, _ = torch.func.functional_call(attention_layer, {"W_V.weight": changed}, (tokens, context, mask))
    return output


# %% exercise="2.P1" variant="xlogy"
def attention_entropy(weights):
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(weights.shape[-1])


# %% exercise="2.P2" variant="numbers"
def classify_pattern(weights):
    n = len(weights)
    everything = weights.sum().item()
    if float(attention_entropy(weights).mean()) > 0.95:
        return "uniform"
    if max(weights[:, j].sum().item() for j in range(n)) >= everything / 2:
        return "hub"
    if torch.trace(weights).item() >= everything / 2:
        return "diagonal"
    band = sum(weights[i, j].item() for i in range(n) for j in range(max(0, i - 1), min(n, i + 2)))
    return "local" if band >= 0.75 * everything else "other"


# %% exercise="2.P3" variant="one helper for both sides"
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width, attention in (
            ("text", d_text, "text_from_image"),
            ("image", d_image, "image_from_text"),
        ):
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(attention, MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        inside = [self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))]
        updates = (self.text_from_image(*inside)[0], self.image_from_text(*inside[::-1])[0])
        return self.text_out(updates[0]), self.image_out(updates[1])
