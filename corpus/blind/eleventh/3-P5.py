# %% [wrong] causal_the_other_way_round | The mask is now upper triangular. With one word the whole row is free and the training works, but the second word of a longer text may not see the first patch, the third not the first two; every word should see every patch.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] residual_added_here_too | The words are added to what they saw. The function should return what is seen alone; the model adds it to the words by itself, so now they are added twice, and normed ones at that.
def look_at_image(cross_attn, words, patches):
    seen, weights = cross_attn(words, patches)
    return words + seen, weights

# %% [wrong] nothing_hidden_is_all_false | The mask is False everywhere, "nothing is hidden". In this course True means "may attend", so no word may look anywhere, and output and weights are all zero.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    hidden = torch.zeros(T, S, dtype=torch.bool, device=words.device)
    seen, weights = cross_attn(words, patches, mask=hidden)
    return seen, weights

# %% [wrong] patches_ask_words | The arguments are swapped: the patches ask and the words answer. What comes back is (B, S, d_model) and (B, H, S, T) instead of one row for each word.
def look_at_image(cross_attn, words, patches):
    # the image is read first, then the words are its context
    return cross_attn(tokens=patches, context=words)

# %% [wrong] heads_averaged_away | The weights are averaged over the heads, as PyTorch's own nn.MultiheadAttention does by default. The text wants the weights of every head, (B, H, T, S), and this is (B, T, S).
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    """What each word sees in the image, and where it looks."""
    seen, weights = cross_attn(words, patches, None)
    weights = weights.mean(dim=1)
    return seen, weights

# %% [right] a_mask_that_allows_all | Keeps the mask of the broken piece and opens it: comparing patch numbers with S allows each word every patch.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    S = patches.size(-2)
    everywhere = (torch.arange(S, device=patches.device) < S).expand(words.size(-2), S)
    result = cross_attn.forward(tokens=words, context=patches, mask=everywhere)
    return result[0], result[1]
