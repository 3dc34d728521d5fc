"""Answering with a cache: each word goes through the model once.

Axes: B prompts, P tokens of the prompt, T new tokens, S image tokens.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def read_on(
    model: nn.Module, attend: Callable, token_ids: Tensor, image_tokens: Tensor, start: int, caches: list
) -> Tensor:
    """Return the scores for the word after the last of these tokens: (B, vocab_size). `caches` is brought up to date.

    Args:
        model: a MiniVLM.
        attend: called as attend(layer, tokens, cache) → (output, cache), for each self-attention.
        token_ids: (B, T), the tokens that the model has not read yet.
        start: how many it has read.
        caches: one for each block; None before the first call.
    """
    places = model.text_positions.embedding[start : start + token_ids.shape[1]]
    tokens = model.embedding(token_ids) + places
    for layer, block in enumerate(model.blocks):
        output, caches[layer] = attend(block.self_attn, block.norm1(tokens), caches[layer])
        tokens = tokens + output
        if block.cross_attn is not None:
            tokens = tokens + block.cross_attn(block.norm2(tokens), image_tokens)[0]
        tokens = tokens + block.ffn(block.norm3(tokens))
    return model.head(model.norm(tokens[:, -1]))


@torch.no_grad()
def generate_with_cache(
    model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int, attend: Callable
) -> Tensor:
    """Return prompt and greedy continuation, as `generate` gives; the image and each word are read once.

    Args:
        model: a MiniVLM, in evaluation mode.
        prompt_ids: (B, P), all equally long.
        image_patches: (B, S, d_vision)
        attend: called as attend(layer, tokens, cache) → (output, cache), for each self-attention.

    Returns:
        (B, P + k), k ≤ max_new_tokens: it stops when every row has ended, and ended rows are filled with eos_id.
    """
    image_tokens = model.image_norm(model.image_positions(model.aligner(image_patches)))
    token_ids, caches, read = prompt_ids, [None] * len(model.blocks), 0
    ended = torch.zeros(len(prompt_ids), dtype=torch.bool, device=prompt_ids.device)
    for _ in range(max_new_tokens):
        logits = read_on(model, attend, token_ids[:, read:], image_tokens, read, caches)
        read = token_ids.shape[1]
        following = logits.argmax(-1).masked_fill(ended, eos_id)
        token_ids = torch.cat([token_ids, following.unsqueeze(1)], 1)
        ended = ended | (following == eos_id)
        if ended.all():
            break
    return token_ids
