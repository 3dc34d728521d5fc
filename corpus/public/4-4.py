# %% [right] cache_then_hook_function | a clean run kept, a hook that overwrites one head, after neelnanda-io/TransformerLens (patching.py, hook_z)
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def patch_head_vector(heads):
        heads = heads.clone()
        heads[:, head] = clean_heads[:, head]
        return heads

    return model.inside(token_ids, twin, patch_head_vector).logits


# %% [right] where_on_the_head_axis | torch.where with a head index, no gradients, a lambda as edit, after an activation patching utility (unsure: whether gradients may stop)
@torch.no_grad()
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    cache = model.inside(token_ids, clean).heads
    chosen = (torch.arange(cache.shape[1], device=cache.device) == head).view(1, -1, 1, 1)
    patched = model.inside(token_ids, twin, edit=lambda z: torch.where(chosen, cache, z))
    return patched.logits


# %% [right] partial_with_cat | functools.partial of a patch function that concatenates slices, after ARENA course code (callummcdougall)
from functools import partial


def _patch(corrupted, clean_heads, head):
    return torch.cat([corrupted[:, :head], clean_heads[:, head : head + 1], corrupted[:, head + 1 :]], dim=1)


def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_run = model.inside(token_ids, clean)
    hook_fn = partial(_patch, clean_heads=clean_run.heads.detach(), head=head)
    return model.inside(token_ids, twin, hook_fn).logits
