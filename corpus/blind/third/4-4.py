# %% [wrong] clean_and_twin_exchanged | Runs on the clean scene with the head of the twin; it should be the other way round.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    put_in = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = put_in[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] all_heads_put_in | The edit returns all heads of the clean run; only one head is to be replaced.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads
    return model.inside(token_ids, twin, lambda heads: from_clean).logits

# %% [wrong] edit_returns_nothing | The edit changes the heads and returns nothing; the run should go on with what it returns.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean)

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = source.heads[:, head]

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] word_in_place_of_head | Indexes the third axis, the words, in place of the heads: one word's output of all heads is replaced.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    before = model.inside(token_ids, clean).heads

    def edit(heads):
        changed = heads.clone()
        changed[:, :, head] = before[:, :, head]
        return changed

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] all_the_other_heads | The comparison is turned round: all heads but the one come from the clean run.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads
    number = torch.arange(kept.shape[1], device=kept.device).view(1, -1, 1, 1)
    result = model.inside(token_ids, twin, lambda heads: torch.where(number == head, heads, kept))
    return result.logits

# %% [wrong] last_position_alone | Returns the logits of the last position only, (B, vocabulary); those of all positions are asked for.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        return torch.cat([heads[:, :head], clean_heads[:, head : head + 1], heads[:, head + 1 :]], dim=1)

    return model.inside(token_ids, twin, edit).logits[:, -1]

# %% [right] index_copy | Puts the head in with index_copy, out of place, in a lambda.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    place = torch.tensor([head], device=clean.device)
    carried = model.inside(token_ids, clean).heads.index_select(1, place)
    return model.inside(token_ids, twin, lambda heads: heads.index_copy(1, place, carried)).logits
