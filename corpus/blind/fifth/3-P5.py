# %% [wrong] diagonal_moved | the mask is kept and only its diagonal moved by one (tril(1)): the only word now sees two patches of nine, where an image is there all at once
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).tril(1)
    return cross_attn(words, patches, mask)

# %% [wrong] triangle_turned | triu in place of tril: with one word that happens to allow all patches, but with T words the second one may not see the first patch, and so on
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights

# %% [wrong] words_look_at_words | without a context the layer is self-attention: the words look at one another (with a causal mask), and the image is not looked at
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T = words.shape[-2]
    return cross_attn(words, mask=causal_mask(T, words.device))

# %% [wrong] everything_hidden | the mask is all False ("nothing is masked"), but True means may attend: every word sees nothing and gets zeros
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    nothing_masked = torch.zeros(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    return cross_attn(words, patches, mask=nothing_masked)

# %% [wrong] heads_averaged | the weights are averaged over the heads, (B, T, S); the maps of all heads, (B, H, T, S), are asked
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights.mean(dim=1)

# %% [wrong] residual_inside | the words are added to what is seen; what is seen alone is asked, and the model adds it to the word itself
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [right] explicit_full_mask | a mask that is True everywhere, of (T, S), says in so many words that every word may see every patch
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everywhere = words.new_ones(words.shape[-2], patches.shape[-2], dtype=torch.bool)
    return cross_attn(words, context=patches, mask=everywhere)
