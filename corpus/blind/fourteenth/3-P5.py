# %% [wrong] triangle_moved_to_the_right | The triangle is moved by S − T so that one word sees all patches, but it stays: with several words the earlier ones do not see the last patches.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)

# %% [wrong] words_added_to_what_is_seen | The words are added to what they see; asked for is what is seen, alone.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches)
    return seen + words, weights

# %% [wrong] words_among_the_patches | Words and patches together are the context, so words look at words as well, and the maps are T too wide.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    context = torch.cat([patches, words], dim=1)
    return cross_attn(words, context)
