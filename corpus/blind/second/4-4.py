# %% [right] where_on_heads | right
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads

    def edit(heads: Tensor) -> Tensor:
        chosen = torch.arange(heads.shape[1], device=heads.device).view(1, -1, 1, 1) == head
        return torch.where(chosen, from_clean, heads)

    return model.inside(token_ids, twin, edit=edit).logits

# %% [wrong] clean_and_twin_swapped | Clean and twin are swapped: the clean run gets the head of the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = handed[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] all_heads | The edit returns all heads of the clean run instead of one.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads
    return model.inside(token_ids, twin, lambda heads: handed).logits

# %% [wrong] wrong_axis | heads[head] indexes the batch, so one scene gets all its heads from the clean run.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[head] = handed[head]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] token_axis | heads[:, :, head] replaces the word at position `head` in every head, not the head.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, :, head] = handed[:, :, head]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_only | Only the output at the last word is replaced, not that of the whole head.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = handed[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] whole_result_returned | It returns the whole Inside record instead of its logits.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = handed[:, head]
        return heads

    return model.inside(token_ids, twin, edit)

# %% [wrong] heads_numbered_from_one | The heads are numbered from 1: head - 1 is replaced.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head - 1] = handed[:, head - 1]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] head_added | The clean head's output is added to the twin's instead of replacing it.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] += handed[:, head]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] others_from_clean | The condition is the wrong way round: all heads except this one come from the clean run.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads

    def edit(heads):
        mixed = handed.clone()
        mixed[:, head] = heads[:, head]
        return mixed

    return model.inside(token_ids, twin, edit).logits
