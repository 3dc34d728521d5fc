"""Training a vision-language model to answer: which tokens are targets, and one step.

Axes: B sequences, T tokens.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def shift_targets(token_ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0, ignore_index: int = -100) -> Tensor:
    """Return what each position should predict: the next token, where that token belongs to the answer.

    Args:
        token_ids: (B, T): prompt, answer, end of sequence, padding.
        prompt_lengths: (B,) integers, at least 1.

    Returns:
        (B, T): the next token from the last position of the prompt on, so the first word of the answer and the end
        of sequence are targets; ignore_index in the prompt before that, before padding, and in the last column.
    """
    following = F.pad(token_ids[..., 1:], (0, 1), value=pad_id)
    position = torch.arange(token_ids.shape[-1], device=token_ids.device)
    answers = (position >= prompt_lengths.unsqueeze(-1) - 1) & (following != pad_id)
    answers = answers & (position < token_ids.shape[-1] - 1)
    return following.masked_fill(~answers, ignore_index)


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, Tensor, Tensor]) -> float:
    """Update the model on one batch.

    Args:
        batch: token_ids (B, T), prompt_lengths (B,), image_patches (B, S, d_vision).

    Returns:
        The loss before the update: mean cross-entropy over all targets of the batch.
    """
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
