# %% [wrong] mask_shifted_for_one_word | The causal mask is only shifted so that the last word sees all patches. With a single word that is enough, but of several words the earlier ones still miss the last patches; an image needs no mask at all.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)


# %% [wrong] residual_added_inside | The words are added to what is seen, and the model adds them once more outside. The function returns what is seen alone.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    words = words + seen
    return words, weights
