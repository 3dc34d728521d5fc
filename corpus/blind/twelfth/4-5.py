# %% [wrong] painted_over | sets the padded patches to zero instead of masking them: keys of zeros still get a score of 0 and a share of the softmax, so weight lies on padding and the real cells get too little
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    own = patches.masked_fill(padding.unsqueeze(-1), 0.0)
    return cross_attn(words, own)


# %% [wrong] masked_after_the_softmax | lets the layer look everywhere, then removes the weights on padding and rescales them: the map is the masked one, but what is seen was computed before, with the padding in it
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    seen, weights = cross_attn(words, patches)
    kept = (~padding)[:, None, None, :].to(weights.dtype)
    weights = weights * kept
    weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)
    return seen, weights


# %% [wrong] padding_assumed_at_the_end | counts the real cells of a scene and lets words see that many from the front; but padding stands anywhere in the scene, so real cells behind it are hidden and padded ones in front are seen
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    S = patches.shape[1]
    lengths = S - padding.sum(dim=1)                                            # (B,)
    mask = torch.arange(S, device=padding.device)[None, :] < lengths[:, None]   # (B, S)
    return cross_attn(words, patches, mask[:, None, :])


# %% [wrong] one_mask_for_the_batch | makes a single mask for all scenes: a cell that is padding in any scene is hidden in every scene, so scenes lose cells of their own (and mostly all of them, in a large batch)
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    allowed = torch.logical_not(padding).all(dim=0)
    mask = allowed.repeat(words.shape[-2], 1)  # (T, S)
    seen, weights = cross_attn(words, patches, mask=mask)
    return seen, weights


# %% [wrong] additive_float_mask | builds a float mask of 0 and -inf to be added to the scores; this layer takes a bool mask, to which it applies | and ~, so it raises an error
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    B, S = padding.shape
    bias = torch.zeros(B, 1, S, dtype=words.dtype, device=words.device)
    bias = bias.masked_fill(padding[:, None, :], float("-inf"))
    return cross_attn(words, patches, bias.expand(B, words.shape[1], S))


# %% [right] scene_by_scene | each scene with its own one-dimensional mask in a loop, stacked again
def look_past_padding(
    cross_attn: nn.Module, words: Tensor, patches: Tensor, padding: Tensor
) -> tuple[Tensor, Tensor]:
    answers = [
        cross_attn(own_words, own_patches, pad.logical_not().expand(len(own_words), -1))
        for own_words, own_patches, pad in zip(words, patches, padding, strict=True)
    ]
    return tuple(torch.stack(part) for part in zip(*answers, strict=True))
