# %% [wrong] causal_mask_aligned_at_the_end | The causal mask stays and its diagonal is shifted to the lower right corner, as for a cache. With one word that allows all patches, but with T words, word t sees only the patches up to S − T + t; the patches all exist at once and none may be hidden.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(diagonal=S - T)
    return cross_attn(words, patches, mask)

# %% [wrong] triu_in_place_of_tril | tril has become triu. With one word that happens to allow all patches, but from the second word on the patches before the diagonal are hidden.
def look_at_image(cross_attn, words, patches):
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] words_and_patches_exchanged | The patches ask and the words answer. The output then has a row for each patch and not for each word, and the weights are (B, H, S, T).
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(patches, words)
    return seen, weights

# %% [wrong] heads_averaged | The weights are averaged over the heads, as torch.nn.MultiheadAttention does by default. (B, H, T, S) is asked for; here the axis of the heads is missing.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, context=patches, mask=None)
    return seen, weights.mean(dim=1)

# %% [wrong] blank_patches_hidden_by_their_sum | Patches whose mean is not positive are masked as if they were padding. After the norm a patch's mean says nothing about it, so about half of the image is hidden from every word.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    B, T, _ = words.shape
    S = patches.shape[1]
    something_there = patches.mean(-1) > 0  # (B, S)
    mask = something_there[:, None, :].expand(B, T, S)
    out, attn = cross_attn(words, patches, mask=mask)
    return out, attn

# %% [right] an_explicit_mask_of_true | A mask stays, and it says True everywhere: every word may see every patch.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = words.new_ones((words.size(1), patches.size(1)), dtype=torch.bool)
    answer = cross_attn.forward(tokens=words, context=patches, mask=everything)
    return answer[0], answer[1]
