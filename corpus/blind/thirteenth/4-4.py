# %% [wrong] runs_exchanged | Clean and twin are exchanged: the run is on the clean scenes, and one head comes from the twins.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    source = model.inside(token_ids, twin).heads

    def edit(heads):
        heads = heads.clone()
        heads[:, head] = source[:, head]
        return heads

    return model.inside(token_ids, clean, edit).logits


# %% [wrong] token_axis_patched | heads[:, :, head] is the token at position `head` of all heads, not the head: (B, H, T, d_head). It swaps one word's place instead of one head.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    kept = model.inside(token_ids, clean).heads.detach()

    def put_in(handed: Tensor) -> Tensor:
        changed = handed.clone()
        changed[:, :, head] = kept[:, :, head]
        return changed

    seen = model.inside(token_ids, twin, edit=put_in)
    return seen.logits


# %% [wrong] all_other_heads_from_clean | The torch.where has its branches exchanged: all heads but the chosen one come from the clean run, which answers the opposite question.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    good = model.inside(token_ids, clean)
    H = good.heads.shape[1]
    chosen = (torch.arange(H, device=good.heads.device) == head).view(1, H, 1, 1)
    return model.inside(token_ids, twin, lambda bad: torch.where(chosen, bad, good.heads)).logits


# %% [wrong] last_position_only | Only the last word's vector of the head is taken from the clean run; at all earlier positions the head stays that of the twin. The logits of the earlier words are wrong.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    class Patcher:
        def __init__(self, heads):
            self.heads = heads

        def __call__(self, now):
            now = now.clone()
            now[:, head, -1, :] = self.heads[:, head, -1, :]
            return now

    return model.inside(token_ids, twin, Patcher(model.inside(token_ids, clean).heads)).logits


# %% [wrong] last_word_returned | Returns the logits of the last position alone, (B, vocab_size); asked for are those of all positions, (B, T, vocab_size).
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    with torch.no_grad():
        from_clean = model.inside(token_ids, clean).heads

        def edit(heads):
            parts = list(heads.unbind(dim=1))
            parts[head] = from_clean.select(1, head)
            return torch.stack(parts, dim=1)

        return model.inside(token_ids, twin, edit).logits[:, -1]


# %% [right] index_copy | The edit is one functional index_copy along the axis of the heads.
def patch_head(model: nn.Module, head: int, token_ids: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    handed_on = model.inside(token_ids, clean).heads
    which = torch.tensor([head], device=handed_on.device)
    donor = handed_on.index_select(1, which)
    return model.inside(token_ids, twin, lambda heads: heads.index_copy(1, which, donor)).logits
