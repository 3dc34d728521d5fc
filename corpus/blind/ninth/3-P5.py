# %% [wrong] causal_mask_of_the_words | The causal mask of the words (T, T) is handed to the cross-attention. There the keys are patches, and no mask is needed. With one word it happens to allow everything; with two or more words it does not fit the S patches, and an error comes out.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T = words.shape[-2]
    seen, weights = cross_attn(words, patches, causal_mask(T, words.device))
    return seen, weights

# %% [wrong] triu_for_tril | The triangle is turned round: tril became triu. No patch should be hidden from any word. The first word sees everything, so the one-word training recovers, but the second word does not see the first patch, the third not the first two.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.ones(words.shape[-2], patches.shape[-2], dtype=torch.bool, device=words.device).triu()
    return cross_attn(words, patches, mask)

# %% [wrong] looks_at_the_words | The patches are not handed over, so the layer attends to the words themselves. The words should look at the patches. The image plays no part, and the weights have T columns.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = cross_attn(words, mask=None)
    return output, weights

# %% [wrong] weights_come_first | The two results are given back in the other order, weights first. What is seen should come first. The model adds maps to words, and the shapes do not fit.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, where = cross_attn(tokens=words, context=patches)
    return where, seen

# %% [wrong] words_added_already | The words are added to what they see. The model adds them itself; here only what is seen was asked for. The words are in twice.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = torch.ones(words.size(1), patches.size(1), device=words.device) > 0
    update, attention = cross_attn(words, patches, everything)
    return words + update, attention

# %% [wrong] patches_cut_off | The patches are detached before the look, 'since the image is only looked at'. The aligner and the image positions behind them must learn, too. Output and weights are right, and those parts get no gradient any more.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches.detach())

# %% [right] explicit_mask_of_ones_by_comparison | Builds a mask that allows everything from a comparison of positions, for a batch, and hands it over by name.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    place = torch.arange(S, device=patches.device)
    visible = (place < S).expand(*words.shape[:-2], T, S)
    pair = cross_attn(words, context=patches, mask=visible)
    return pair[0], pair[1]
