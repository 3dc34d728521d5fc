# %% [wrong] runs_swapped | clean and twin are exchanged: the clean scene runs on with a head from the twin, where the twin is to run with a head from the clean scene
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    donor = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = donor[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits

# %% [wrong] every_head | edit returns all heads of the clean run, so not one head is put in but all of them, whatever `head` says
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean)
    return model.inside(token_ids, twin, lambda _: from_clean.heads).logits

# %% [wrong] words_axis | heads[:, :, head] indexes the axis of the words: it puts in word number `head` of every head instead of one head at all words
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads

    def swap_in(handed):
        handed = handed.clone()
        handed[:, :, head] = kept[:, :, head]
        return handed

    return model.inside(token_ids, twin, edit=swap_in).logits

# %% [wrong] others_silenced | In edit the other heads become zeros (zeros_like instead of a clone), so the head from the clean run is alone, and nothing of the twin is left in the look
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        new = torch.zeros_like(heads)
        new[:, head] = clean_heads[:, head]
        return new

    return model.inside(token_ids, twin, edit).logits

# %% [wrong] last_word_logits | Only the logits of the last word are returned, (B, vocab_size) instead of (B, T, vocab_size)
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean).heads
    chosen = torch.arange(source.shape[1], device=source.device) == head

    def edit(heads):
        return torch.where(chosen[:, None, None], source, heads)

    return model.inside(token_ids, twin, edit).logits[:, -1]

# %% [wrong] last_word_put_in | The head is replaced at the last word alone, heads[:, head, -1]; its output at all words is to come from the clean run, so the logits of the earlier words stay the twin's
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_run = model.inside(token_ids, clean)

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = clean_run.heads[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits

# %% [right] index_copy | edit as an index_copy, which makes a new tensor
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed = model.inside(token_ids, clean).heads
    which = torch.tensor([head], device=handed.device)
    run = model.inside(token_ids, twin, lambda heads: heads.index_copy(1, which, handed[:, [head]]))
    return run.logits
