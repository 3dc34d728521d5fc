# %% [wrong] runs_exchanged | the run goes on the clean scenes, with the head from the twins: clean and twin have changed roles
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    stored = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = stored[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] all_heads | edit returns the clean run's output of all heads, not of this one alone; every "head" then brings the answer back
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads
    return model.inside(token_ids, twin, lambda heads: from_clean).logits

# %% [wrong] scene_for_head | heads[head] is the scene with this number and not the head, which is the second axis: heads[:, head]
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def replace(heads):
        new = heads.clone()
        new[head] = clean_heads[head]
        return new

    out = model.inside(token_ids, twin, replace)
    return out.logits

# %% [wrong] the_others_replaced | the head is kept from the twin and all other heads are replaced by the clean ones: the exchange is the wrong way round
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    good = model.inside(token_ids, clean).heads

    def edit(heads):
        mixed = good.clone()
        mixed[:, head] = heads[:, head]
        return mixed

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] added_not_replaced | the clean head's output is added to the twin's (+=) in place of replacing it, so both answers are in
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean).heads[:, head]

    def edit(heads):
        heads = heads.clone()
        heads[:, head] += source
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_only | the head is replaced at the last position alone ([:, head, -1]); its whole output (B, T, d_head) should be put in, so the logits of the earlier positions are wrong
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = handed[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [right] where_over_head_numbers | a bool of shape (H, 1, 1) chooses between the clean and the twin's heads with torch.where, nothing is overwritten
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    given = model.inside(token_ids, clean).heads
    chosen = (torch.arange(given.shape[1], device=given.device) == head).reshape(-1, 1, 1)
    return model.inside(token_ids, twin, edit=lambda heads: torch.where(chosen, given, heads)).logits
