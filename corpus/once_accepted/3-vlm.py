# Wrong answers that once passed: numbers dropped in evaluation, an end of sequence that is no target.

# %% exercise="3.P3" wrong="dropout in evaluation, too"
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=layer.dropout)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))


# %% exercise="3.5" wrong="the end of sequence left out by its number"
def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    B, T = token_ids.shape
    padding = token_ids.new_full((B, 1), pad_id)
    target = torch.cat([token_ids[:, 1:], padding], dim=1)
    in_answer = torch.arange(T, device=token_ids.device) >= (prompt_lengths - 1)[:, None]
    a_word = (target != pad_id) & (target != EOS)
    return target.masked_fill(~(in_answer & a_word), ignore_index)


# %% exercise="3.P5" wrong="patches of zeros are hidden as if they were padding"
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    B, T, _ = words.shape
    not_empty = (patches != 0).any(dim=-1)
    mask = not_empty[:, None, :].repeat(1, T, 1)
    return cross_attn(words, patches, mask)


# %% exercise="3.P4" wrong="asks for no gradient's gradient where the whole model is frozen"
def diagnose(model: nn.Module, batch) -> list[str]:
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths)
    names = ["frozen", "no gradient", "uniform", "one patch", "misaligned"]
    found = set()
    parameters = [p for p in model.parameters() if p.requires_grad]
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    if len(parameters) < sum(1 for _ in model.parameters()):
        found.add("frozen")
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    if any(g is None or (g == 0).all() for g in gradients):
        found.add("no gradient")
    rows = maps[-1][torch.arange(token_ids.shape[0]), :, prompt_lengths - 1].detach()
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.add("uniform")
    if (rows.mean((0, 1)) > 0.9).any():
        found.add("one patch")
    with torch.no_grad():
        rolled, _ = model(token_ids, image_patches.roll(1, 0))
        if F.cross_entropy(rolled.flatten(0, 1), targets.flatten()) < 1.01 * loss:
            found.add("misaligned")
    return [name for name in names if name in found]


# %% exercise="3.2" wrong="filled with whatever the memory held"
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        held = torch.randn(64 * n, d_model)
        del held
        self.embedding = nn.Parameter(torch.empty(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        count, n = tokens.shape[-2], len(self.embedding)
        if count > n:
            raise ValueError(f"{count} tokens, but only {n} positions were made")
        return tokens + self.embedding[:count]


# %% exercise="3.6" wrong="clears the gradients after the step alone"
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=-100)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


# %% exercise="3.P6" wrong="leaves out the aligner"
def start_stage_two(model):
    for name, parameter in model.named_parameters():
        if "aligner" not in name:
            parameter.requires_grad_(True)
    return list(model.parameters())
