# %% [wrong] tril_shifted | The triangle is only shifted by S − T: for one word all patches are visible, but of several words the first still sees S − T + 1 patches; the image needs no triangle at all
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)

# %% [wrong] upside_down | tril became triu: word t now sees the patches from t on; for one word that is everything, for the second word the first patch is hidden
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask=mask)

# %% [wrong] context_forgotten | The patches are never handed over: without a context the words look at themselves, and the weights are (B, H, T, T)
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = cross_attn(words)
    return output, weights

# %% [wrong] nothing_allowed | The mask of zeros is meant as "nothing is forbidden", but here True means may attend: every patch is hidden, and output and weights are zeros
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    nothing_hidden = torch.zeros(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, patches, nothing_hidden)

# %% [wrong] words_added | The words are added to what is seen; the model adds them itself, so they count twice
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [wrong] heads_averaged | The weights are averaged over the heads, so the axis H is missing: (B, T, S) instead of (B, H, T, S)
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches)
    return seen, weights.mean(1)

# %% [right] full_mask | keeps the mask of the broken piece without its triangle
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, context=patches, mask=everything)
