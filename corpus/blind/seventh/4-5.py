# %% [wrong] first_cells_are_real | The padding is counted, and the first S − count cells are allowed, as if padding always stood at the end; here it lies anywhere, and the mask must follow `padding` itself.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    held = (~padding).sum(-1)
    mask = torch.arange(patches.shape[1], device=patches.device) < held.reshape(-1, 1, 1)
    return cross_attn(words, patches, mask)

# %% [wrong] weights_wiped_afterwards | The attention runs without a mask, and only the weights that come back are set to zero on padding; what was seen still holds the padding, and the weights no longer sum to 1.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    weights = weights.masked_fill(padding[:, None, None, :], 0.0)
    return seen, weights

# %% [wrong] painted_over | The padding is painted over with zeros and no mask is used; a key of zeros has the score 0 and takes its share of the weight. It passes the gate, and the weight on padding is not 0.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    clean = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, clean)

# %% [wrong] one_mask_for_the_batch | The mask allows only cells that are no padding in any scene of the batch; each scene has its own padding, so most real cells are hidden.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = (~padding).all(dim=0).unsqueeze(0)  # (1, S)
    seen, weights = cross_attn(words, patches, allowed)
    return seen, weights

# %% [wrong] batch_read_as_words | The mask is handed on as (B, S), without an axis for the words, and the layer reads two axes as (T, S); an error for B ≠ T, and otherwise scene b's mask serves word b of all scenes.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = padding.logical_not()
    return cross_attn(words, patches, mask)

# %% [wrong] one_minus_a_bool | 1 − padding is how one inverts 0 and 1; PyTorch refuses to subtract bool tensors and raises a RuntimeError. ~padding is needed.
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    mask = (1 - padding).unsqueeze(1)
    return cross_attn(words, patches, mask)

# %% [right] named_for_what_it_allows | logical_not gives what may be looked at, expanded to every word, and handed on by name
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    real = padding.logical_not()[:, None, :].expand(-1, words.shape[1], -1)
    seen, weights = cross_attn(words, context=patches, mask=real)
    return seen, weights
