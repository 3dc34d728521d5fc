# %% [wrong] clean_and_twin_exchanged | The two runs are exchanged: the twin's head is put into the run on the clean scenes.
def patch_head(model, head, token_ids, clean, twin):
    stored = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = stored[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits


# %% [wrong] all_heads_put_in | `edit` returns all heads of the clean run, whatever `head` is.
def patch_head(model, head, token_ids, clean, twin):
    from_clean = model.inside(token_ids, clean)
    patched = model.inside(token_ids, twin, lambda heads: from_clean.heads)
    return patched.logits


# %% [wrong] scene_in_place_of_head | `heads[head]` addresses the first axis: one scene is exchanged and not one head.
def patch_head(model, head, token_ids, clean, twin):
    good = model.inside(token_ids, clean).heads

    def edit(heads):
        changed = heads.clone()
        changed[head] = good[head]
        return changed

    return model.inside(token_ids, twin, edit).logits


# %% [wrong] edit_returns_nothing | `edit` has no `return`, so the run goes on with None and raises an error.
def patch_head(model, head, token_ids, clean, twin):
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = clean_heads[:, head]

    result = model.inside(token_ids, twin, edit)
    return result.logits


# %% [wrong] last_word_only | The head's output is exchanged at the last position alone; the logits of the earlier words are those of the twin.
def patch_head(model, head, token_ids, clean, twin):
    donor = model.inside(token_ids, clean).heads

    def edit(heads):
        mixed = heads.clone()
        mixed[:, head, -1] = donor[:, head, -1]
        return mixed

    return model.inside(token_ids, twin, edit).logits


# %% [wrong] all_but_this_head | Puts in every head except the one that is asked about.
def patch_head(model, head, token_ids, clean, twin):
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        out = clean_heads.clone()
        out[:, head] = heads[:, head]
        return out

    return model.inside(token_ids, twin, edit).logits


# %% [right] where_on_head_number | No writing in place: `torch.where` over the numbers of the heads chooses between the two runs.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    donor = model.inside(token_ids, clean).heads
    chosen = (torch.arange(donor.shape[1], device=donor.device) == head)[:, None, None]
    return model.inside(token_ids, twin, edit=lambda heads: torch.where(chosen, donor, heads)).logits
