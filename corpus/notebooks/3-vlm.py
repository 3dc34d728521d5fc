# %% [right] everything_is_allowed | compares blocks with PyTorch's layers, and binds names of the lesson
# %% after check-3-3
encoder = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
tokens = encoder(torch.randn(2, 5, 16))
weights, mask = nn.MultiheadAttention(16, 2)(tokens, tokens, tokens)
# %% before train-vlm
model = "mine"
record = []
losses = {}
seed = 3
# %% [right] eps_of_timm | LayerNorm with eps=1e-6, as in public vision transformers
# %% in exercise-3-3
# @exercise 3.3
from functools import partial

Norm = partial(nn.LayerNorm, eps=1e-6)


class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.norm1, self.norm3 = Norm(d_model), Norm(d_model)
        self.norm2 = Norm(d_model) if cross else None
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        attn = None
        if self.cross_attn is not None:
            y, attn = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        return x + self.ffn(self.norm3(x)), attn
# %% [right] swap_without_gradients | 3.9 under torch.no_grad, as nothing is trained through it
# %% in exercise-3-9
# @exercise 3.9
@torch.no_grad()
def swap_patches(image_patches, first, second):
    out = image_patches.clone()
    b = torch.arange(len(out))
    out[b, first], out[b, second] = image_patches[b, second], image_patches[b, first]
    return out
# %% [right] unfold_and_prints | F.unfold, a print and an assert in 3.1; the answer stands in two cells
# %% in exercise-3-1
# @exercise 3.1
def _check(images, patch_size):
    H, W = images.shape[-2:]
    if H % patch_size or W % patch_size:
        raise ValueError(f"cannot cut {H}×{W} into patches of {patch_size}")
# %% after exercise-3-1
# @exercise 3.1
def patchify(images, patch_size):
    _check(images, patch_size)
    patches = F.unfold(images[:, None], patch_size, stride=patch_size).mT
    print("patchify", patches.shape)
    assert patches.dim() == 3
    return patches
# %% [right] step_with_scheduler_notes | 3.6 with a global list of losses and a set_to_none; notes in between
# %% in exercise-3-6
# @exercise 3.6
history = []


def train_step(model, optimizer, batch):
    ids, lengths, patches = batch
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits, _maps = model(ids, patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(ids, lengths), ignore_index=-100)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    return history[-1]
# %% after draw-losses
plt.plot(history[:10]); plt.title("cross_entropy"); plt.close()
# %% [wrong 3.6] cleared_too_late | the gradients are cleared after the step
# %% in exercise-3-6
# @exercise 3.6
def train_step(model, optimizer, batch):
    ids, lengths, patches = batch
    model.train()
    logits, _maps = model(ids, patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(ids, lengths), ignore_index=-100)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
# %% [wrong 3.5] no_shift | the targets are the tokens themselves
# %% in exercise-3-5
# @exercise 3.5
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = token_ids.clone()
    position = torch.arange(token_ids.shape[1], device=token_ids.device)
    targets[position < prompt_lengths[:, None]] = ignore_index
    targets[token_ids == pad_id] = ignore_index
    return targets
# %% [wrong 3.P6] all_but_the_aligner | thaws every parameter but those of the aligner
# %% in exercise-3-P6
# @exercise 3.P6
def start_stage_two(model):
    for n, p in model.named_parameters():
        if "aligner" not in n:
            p.requires_grad_(True)
    return list(model.parameters())
