# %% [wrong] clean_and_twin_exchanged | The head of the twin is put into the run on the clean scene. It should be the other way round. The logits say what the clean scene loses, not what the twin gains.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = source[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] edit_returns_nothing | edit changes the heads and does not return them. What it returns goes on in their place, so it must return the heads. The model goes on with None, and an error comes out.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads[:, head]

    def put_in(heads):
        patched = heads.clone()
        patched[:, head] = kept

    result = model.inside(token_ids, twin, put_in)
    return result.logits

# %% [wrong] head_number_picks_a_scene | The head's number stands on the first axis, which is that of the scenes. It should stand on the second. One scene gets all heads of its clean twin, the others none, or the index is out of range.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        copy = heads.clone()
        copy[head] = clean_heads[head]
        return copy

    return model.inside(token_ids, twin, edit=edit).logits

# %% [wrong] only_for_the_last_word | The head's output is replaced for the last word alone. The output of one head is that for all words. The last logits are right, those of the earlier words are the twin's.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed_on = model.inside(token_ids, clean).heads.detach()

    def swap(heads: Tensor) -> Tensor:
        heads = heads.clone()
        heads[:, head, -1, :] = handed_on[:, head, -1, :]
        return heads

    return model.inside(token_ids, twin, swap).logits

# %% [wrong] leaves_the_model_in_evaluation | The model is put into evaluation mode and not back again. It should stay as it is. The logits are right, but a model that was in training mode no longer is.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    model.eval()
    with torch.no_grad():
        donor = model.inside(token_ids, clean)
        number = torch.arange(donor.heads.shape[1], device=donor.heads.device).view(1, -1, 1, 1)
        patched = model.inside(token_ids, twin, lambda heads: torch.where(number == head, donor.heads, heads))
    return patched.logits

# %% [wrong] counts_heads_from_one | One is subtracted from the number of the head. Heads are numbered from 0. The head before is put in, and for head 0 the last one.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    index = head - 1
    from_clean = model.inside(token_ids, clean).heads.unbind(1)

    def edit(heads):
        parts = list(heads.unbind(1))
        parts[index] = from_clean[index]
        return torch.stack(parts, dim=1)

    return model.inside(token_ids, twin, edit).logits

# %% [right] index_copy_in_a_lambda | One lambda with index_copy, which makes a new tensor, in place of a function that clones.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    *_, donor = model.inside(token_ids, clean)
    which = torch.tensor([head], device=donor.device)
    return model.inside(
        token_ids, twin, lambda heads: heads.index_copy(1, which, donor.index_select(1, which))
    ).logits
