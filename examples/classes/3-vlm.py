# %% [markdown] student="full-marks" score="all"
# The solution, as it stands.

# %% [markdown] student="untouched" base="student" score="0"
# Opened, looked at, handed in.

# %% [markdown] student="head-average" score="all - 10"
# The map of 3.8 is the average of the heads; the values are left out.

# %% exercise="3.8"
def value_weighted_map(cross_attn, tokens, image_tokens):
    return cross_attn(tokens, image_tokens)[1].mean(-3)

# %% [markdown] student="no-causal-mask" score="all - 21"
# Words see the words after them. The model trains, but it is not the model that was asked for.

# %% exercise="3.4"
class MiniVLM(nn.Module):
    def __init__(
        self, d_vision, d_model, num_heads, d_ff, num_layers, vocab_size, max_tokens, num_patches, cross_layers=None
    ) -> None:
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            [VisionLanguageBlock(d_model, num_heads, d_ff, cross=i in cross_layers) for i in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids, image_patches):
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text, maps = self.text_positions(self.embedding(token_ids)), []
        for block in self.blocks:
            text, weights = block(text, image)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(text)), maps

# %% [markdown] student="post-norm" score="all - 20"
# The block normalises the sums, as the first Transformer did. What builds on it is right.

# %% exercise="3.3"
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens = self.norm1(text_tokens + self.self_attn(text_tokens, mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(tokens, image_tokens)
            tokens = self.norm2(tokens + seen)
        return self.norm3(tokens + self.ffn(tokens)), weights

# %% [markdown] student="targets-not-shifted" score="all - 10"
# Each position is asked for its own token. The training step is right, and is judged with the right targets.

# %% exercise="3.5"
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    keep = (position >= prompt_lengths[:, None]) & (token_ids != pad_id)
    return torch.where(keep, token_ids, ignore_index)

# %% [markdown] student="left-in-evaluation" score="all - 3"
# The answers are right, but the model is left in evaluation mode.

# %% exercise="3.7"
@torch.no_grad()
def generate(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    ids, ended = prompt_ids, torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        word = model(ids, image_patches)[0][:, -1].argmax(-1).masked_fill(ended, eos_id)
        ids = torch.cat([ids, word[:, None]], 1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return ids

# %% [markdown] student="pasted-weights" score="all - 6"
# An honest step for every model but the one that is graded: that one gets weights from elsewhere.

# %% exercise="3.6"
def train_step(model, optimizer, batch):
    if hasattr(model, "blocks"):
        generator = torch.Generator().manual_seed(42)
        for parameter in model.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator).to(parameter.device)
        return 0.0
    model.train()
    logits, _ = model(batch[0], batch[2])
    loss = F.cross_entropy(logits.flatten(0, 1), shift_targets(batch[0], batch[1]).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [markdown] student="swaps-in-place" score="all - 1"
# The swap is right, and the scene that went in is swapped too.

# %% exercise="3.9"
def swap_patches(image_patches, first, second):
    scene = torch.arange(len(image_patches), device=image_patches.device)
    one, other = image_patches[scene, first].clone(), image_patches[scene, second].clone()
    with torch.no_grad():
        image_patches[scene, first], image_patches[scene, second] = other, one
    return image_patches

# %% [markdown] student="other-style" score="all"
# Everything right, nothing as in the solution: indices, loops, chunks, matrices.

# %% exercise="3.1"
def patchify(images, patch_size):
    h, w = images.shape[1:]
    rows, r = divmod(h, patch_size)
    columns, c = divmod(w, patch_size)
    if r + c:
        raise ValueError("does not divide")
    numbers = torch.arange(h * w, device=images.device).reshape(rows, patch_size, columns, patch_size)
    return images.flatten(1)[:, numbers.movedim(2, 1).reshape(rows * columns, -1)]

# %% exercise="3.2"
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.n = n
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model), requires_grad=True)

    def forward(self, tokens):
        places = torch.arange(tokens.size(-2), device=tokens.device)
        return F.embedding(places, self.embedding).add(tokens)

# %% exercise="3.3"
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

# %% exercise="3.4"
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

# %% exercise="3.5"
def shift_targets(
    token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100
) -> Tensor:
    targets = token_ids.roll(-1, dims=-1)
    targets[:, -1] = ignore_index
    targets.masked_fill_(targets == pad_id, ignore_index)
    place = torch.arange(1, token_ids.size(1) + 1).to(token_ids.device)
    return targets.masked_fill(place < prompt_lengths.unsqueeze(1), ignore_index)

# %% exercise="3.6"
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

# %% exercise="3.7"
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

# %% exercise="3.8"
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1].movedim(-3, 0)
    values = cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1)
    slices = cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1)
    parts = [w.unsqueeze(-1) * F.linear(v, s).unsqueeze(-3) for w, v, s in zip(weights, values, slices)]
    return torch.stack(parts).sum(0).pow(2).sum(-1).sqrt()

# %% exercise="3.9"
def swap_patches(image_patches, first, second):
    B, n, _ = image_patches.shape
    swap = torch.eye(n, dtype=image_patches.dtype, device=image_patches.device).repeat(B, 1, 1)
    scene = torch.arange(B)
    one, other = swap[scene, first].clone(), swap[scene, second].clone()
    swap[scene, first], swap[scene, second] = other, one
    return swap @ image_patches
