"""Three pieces of a training, mended: how a word looks at the image, what learns, and the order of the questions.

Each has a fault that is met in practice. The faulty ones are in lesson 3, where students mend them.
"""

import torch
from torch import Tensor, nn


def look_at_image(cross_attn: nn.Module, words: Tensor, patches: Tensor) -> tuple[Tensor, Tensor]:
    """Let every word look at the whole image: no mask, since an image has no past and no future.

    Args:
        cross_attn: a MultiHeadAttention.
        words: (B, T, d_model)
        patches: (B, S, d_model)

    Returns:
        what is seen (B, T, d_model), weights (B, H, T, S).
    """
    return cross_attn(words, patches)


def start_stage_two(model: nn.Module) -> list[nn.Parameter]:
    """Thaw every parameter of a model, and return them all, for the optimizer.

    `requires_grad_` does this for a whole model. To set the attribute `model.requires_grad` changes no parameter.
    """
    model.requires_grad_(True)
    return list(model.parameters())


def shuffle_questions(token_ids: Tensor, image_patches: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Bring questions and their images into another order, one order for both.

    Args:
        token_ids: (N, T)
        image_patches: (N, S, d_vision)

    Returns:
        both, of the same shapes.
    """
    order = torch.randperm(len(token_ids), generator=generator)
    return token_ids[order], image_patches[order]
