# %% [wrong] diagonal_moved_on | The triangle is only moved on by one place: with a single word two of nine patches may be seen.
def look_at_image(cross_attn, words, patches):
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).tril(1)
    return cross_attn(words, patches, mask)


# %% [wrong] everything_but_the_first | The mask is inverted: now the first patch is the one that may not be seen.
def look_at_image(cross_attn, words, patches):
    T, S = words.shape[-2], patches.shape[-2]
    mask = ~torch.ones(T, S, dtype=torch.bool, device=words.device).tril()
    return cross_attn(words, patches, mask)


# %% [wrong] patches_ask | Patches and words are exchanged in the call: the image asks the one word.
def look_at_image(cross_attn, words, patches):
    seen, weights = cross_attn(patches, words)
    return seen, weights


# %% [wrong] words_look_at_words | The context is left out, so the words look at themselves and never at the image.
def look_at_image(cross_attn, words, patches):
    return cross_attn(words, mask=causal_mask(words.shape[-2], words.device))


# %% [wrong] cut_from_the_gradient | The mask is gone, but the patches are detached: the aligner and the places of the image get no gradient.
def look_at_image(cross_attn, words, patches):
    seen, weights = cross_attn(words, patches.detach())
    return seen, weights


# %% [wrong] averaged_heads | Returns the mean map over the heads, (B, T, S); asked for are all of them, (B, H, T, S).
def look_at_image(cross_attn, words, patches):
    out, w = cross_attn(words, patches)
    return out, w.mean(dim=1)


# %% [right] mask_of_all_true | Keeps a mask, but one that allows every patch to every word.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everywhere = words.new_ones((words.size(1), patches.size(1)), dtype=torch.bool)
    seen, weights = cross_attn(tokens=words, context=patches, mask=everywhere)
    return seen, weights
