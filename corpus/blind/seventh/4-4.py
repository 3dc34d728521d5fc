# %% [wrong] clean_and_twin_exchanged | The head comes from the twin and is put into the run on the clean scene; it should be the other way, so the answer says what breaks and not what the head carries.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = source[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] the_last_word_alone | Only the last word's output of the head is replaced; the logits at the earlier positions are those of the plain twin, but the whole output of the head should come from the clean scene.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = kept[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] heads_counted_from_one | head − 1 is replaced, as if heads were numbered from 1; they are numbered from 0, so the neighbour is put in, and for head 0 the last one.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def put_in(heads):
        changed = heads.clone()
        changed[:, head - 1] = clean_heads[:, head - 1]
        return changed

    return model.inside(token_ids, twin, put_in).logits

# %% [wrong] all_heads_but_one | The edit keeps the twin's output of this head and takes all other heads from the clean scene, the opposite of what is asked for.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads

    def edit(heads):
        mixed = from_clean.clone()
        mixed[:, head] = heads[:, head]
        return mixed

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] mean_over_the_scenes | The head's output is averaged over the batch before it is put in, so every twin gets the same mean instead of the output of its own clean scene.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    found = model.inside(token_ids, clean)
    typical = found.heads[:, head].mean(dim=0)  # (T, d_head)

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = typical
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] the_word_instead_of_the_head | heads[:, :, head] is the third axis, the words, so all heads of one word are replaced; the heads are axis 1.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, :, head] = source[:, :, head]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [right] where_the_number_matches | the edit is one torch.where over the numbers of the heads, nothing is copied or written into
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads
    this_one = torch.arange(from_clean.shape[1], device=from_clean.device).eq(head)[:, None, None]
    return model.inside(token_ids, twin, lambda heads: torch.where(this_one, from_clean, heads)).logits
