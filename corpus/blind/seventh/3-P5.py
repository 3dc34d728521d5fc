# %% [wrong] aligned_at_the_end | The causal mask is moved by S − T, so that the last word sees everything; for a single word it is right, but with two words the first one misses the last patch. An image needs no causal mask.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)

# %% [wrong] causal_mask_inverted | The causal mask is inverted instead of left out, so a single word sees all patches but the first, and the second word misses the first two.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).tril()
    seen, weights = cross_attn(words, patches, ~mask)
    return seen, weights

# %% [wrong] words_added_inside | The words are added to what was seen, but the model adds them itself; what is seen alone should come back.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [wrong] patches_cut_off | The patches are detached, so no gradient reaches the aligner and the positions of the image; the look itself is right, but that half of the model does not learn.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    image = patches.detach()  # stage 1 is over
    return cross_attn(words, image)

# %% [wrong] map_without_heads | The weights are averaged over the heads and come back as (B, T, S); (B, H, T, S) is asked for, also with one head.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches)
    return seen, weights.mean(dim=1)

# %% [wrong] the_patches_ask | Words and patches are exchanged in the call, so the patches look at the words, and the result has a row for each patch instead of each word.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(patches, words)
    return seen, weights

# %% [right] a_mask_that_allows_all | says explicitly that each word may see each patch: a mask of True alone
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everywhere = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device)
    seen, weights = cross_attn(words, context=patches, mask=everywhere)
    return seen, weights
