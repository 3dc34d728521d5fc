# %% [wrong] roles_swapped | The twin's head is put into the clean run; it is the clean head that belongs into the run on the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    with torch.no_grad():
        source = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = source[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits
# %% [wrong] all_heads | All heads of the clean run are put in, not only the one that was asked for.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    kept = model.inside(token_ids, clean).heads
    return model.inside(token_ids, twin, lambda heads: kept.clone()).logits
# %% [wrong] wrong_axis | The head is chosen on the axis of the words: heads are (B, H, T, d_head).
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, :, head] = clean_heads[:, :, head]
        return heads

    return model.inside(token_ids, twin, edit).logits
# %% [wrong] edit_returns_nothing | edit changes its copy and does not return it.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = clean_heads[:, head]

    return model.inside(token_ids, twin, edit).logits
# %% [wrong] everything_returned | The whole record of the run is returned where only its logits are wanted.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = clean_heads[:, head]
        return heads

    return model.inside(token_ids, twin, edit)
# %% [wrong] other_heads_zero | The head of the clean run is put into zeros, so the other heads of the twin hand on nothing.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        new = torch.zeros_like(heads)
        new[:, head] = clean_heads[:, head]
        return new

    return model.inside(token_ids, twin, edit).logits
# %% [wrong] edit_never_passed | The edit is written and never handed to the second run, which is the plain run on the twin.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = clean_heads[:, head]
        return heads

    patched = model.inside(token_ids, twin)
    edit(patched.heads)
    return patched.logits
# %% [wrong] last_word_only | Only the last word's output is replaced; the head's output for the earlier words stays the twin's.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = clean_heads[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits
# %% [wrong] heads_numbered_from_1 | The heads are counted from 1, so another head is put in.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    clean_heads = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head - 1] = clean_heads[:, head - 1]
        return heads

    return model.inside(token_ids, twin, edit).logits
# %% [right] where_over_heads | Selects the head with a boolean column and torch.where, in a lambda.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    given = model.inside(token_ids, clean)
    chosen = (torch.arange(given.heads.size(1), device=given.heads.device) == head)[:, None, None]
    return model.inside(token_ids, twin, lambda heads: torch.where(chosen, given.heads, heads)).logits
# %% [right] cut_and_joined | Cuts the heads apart and concatenates them with the clean one in its place.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """Run the model on the twins, with the output of one head from the clean scenes."""
    kept = {}
    model.inside(token_ids, clean, lambda heads: kept.setdefault("heads", heads))

    def swap_in(heads):
        before, _, after = heads.tensor_split([head, head + 1], dim=1)
        return torch.cat([before, kept["heads"].narrow(1, head, 1), after], dim=1)

    outcome = model.inside(token_ids, twin, edit=swap_in)
    return outcome[0]
