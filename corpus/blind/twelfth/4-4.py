# %% [wrong] roles_exchanged | runs on the clean scenes and puts in the head of the twins: the opposite experiment, what a wrong head destroys, not what a right one brings back
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    donor = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = donor[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits


# %% [wrong] indexes_the_words | heads is (B, H, T, d_head); [:, :, head] picks a word, so all heads are replaced at word number head, and the last word, which answers, stays as it was
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        patched = heads.clone()
        patched[:, :, head] = clean_heads[:, :, head]
        return patched

    result = model.inside(token_ids, twin, edit=edit)
    return result.logits


# %% [wrong] added_instead_of_replaced | the clean head is added to the twin's own head instead of taking its place: the head hands on both scenes at once
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, clean).heads
    chosen = F.one_hot(torch.tensor(head), source.shape[1]).to(source)[:, None, None]  # (H, 1, 1)
    return model.inside(token_ids, twin, lambda heads: heads + chosen * source).logits


# %% [wrong] last_word_alone | only the last word of the head is replaced; the text asks for the head's output as a whole, so the logits at all earlier positions are still the twin's
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    class Swap:
        def __init__(self, new):
            self.new = new

        def __call__(self, heads):
            heads = heads.clone()
            heads[:, head, -1] = self.new[:, head, -1]
            return heads

    swap = Swap(model.inside(token_ids, clean).heads)
    return model.inside(token_ids, twin, swap).logits


# %% [wrong] edit_returns_nothing | edit changes a copy and returns nothing: the run goes on with None where the heads should be, and fails
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    with torch.no_grad():
        _, _, _, from_clean = model.inside(token_ids, clean)

        def edit(heads):
            heads = heads.clone()
            heads[:, head] = from_clean[:, head]

        logits, *_ = model.inside(token_ids, twin, edit)
    return logits


# %% [right] cut_and_glue | glues slices of both runs together along the head axis, no assignment
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    good = model.inside(token_ids, clean).heads
    glue = lambda own: torch.cat((own[:, :head], good[:, head : head + 1], own[:, head + 1 :]), dim=1)
    return model.inside(token_ids, twin, glue).logits
