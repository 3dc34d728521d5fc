# %% [wrong] a_word_in_place_of_a_head | The number of the head is used on the axis of the words, so what all heads hand on for one word is exchanged. The heads are axis 1 of (B, H, T, d_head): heads[:, head].
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    wanted = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[..., head, :] = wanted[..., head, :]
        return heads

    return model.inside(token_ids, twin, edit).logits


# %% [wrong] only_the_last_word_patched | The head's output is put in at the last word alone, and at the earlier words the twin's own output stays. The whole output of the head comes from the clean run, at every word.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    from_clean = model.inside(token_ids, clean).heads[:, head, -1]

    def put_in(handed: Tensor) -> Tensor:
        changed = handed.clone()
        changed[:, head, -1, :] = from_clean
        return changed

    result = model.inside(token_ids, twin, edit=put_in)
    return result.logits
