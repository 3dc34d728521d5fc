# %% [wrong] clean_and_twin_exchanged | The run is on the clean scenes and the head's output comes from the twins. The other way round is asked for: the twin's run, with one head from the clean run.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    donor = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = donor[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] all_heads_but_one | torch.where keeps the twin's head and takes all others from the clean run. Only the one head is to come from the clean scenes.
def patch_head(model, head, token_ids, clean, twin):
    handed = model.inside(token_ids, clean).heads
    mine = torch.arange(handed.shape[1], device=handed.device).view(1, -1, 1, 1) == head
    return model.inside(token_ids, twin, lambda heads: torch.where(mine, heads, handed)).logits

# %% [wrong] word_position_in_place_of_head | The index stands on the axis of the words: heads[:, :, head]. The heads are the second axis; here all heads of one word are put in.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean)

    def put_in(heads: Tensor) -> Tensor:
        changed = heads.clone()
        changed[:, :, head] = from_clean.heads[:, :, head]
        return changed

    return model.inside(token_ids, twin, edit=put_in).logits

# %% [wrong] edit_returns_nothing | edit changes the tensor in place and returns nothing. The run goes on with what edit returns, so it goes on with None and crashes.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    with torch.no_grad():
        clean_heads = model.inside(token_ids, clean).heads

        def edit(heads):
            heads[:, head] = clean_heads[:, head]

        return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_only_logits | Only the logits of the last word are returned, (B, vocab_size), because the answer comes from there. The logits of all words are asked for, (B, T, vocab_size).
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean).heads[:, head : head + 1]

    def edit(heads):
        return torch.cat([heads[:, :head], source, heads[:, head + 1 :]], dim=1)

    return model.inside(token_ids, twin, edit).logits[:, -1]

# %% [right] index_copy_of_one_head | The clean run's head is caught by an edit that hands everything on unchanged, and put in by index_copy.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    caught = []

    def listen(heads: Tensor) -> Tensor:
        caught.append(heads.select(1, head).unsqueeze(1))
        return heads

    model.inside(token_ids, clean, listen)
    which = torch.tensor([head], device=clean.device)
    result = model.inside(token_ids, twin, lambda heads: heads.index_copy(1, which, caught[0]))
    return result.logits
