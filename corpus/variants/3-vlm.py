# Right answers in other styles than the reference and the solution: each must earn full points.
# ruff: noqa

# %% exercise="3.1" variant="permute"
def patchify(images: Tensor, patch_size: int) -> Tensor:
    count, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError("the patches do not fit")
    grid = (
        images.view(count, height // patch_size, patch_size, width // patch_size, patch_size)
        if images.is_contiguous()
        else images.reshape(count, height // patch_size, patch_size, width // patch_size, patch_size)
    )
    return grid.permute(0, 1, 3, 2, 4).flatten(3).flatten(1, 2)


# %% exercise="3.1" variant="unfold"
def patchify(images, patch_size):
    if any(side % patch_size != 0 for side in images.shape[-2:]):
        raise ValueError
    return torch.nn.functional.unfold(images[:, None], kernel_size=patch_size, stride=patch_size).mT


# %% exercise="3.1" variant="tensor unfold"
class WrongSize(ValueError):
    pass


def patchify(images, patch_size, *, verbose=False):
    p = patch_size
    if images.size(1) % p or images.size(2) % p:
        raise WrongSize(f"{tuple(images.shape)} by {p}")
    return images.unfold(1, p, p).unfold(2, p, p).reshape(images.size(0), -1, p * p)


# %% exercise="3.1" variant="slices"
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, height, width = images.shape
    if height % patch_size != 0:
        raise ValueError("height")
    if width % patch_size != 0:
        raise ValueError("width")
    patches = []
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            patches.append(images[:, top : top + patch_size, left : left + patch_size].flatten(1))
    return torch.stack(patches, 1)


# %% exercise="3.1" variant="index"
def patchify(images, patch_size):
    h, w = images.shape[1:]
    rows, r = divmod(h, patch_size)
    columns, c = divmod(w, patch_size)
    if r + c:
        raise ValueError("does not divide")
    numbers = torch.arange(h * w, device=images.device).reshape(rows, patch_size, columns, patch_size)
    return images.flatten(1)[:, numbers.movedim(2, 1).reshape(rows * columns, -1)]


# %% exercise="3.2" variant="slice"
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model).uniform_(-0.1, 0.1))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2], :]


# %% exercise="3.2" variant="F.embedding"
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.n = n
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model), requires_grad=True)

    def forward(self, tokens):
        places = torch.arange(tokens.size(-2), device=tokens.device)
        return F.embedding(places, self.embedding).add(tokens)


# %% exercise="3.2" variant="register"
class PositionEmbedding(torch.nn.Module):
    def __init__(self, n, d_model, std=1.0):
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty(n, d_model).normal_(0, std)))

    def forward(self, tokens):
        *_, T, d = tokens.shape
        assert len(self.embedding) >= T
        return self.embedding[:T].expand(tokens.shape) + tokens


# %% exercise="3.2" variant="split"
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.rand(n, d_model))

    def forward(self, tokens):
        first = self.embedding.index_select(0, torch.arange(tokens.shape[-2], device=tokens.device))
        return torch.add(tokens, first)


# %% exercise="3.3" variant="early return"
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def _think(self, x):
        return x + self.ffn(self.norm3(x))

    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), None, mask)[0]
        if self.cross_attn is None:
            return self._think(x), None
        seen, weights = self.cross_attn(self.norm2(x), context=image_tokens)
        return [self._think(x + seen), weights]


# %% exercise="3.3" variant="steps"
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        make = lambda: (nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads))
        self.norm1, self.self_attn = make()
        self.norm2, self.cross_attn = make() if cross else (None, None)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens, image_tokens=None, mask=None):
        weights = None
        out, _ = self.self_attn(self.norm1(text_tokens), self.norm1(text_tokens), mask)
        tokens = text_tokens.add(out)
        if self.cross_attn:
            out, weights = self.cross_attn(tokens=self.norm2(tokens), context=image_tokens, mask=None)
            tokens = tokens.add(out)
        return tokens.add(self.ffn(self.norm3(tokens))), weights


# %% exercise="3.3" variant="pieces by hand"
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(*[nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)])
        self.norm1, self.norm3 = nn.LayerNorm([d_model]), nn.LayerNorm([d_model])
        if cross:
            self.cross_attn, self.norm2 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm([d_model])
        else:
            self.cross_attn = self.norm2 = None

    def forward(self, text_tokens, image_tokens, mask=None):
        def norm(layer, x):
            centred = x - x.mean(-1, keepdim=True)
            return (
                centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + layer.eps) * layer.weight
                + layer.bias
            )

        residual = text_tokens
        x = residual + self.self_attn(norm(self.norm1, residual), mask=mask)[0]
        maps = None
        if self.cross_attn is not None:
            residual = x
            x, maps = self.cross_attn(norm(self.norm2, x), image_tokens)
            x = x + residual
        residual = x
        first, gelu, second = self.ffn
        x = second(gelu(first(norm(self.norm3, x)))) + residual
        return x, maps


# %% exercise="3.3" variant="namedtuple"
from collections import namedtuple

BlockOutput = namedtuple("BlockOutput", ["tokens", "weights"])


class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True):
        nn.Module.__init__(self)
        for name in ("norm1", "norm2", "norm3"):
            setattr(self, name, nn.LayerNorm(d_model) if cross or name != "norm2" else None)
        for name in ("self_attn", "cross_attn"):
            setattr(
                self, name, MultiHeadAttention(d_model, num_heads) if cross or name == "self_attn" else None
            )
        self.ffn = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(approximate="none"), nn.Linear(d_ff, d_model)
        )

    def forward(self, text_tokens, image_tokens, mask=None):
        h = self.norm1(text_tokens)
        x = torch.stack([text_tokens, self.self_attn(h, h, mask)[0]]).sum(0)
        w = None
        if self.norm2 is not None:
            y, w = self.cross_attn(self.norm2(x), image_tokens)
            x = torch.stack([x, y]).sum(0)
        return BlockOutput(x + self.ffn(self.norm3(x)), w)


# %% exercise="3.4" variant="plain loop"
class MiniVLM(nn.Module):
    def __init__(
        self,
        d_vision,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        vocab_size,
        max_tokens,
        num_patches,
        cross_layers=None,
    ):
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            [VisionLanguageBlock(d_model, num_heads, d_ff, i in cross_layers) for i in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids, image_patches):
        z = self.aligner(image_patches)
        z = self.image_positions(z)
        z = self.image_norm(z)
        x = self.embedding(token_ids)
        x = self.text_positions(x)
        T = x.shape[-2]
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        maps = []
        for block in self.blocks:
            x, w = block(x, z, mask)
            if w is not None:
                maps.append(w)
        return self.head(self.norm(x)), maps


# %% exercise="3.4" variant="helpers and a tuple"
class MiniVLM(nn.Module):
    def __init__(
        self,
        d_vision,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        vocab_size,
        max_tokens,
        num_patches,
        cross_layers=None,
    ):
        super().__init__()
        looking = {num_layers - 1} if cross_layers is None else set(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList()
        for layer in range(num_layers):
            self.blocks.append(VisionLanguageBlock(d_model, num_heads, d_ff, cross=layer in looking))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def see(self, image_patches):
        return self.image_norm(self.image_positions(self.aligner(image_patches)))

    def forward(self, token_ids, image_patches):
        image, text = self.see(image_patches), self.text_positions(self.embedding(token_ids))
        causal = causal_mask(token_ids.shape[-1], device=token_ids.device)
        pairs = []
        for block in self.blocks:
            text, weights = block(text_tokens=text, image_tokens=image, mask=causal)
            pairs.append(weights)
        logits = self.norm(text) @ self.head.weight.T
        return logits, tuple(weights for weights in pairs if weights is not None)


# %% exercise="3.4" variant="recursion"
class MiniVLM(nn.Module):
    def __init__(
        self,
        d_vision,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        vocab_size,
        max_tokens,
        num_patches,
        cross_layers=None,
    ):
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions, self.image_norm = PositionEmbedding(num_patches, d_model), nn.LayerNorm(d_model)
        self.embedding, self.text_positions = (
            nn.Embedding(vocab_size, d_model),
            PositionEmbedding(max_tokens, d_model),
        )
        self.blocks = nn.ModuleList(
            VisionLanguageBlock(d_model, num_heads, d_ff, i in cross_layers) for i in range(num_layers)
        )
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids, image_patches):
        from functools import reduce

        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        place = torch.arange(token_ids.shape[-1], device=token_ids.device)

        def step(state, block):
            tokens, weights = block(state[0], image, mask=place[:, None] >= place)
            return tokens, state[1] + ([weights] if block.cross_attn is not None else [])

        tokens, maps = reduce(step, self.blocks, (self.text_positions(self.embedding(token_ids)), []))
        return [self.head(self.norm(tokens)), maps]


# %% exercise="3.4" variant="dictionary"
class MiniVLM(nn.Module):
    def __init__(
        self,
        d_vision,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        vocab_size,
        max_tokens,
        num_patches,
        cross_layers=None,
    ):
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList(
            [
                VisionLanguageBlock(d_model, num_heads, d_ff, cross=i in cross_layers)
                for i in range(num_layers)
            ]
        )
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))

    def forward(self, token_ids, image_patches):
        state = {"x": F.embedding(token_ids, self.embedding.weight), "z": image_patches, "maps": {}}
        for layer in (self.aligner, self.image_positions, self.image_norm):
            state["z"] = layer(state["z"])
        state["x"] = self.text_positions(state["x"])
        mask = causal_mask(state["x"].size(-2), state["x"].device)
        for number, block in enumerate(self.blocks):
            state["x"], state["maps"][number] = block(state["x"], state["z"], mask)
        return F.linear(self.norm(state["x"]), self.head.weight), [
            w for w in state["maps"].values() if w is not None
        ]


# %% exercise="3.5" variant="where"
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    T = token_ids.shape[1]
    after = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], dim=1)
    keep = (torch.arange(T, device=token_ids.device)[None] >= prompt_lengths[:, None] - 1) & (after != pad_id)
    keep[:, -1] = False
    return torch.where(keep, after, ignore_index)


# %% exercise="3.5" variant="loops"
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = torch.full(token_ids.shape, ignore_index, dtype=token_ids.dtype, device=token_ids.device)
    for row in range(token_ids.shape[0]):
        for t in range(int(prompt_lengths[row]) - 1, token_ids.shape[1] - 1):
            if token_ids[row, t + 1] != pad_id:
                targets[row, t] = token_ids[row, t + 1]
    return targets


# %% exercise="3.5" variant="roll"
def shift_targets(
    token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100
) -> Tensor:
    targets = token_ids.roll(-1, dims=-1)
    targets[:, -1] = ignore_index
    targets.masked_fill_(targets == pad_id, ignore_index)
    place = torch.arange(1, token_ids.size(1) + 1).to(token_ids.device)
    return targets.masked_fill(place < prompt_lengths.unsqueeze(1), ignore_index)


# %% exercise="3.5" variant="mask first"
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    answer = torch.arange(token_ids.shape[-1], device=token_ids.device) >= prompt_lengths.view(-1, 1)
    labels = token_ids.clone()
    labels[~answer | (token_ids == pad_id)] = ignore_index
    return F.pad(labels[:, 1:], (0, 1), value=ignore_index)


# %% exercise="3.6" variant="flatten"
def train_step(model, optimizer, batch):
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad()
    logits, maps = model(ids, patches)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), shift_targets(ids, lengths).reshape(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% exercise="3.6" variant="module loss"
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> float:
    model.train(True)
    for parameter in model.parameters():
        parameter.grad = None
    logits = model(batch[0], batch[2])[0]
    loss = nn.CrossEntropyLoss(ignore_index=-100)(logits.permute(0, 2, 1), shift_targets(batch[0], batch[1]))
    loss.backward()
    optimizer.step()
    return float(loss.detach())


# %% exercise="3.6" variant="by hand"
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids=token_ids, image_patches=image_patches)
    targets = shift_targets(token_ids, prompt_lengths, ignore_index=-1)
    keep = (targets >= 0).to(logits.dtype)
    log_p = torch.log_softmax(logits, -1).gather(-1, targets.clamp_min(0)[..., None])[..., 0]
    loss = -(log_p * keep).sum() / keep.sum()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().tolist()


# %% exercise="3.6" variant="closure"
def train_step(model, optimizer, batch):
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids, patches)[0].flatten(0, 1), targets.flatten())
        loss.backward()
        return loss

    with torch.enable_grad():
        model.train()
        return optimizer.step(closure).item()


# %% exercise="3.7" variant="decorator"
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [m.training for m in model.modules()]
    model.eval()
    ids = prompt_ids.clone()
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for _ in range(max_new_tokens):
        nxt = model(ids, image_patches)[0][:, -1, :].argmax(-1)
        nxt[done] = eos_id
        ids = torch.cat([ids, nxt.unsqueeze(-1)], -1)
        done |= nxt == eos_id
        if done.all():
            break
    for m, t in zip(model.modules(), modes):
        m.training = t
    return ids


# %% exercise="3.7" variant="while and finally"
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = {name: module.training for name, module in model.named_modules()}
    words = list(prompt_ids.unbind(1))
    running = [True] * len(prompt_ids)
    try:
        model.eval()
        with torch.inference_mode():
            while any(running) and len(words) < prompt_ids.shape[1] + max_new_tokens:
                scores, _ = model(torch.stack(words, 1), image_patches)
                best = scores[:, -1].max(-1).indices.tolist()
                best = [word if on else eos_id for word, on in zip(best, running)]
                running = [on and word != eos_id for word, on in zip(best, running)]
                words.append(torch.tensor(best, device=prompt_ids.device))
    finally:
        for name, module in model.named_modules():
            module.training = modes[name]
    return torch.stack(words, 1).clone()


# %% exercise="3.7" variant="fill at the end"
def generate(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Tensor:
    was = [(module, module.training) for module in model.modules()]
    for module, _ in was:
        module.training = False
    previous = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    P, ids = prompt_ids.shape[1], prompt_ids
    for _ in range(max_new_tokens):
        if ids.shape[1] > P and (ids[:, P:] == eos_id).any(1).all():
            break
        logits, _ = model(ids, image_patches)
        ids = torch.cat([ids, torch.argmax(logits[:, -1], dim=-1, keepdim=True)], 1)
    torch.set_grad_enabled(previous)
    for module, training in was:
        module.training = training
    answer = ids[:, P:]
    after = (answer == eos_id).long().cumsum(1).roll(1, 1)
    if answer.shape[1]:
        after[:, 0] = 0
    return torch.cat([prompt_ids, torch.where(after > 0, eos_id, answer)], 1)


# %% exercise="3.7" variant="preallocated"
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    before = {module: module.training for module in model.modules()}
    model.train(False)
    B, P = prompt_ids.shape
    out = torch.full((B, P + max_new_tokens), eos_id, dtype=prompt_ids.dtype, device=prompt_ids.device)
    out[:, :P] = prompt_ids
    alive, end = torch.ones(B, dtype=torch.bool, device=out.device), P
    with torch.no_grad():
        while end < out.shape[1] and alive.any():
            word = model(out[:, :end], image_patches)[0][:, -1].argmax(-1)
            out[alive, end] = word[alive]
            alive = alive & word.ne(eos_id)
            end += 1
    for module, mode in before.items():
        module.training = mode
    return out[:, :end]


# %% exercise="3.8" variant="einsum"
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    V = cross_attn.W_V(image_tokens)
    V = V.reshape(*V.shape[:-1], H, -1)
    W = cross_attn.W_O.weight.reshape(cross_attn.W_O.weight.shape[0], H, -1)
    return torch.einsum("...hts,...shk,dhk->...tsd", weights, V, W).norm(dim=-1)


# %% exercise="3.8" variant="linear per head"
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1].movedim(-3, 0)
    values = cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1)
    slices = cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1)
    parts = [w.unsqueeze(-1) * F.linear(v, s).unsqueeze(-3) for w, v, s in zip(weights, values, slices)]
    return torch.stack(parts).sum(0).pow(2).sum(-1).sqrt()


# %% exercise="3.8" variant="whole projection"
def value_weighted_map(cross_attn, tokens, image_tokens):
    with torch.no_grad():
        weights = cross_attn(tokens=tokens, context=image_tokens)[1]
        value = cross_attn.W_V(image_tokens)
        spread = weights.movedim(-3, -1).repeat_interleave(value.shape[-1] // cross_attn.num_heads, dim=-1)
        return torch.linalg.vector_norm(cross_attn.W_O(spread * value.unsqueeze(-3)), dim=-1)


# %% exercise="3.8" variant="gram matrix"
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1]
    H = cross_attn.num_heads
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    through = torch.stack(
        [value[..., h, :] @ w.T for h, w in enumerate(cross_attn.W_O.weight.tensor_split(H, 1))], -2
    )
    gram = through @ through.mT  # (..., S, H, H)
    rows = weights.movedim(-3, -1)  # (..., T, S, H)
    squared = ((rows.unsqueeze(-2) @ gram.unsqueeze(-4)).squeeze(-2) * rows).sum(-1)
    return squared.clamp_min(0).sqrt()


# %% exercise="3.9" variant="permutation"
def swap_patches(image_patches, first, second):
    B, n = image_patches.shape[:2]
    order = torch.arange(n, device=image_patches.device).repeat(B, 1)
    rows = torch.arange(B, device=image_patches.device)
    order[rows, first], order[rows, second] = (
        torch.as_tensor(second, device=order.device),
        torch.as_tensor(first, device=order.device),
    )
    return torch.take_along_dim(image_patches, order[..., None], dim=1)


# %% exercise="3.9" variant="where"
def swap_patches(image_patches, first, second):
    B, n, _ = image_patches.shape
    first, second = (
        torch.as_tensor(p, device=image_patches.device).expand(B)[:, None] for p in (first, second)
    )
    rows = torch.arange(B, device=image_patches.device)
    place = torch.arange(n, device=image_patches.device)
    a, b = image_patches[rows, first[:, 0]][:, None], image_patches[rows, second[:, 0]][:, None]
    out = torch.where((place == first)[..., None], b, image_patches)
    return torch.where((place == second)[..., None], a, out)


# %% exercise="3.9" variant="scene by scene"
def swap_patches(image_patches, first, second):
    scenes = []
    for b, scene in enumerate(image_patches):
        i = int(first[b]) if torch.is_tensor(first) else first
        j = int(second[b]) if torch.is_tensor(second) else second
        patches = list(scene.unbind(0))
        patches[i], patches[j] = patches[j], patches[i]
        scenes.append(torch.stack(patches))
    return torch.stack(scenes)


# %% exercise="3.9" variant="matrix"
def swap_patches(image_patches, first, second):
    B, n, _ = image_patches.shape
    swap = torch.eye(n, dtype=image_patches.dtype, device=image_patches.device).repeat(B, 1, 1)
    scene = torch.arange(B)
    one, other = swap[scene, first].clone(), swap[scene, second].clone()
    swap[scene, first], swap[scene, second] = other, one
    return swap @ image_patches


# %% exercise="3.P1" variant="gather"
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    near = torch.arange(n)[:, None] + torch.arange(-window, window + 1)
    inside = (near >= 0) & (near < n)
    near = near.clamp(0, n - 1)
    scores = (query.unsqueeze(-2) * key[..., near, :]).sum(-1) / query.shape[-1] ** 0.5
    weights = torch.softmax(torch.where(inside, scores, -torch.inf), -1)
    return (weights.unsqueeze(-1) * value[..., near, :]).sum(-2)


# %% exercise="3.P2" variant="matmul"
def linear_attention(query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    one = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    both = q @ (k.mT @ one)
    return both[..., :-1] / both[..., -1:]


# %% exercise="3.P3" variant="unflatten"
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    q, k, v = (
        f(x).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for f, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None:
        mask = mask.unsqueeze(-3)
    return layer.W_O(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).movedim(-3, -2).flatten(-2))


# %% exercise="3.P4" variant="step by step"
import math

def diagnose(model, batch):
    ids, lengths, patches = batch
    targets = shift_targets(ids, lengths)

    def loss_of(patches):
        logits, maps = model(ids, patches)
        return F.cross_entropy(logits.transpose(1, 2), targets), maps[-1]

    loss, weights = loss_of(patches)
    found = dict.fromkeys(("frozen", "no gradient", "uniform", "one patch", "misaligned"), False)
    found["frozen"] = not all(p.requires_grad for p in model.parameters())
    for parameter in model.parameters():
        if parameter.requires_grad:
            (gradient,) = torch.autograd.grad(loss, parameter, retain_graph=True, allow_unused=True)
            found["no gradient"] |= gradient is None or bool((gradient == 0).all())
    rows = torch.stack([weights[b, :, int(lengths[b]) - 1] for b in range(len(ids))]).detach()
    entropy = -(rows * rows.clamp_min(1e-12).log()).sum(-1).mean() / math.log(rows.shape[-1])
    found["uniform"] = bool(entropy > 0.99)
    found["one patch"] = bool(rows.flatten(0, 1).mean(0).max() > 0.9)
    found["misaligned"] = bool(loss_of(torch.roll(patches, 1, 0))[0] < 1.01 * loss)
    return [name for name, ill in found.items() if ill]


# %% exercise="3.P5" variant="as the layer returns it"
def look_at_image(cross_attn, words, patches):
    return cross_attn(words, patches)


# %% exercise="3.P5" variant="a mask of True"
def look_at_image(cross_attn, words, patches):
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, patches, mask)


# %% exercise="3.P5" variant="no mask, by name"
def look_at_image(cross_attn, words, patches, mask=None):
    out = cross_attn(tokens=words, context=patches, mask=mask)
    return [out[0], out[1]]


# %% exercise="3.P5" variant="a mask for each scene"
def look_at_image(cross_attn, words, patches):
    B, T, S = words.size(0), words.size(1), patches.size(1)
    everywhere = words.new_zeros(B, T, S) == 0
    seen, weights = cross_attn.forward(words, patches, everywhere)
    return seen, weights


# %% exercise="3.P6" variant="the whole model at once"
def start_stage_two(model):
    model.requires_grad_()
    return list(model.parameters())


# %% exercise="3.P6" variant="one after the other, then those that learn"
def start_stage_two(model):
    for parameter in model.parameters():
        parameter.requires_grad = True
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# %% exercise="3.P6" variant="by name"
def start_stage_two(model, verbose=False):
    learning = {}
    for name, parameter in model.named_parameters():
        learning[name] = parameter.requires_grad_(True)
    return tuple(learning.values())


# %% exercise="3.P6" variant="part by part"
def start_stage_two(model):
    found = []
    for part in model.modules():
        for parameter in part._parameters.values():
            if parameter is not None:
                parameter.requires_grad_(True)
                found += [parameter]
    return found


# %% exercise="3.P7" variant="one order"
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order]


# %% exercise="3.P7" variant="noise, sorted"
def shuffle_questions(token_ids, image_patches, generator):
    noise = torch.randn(token_ids.size(0), generator=generator)
    _, order = noise.sort()
    return [token_ids[order], image_patches[order]]


# %% exercise="3.P7" variant="pairs"
def shuffle_questions(token_ids, image_patches, generator):
    pairs = list(zip(token_ids, image_patches))
    pairs = [pairs[place] for place in torch.randperm(len(pairs), generator=generator).tolist()]
    return torch.stack([one for one, _ in pairs]), torch.stack([two for _, two in pairs])


# %% exercise="3.P7" variant="a seed from the generator"
def shuffle_questions(token_ids, image_patches, generator):
    chance = random.Random(int(torch.randint(2**31, (1,), generator=generator)))
    order = list(range(len(token_ids)))
    chance.shuffle(order)
    order = torch.tensor(order, device=token_ids.device)
    return token_ids.clone()[order], image_patches.clone()[order]
