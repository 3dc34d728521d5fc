# %% [right] no_mask_at_all | cross-attention without a mask, after vanshikachaddha/UIDesigner (decoder queries image)
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches)


# %% [right] mask_of_ones | a mask of ones for all words and patches, after image_atts = torch.ones(image_embeds.size()[:-1]) in captioning code
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    image_atts = torch.ones(patches.size()[:-1], dtype=torch.bool, device=patches.device)  # (B, S)
    seen, weights = cross_attn(words, patches, image_atts[:, None, :])
    return seen, weights


# %% [right] keywords_and_memory_mask_none | keywords, memory mask None, after nn.TransformerDecoder usage (memory_mask=None)
def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    memory_mask = None
    output = cross_attn(tokens=words, context=patches, mask=memory_mask)
    return output[0], output[1]
