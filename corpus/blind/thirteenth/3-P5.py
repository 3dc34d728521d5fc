# %% [wrong] causal_mask_again | Replaces tril by the course's causal_mask over the words, expanded to the patches: still a causal mask on an image. A word t sees only the patches 0…t, with T = 1 the first one alone.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    S, T = patches.shape[-2], words.shape[-2]
    mask = causal_mask(max(S, T), device=words.device)[:T, :S]
    return cross_attn(words, patches, mask=mask)


# %% [wrong] triu_instead_of_tril | Turns the triangle round: triu instead of tril. With one word it sees all patches and the training heals, but with more words the word t does not see the patches before t.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    T, S = words.shape[-2], patches.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=words.device).triu()
    seen, weights = cross_attn(words, patches, mask)
    return seen, weights


# %% [wrong] words_look_at_words | Leaves out the context together with the mask: cross_attn(words) is self-attention among the words. With one word its weight is 1 and its shape (B, H, T, T); the image never comes in.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(words)


# %% [wrong] residual_added_twice | Adds the words to what is seen. The text asks for what is seen; the model adds it to the words itself, so that here the residual is counted twice.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    outputs, maps = [], []
    for word, scene in zip(words, patches):
        out, w = cross_attn(word[None], scene[None])
        outputs.append(word[None] + out)
        maps.append(w)
    return torch.cat(outputs, dim=0), torch.cat(maps, dim=0)


# %% [wrong] image_asks | The arguments are swapped: patches ask and the words answer. The output is (B, S, d_model), the weights (B, H, S, T), and over a single word every softmax is 1.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    everything = torch.ones(patches.shape[-2], words.shape[-2], dtype=torch.bool, device=words.device)
    result = cross_attn(tokens=patches, context=words, mask=everything)
    return result


# %% [right] explicit_all_true | Hands over a mask (1, S) that is True everywhere, built by comparing positions, and calls with keywords.
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    place = torch.arange(patches.shape[-2], device=patches.device)
    visible = place.unsqueeze(0).ge(0)  # the whole image exists at once
    seen, where = cross_attn(tokens=words, context=patches, mask=visible)
    return seen, where
