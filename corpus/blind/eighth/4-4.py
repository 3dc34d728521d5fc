# %% [wrong] clean_and_twin_exchanged | The run on the clean scene is edited with the head of the twin; it should be the run on the twin with the head of the clean scene.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    brought = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = brought[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] edit_returns_nothing | The edit writes into a copy and does not return it; what it returns goes on in the model, so it should end with return heads. The run gets None, and raises an error.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = from_clean[:, head]

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_alone | The head's output is exchanged for the last word alone; it should be for all words. The logits of the earlier positions are those of the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    given = model.inside(token_ids, clean).heads[:, head, -1]

    def edit(heads):
        changed = heads.clone()
        changed[:, head, -1] = given  # the answer comes from the last word
        return changed

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] all_heads_but_one | Every head but the one in question comes from the clean scene; it should be that head alone.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def edit(twin_heads):
        mixed = clean_heads.clone()
        mixed[:, head] = twin_heads[:, head]
        return mixed

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] added_to_the_twins | The clean head's output is added to that of the twin; it should replace it. The head speaks twice, once for each scene.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    seen = model.inside(token_ids, clean)

    def edit(heads):
        heads = heads.clone()
        heads[:, head] += seen.heads[:, head]
        return heads

    return model.inside(token_ids, twin, edit=edit).logits

# %% [wrong] logits_of_the_answer_alone | Only the logits of the last position are returned, (B, vocab_size); they should be those of all positions, (B, T, vocab_size).
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads.select(1, head)

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = kept
        return heads

    return model.inside(token_ids, twin, edit).logits[:, -1]

# %% [right] chosen_by_where | The edit is one torch.where over the numbers of the heads; nothing is written in place.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads
    number = torch.arange(from_clean.shape[1], device=from_clean.device).reshape(-1, 1, 1)
    run = model.inside(token_ids, twin, lambda heads: torch.where(number == head, from_clean, heads))
    return run.logits
