# %% [right] mask_of_ones | right
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = torch.full((words.shape[1], patches.shape[1]), True, device=words.device)
    seen, weights = cross_attn(tokens=words, context=patches, mask=everything)
    return seen, weights

# %% [wrong] shifted_triangle | It keeps a causal mask and only moves its diagonal, which frees the patches for one word but hides some from earlier words when T > 1.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)

# %% [wrong] triu | tril is replaced by triu, which hides early patches from later words.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] words_added | The words are added to what is seen, but the model adds them itself: the residual is there twice.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [wrong] arguments_swapped | Words and patches are swapped, so the patches ask and the words are looked at.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(patches, words)

# %% [wrong] mask_of_zeros | The mask is all False ("nothing is forbidden"), but True means may attend, so no word sees anything.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.zeros(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, patches, mask)

# %% [wrong] weights_averaged | The weights are averaged over the heads, so the head axis is lost.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights.mean(1)

# %% [wrong] detached_patches | The patches are detached, so aligner and image positions get no gradient through the look.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches.detach())
    return seen, weights

# %% [wrong] context_forgotten | The patches are never passed: the words look at themselves.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words)
    return seen, weights
