# %% [wrong] clean_and_twin_exchanged | The head's output is taken from the twin and put into the run on the clean scene. Asked for was the run on the twin, with the head from the clean one.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    stored = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = stored[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] scene_instead_of_head | `heads[head] = …` addresses the first axis, which is the scenes'. So all heads of one scene are put in, and no other scene is changed; the heads are the second axis.
def patch_head(model, head, token_ids, clean, twin):
    source = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[head] = source[head]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_only | The head's output is put in at the last position alone, where the answer is read. The text says the output of the head, at all words; the logits of the earlier positions are still those of the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    from_clean = model.inside(token_ids, clean).heads[:, head, -1]

    def put_in(heads):
        changed = heads.clone()
        changed[:, head, -1] = from_clean
        return changed

    return model.inside(token_ids, twin, put_in).logits

# %% [wrong] edit_returns_nothing | `edit` changes the heads and forgets to return them. The model goes on with what edit returns, which is None, and stops with an AttributeError.
def patch_head(model, head, token_ids, clean, twin):
    clean_heads = model.inside(token_ids, clean)[3]

    def edit(heads):
        heads = heads.clone()
        heads[:, head, :, :] = clean_heads[:, head, :, :]

    result = model.inside(token_ids, twin, edit)
    return result.logits

# %% [wrong] other_heads_silenced | The edit begins with zeros and puts in the one head from the clean scene, so all other heads hand on nothing. They should hand on what they have for the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    keep = model.inside(token_ids, clean).heads

    def edit(heads):
        only = torch.zeros_like(heads)
        only[:, head] = keep[:, head]
        return only

    return model.inside(token_ids, twin, edit=edit).logits

# %% [right] chosen_by_where | The edit is a lambda: a bool for each head chooses by torch.where between the two runs, so nothing is cloned or written into.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    *_, donor = model.inside(token_ids, clean)
    chosen = (torch.arange(donor.shape[1], device=donor.device) == head).view(-1, 1, 1)
    patched = model.inside(token_ids, twin, lambda own: torch.where(chosen, donor, own))
    return patched.logits
