# %% [wrong] the_other_triangle | The mask is triu in place of tril; there should be no causal mask over patches at all. With one word it shows everything, so the training passes; with several, word t does not see the patches before t.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] triangle_in_the_corner | The triangle is moved to the lower right corner (tril(S − T)), so that the last word sees all; every word should see all patches. One word alone is right; of several, the earlier ones miss the last patches.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights

# %% [wrong] words_added | The words are added to what is seen; the model adds them itself. What comes back is not what is seen, and the normalised words come in once more.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [wrong] words_among_the_patches | The words are put behind the patches as context, so words can look at words; they should look at the patches alone. The weights are (B, H, T, S + T).
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    allowed = torch.ones(T, S + T, dtype=torch.bool, device=words.device)
    allowed[:, S:] = causal_mask(T, words.device)  # patches: all, words: the ones before
    return cross_attn(words, torch.cat([patches, words], dim=-2), allowed)

# %% [wrong] heads_averaged | The weights are averaged over the heads, (B, T, S); they should be (B, H, T, S).
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    seen, weights = cross_attn(words, patches, everything)
    return seen, weights.mean(1)

# %% [wrong] the_mask_inverted | The triangle is inverted, as for PyTorch's layer; it should go. Now word 0 sees all patches but the first, and the answer at the first place is never seen.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).tril()
    return cross_attn(words, patches, mask=~mask)

# %% [right] a_mask_that_allows_everything | The line of the mask stays, as the sentence that it is: every word may see every patch.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    every_patch = words.new_ones(words.shape[-2], patches.shape[-2], dtype=torch.bool)
    seen, weights = cross_attn(words, context=patches, mask=every_patch)
    return seen, weights
