# %% [wrong] diagonal_shifted | keeps the causal mask and only shifts its diagonal by S - T: the single word of the training now sees all patches and passes the gate, but with T > 1 the earlier words still cannot see the last patches
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).tril(S - T)
    return cross_attn(words, patches, mask)


# %% [wrong] weights_averaged | returns the weights averaged over the heads, (B, T, S), where (B, H, T, S) is asked for: callers that take the head axis get another axis
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(tokens=words, context=patches, mask=None)
    return seen, weights.mean(dim=1)


# %% [wrong] blank_patches_masked | invents a padding mask from the contents: patches whose numbers are all zero are hidden, though every word may see every patch; a scene with such a patch gets other weights
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    B, T, _ = words.shape
    not_empty = (patches != 0).any(dim=-1)          # (B, S)
    mask = not_empty[:, None, :].repeat(1, T, 1)    # (B, T, S)
    out = cross_attn(words, patches, mask)
    return out


# %% [wrong] words_in_the_context | puts the words themselves in front of the patches as context and cuts their columns off the weights afterwards: part of the attention goes to the words, rows sum to less than 1, and what is seen mixes in words
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[1], patches.shape[1]
    everything = torch.cat([words, patches], dim=1)
    mask = torch.cat(
        [causal_mask(T, words.device), torch.ones(T, S, dtype=torch.bool, device=words.device)], dim=1
    )
    seen, weights = cross_attn(words, everything, mask)
    return seen, weights[..., T:]


# %% [wrong] residual_inside | adds the words to what is seen; the block adds the residual outside, so it would be counted twice, and the returned tensor is not the output of the layer
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    attended, maps = cross_attn(words, patches)
    seen = words + attended
    return seen, maps


# %% [right] word_by_word | asks for one word at a time and joins the answers; without a causal mask words do not depend on each other
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    answers = [cross_attn(word, patches) for word in words.split(1, dim=-2)]
    seen, weights = zip(*answers, strict=True)
    return torch.cat(seen, dim=-2), torch.cat(weights, dim=-2)
