# %% [wrong] upper_triangle | Turns the triangle round in place of dropping it: the first word sees everything, but later words lose the first patches.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] words_look_at_words | Keeps a causal mask by looking at the words in place of the patches: the image never comes in.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    n = words.shape[-2]
    return cross_attn(words, words, causal_mask(n, words.device))

# %% [wrong] mask_inverted | Inverts the mask, as if True meant "may not": the first word now sees all patches but the first.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    hidden = torch.ones(words.shape[1], patches.shape[1], dtype=torch.bool, device=words.device).tril()
    seen, weights = cross_attn(words, patches, mask=~hidden)
    return seen, weights

# %% [wrong] image_asks | Gives the patches as tokens and the words as context: each patch looks at the words, and the shapes are those of the patches.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = cross_attn(patches, words)
    return output, weights

# %% [wrong] residual_inside | Adds the words to what is seen; the model adds it itself, and here only what is seen is asked for.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches)
    return words + seen, weights

# %% [wrong] heads_averaged | Averages the weights over the heads: (B, T, S) in place of (B, H, T, S).
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    return seen, weights.mean(dim=1)

# %% [right] everything_allowed | Says explicitly that every word may look at every patch, with a mask of ones.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everywhere = words.new_ones(words.shape[-2], patches.shape[-2]).bool()
    seen, weights = cross_attn(tokens=words, context=patches, mask=everywhere)
    return seen, weights
