# %% [wrong] put_in_at_the_last_word_only | The head's output is exchanged at the last position alone; at all other positions the twin's own remains.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head, -1] = kept[:, head, -1]
        return heads

    return model.inside(token_ids, twin, edit).logits
