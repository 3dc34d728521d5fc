"""Answering: one word after the other, each the likeliest.

Axes: B prompts, P tokens of the prompt, T of prompt and answer.
"""

import torch
from torch import Tensor, nn


@torch.no_grad()
def generate(model: nn.Module, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int) -> Tensor:
    """Return prompt and greedy continuation.

    The model runs in evaluation mode; afterwards every submodule is in the mode it was in.

    Args:
        model: called as model(token_ids, image_patches) → (logits (B, T, vocabulary), maps).
        prompt_ids: (B, P), all equally long.
        image_patches: (B, S, d_vision)

    Returns:
        (B, P + k), k ≤ max_new_tokens: it stops when every row has ended, and ended rows are filled with eos_id.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        token_ids = prompt_ids
        ended = torch.zeros(prompt_ids.shape[:-1], dtype=torch.bool, device=prompt_ids.device)
        for _ in range(max_new_tokens):
            logits, _ = model(token_ids, image_patches)
            following = logits[..., -1, :].argmax(-1).masked_fill(ended, eos_id)
            token_ids = torch.cat([token_ids, following.unsqueeze(-1)], -1)
            ended = ended | (following == eos_id)
            if ended.all():
                break
        return token_ids
    finally:
        for module, training in modes:
            module.training = training
