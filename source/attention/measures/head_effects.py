"""What each head of the last cross-attention adds to an answer, measured by taking it out.

A long vector need not matter: what follows may have learned to pass over it. So we remove one head at a time and
see what happens to the answer.
Axes: B questions of one kind, T tokens of the prompt, S patches.
"""

from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention.data.tokens import Questions
from attention.measures.evaluation import looked, prompt_of


class HeadEffect(NamedTuple):
    """One head, on average over questions; at the position that gives the first word of the answer."""

    on_target: float  # its weight on the patch in question, 0…1
    length: float  # of the vector that it adds to the token
    logit: float  # what it adds to the right word's logit: with the head minus without
    without: float  # the share of first words that are right without it


def without_head(model: nn.Module, head: int) -> nn.Module:
    """Return a copy of the model in which one head of the last cross-attention adds nothing: its part of W_O is 0."""
    silent = deepcopy(model)
    cross_attn = silent.blocks[-1].cross_attn
    with torch.no_grad():
        cross_attn.W_O.weight.unflatten(1, (cross_attn.num_heads, -1))[:, head] = 0.0
    return silent


def head_effects(model: nn.Module, task: str, questions: Questions) -> list[HeadEffect]:
    """Return what each head adds to the answers to questions of one kind, one record for each head."""
    device, prompts = next(model.parameters()).device, prompt_of(task, questions)
    asked = torch.arange(len(prompts), device=device)
    right = questions.token_ids[:, prompts.shape[1]].to(device)
    cells = questions.cells[:, 0].to(device)
    prompts, patches = prompts.to(device), questions.image_patches.to(device)
    tokens, image_tokens, weights = looked(model, prompts, patches)

    def final(changed: nn.Module) -> tuple[Tensor, Tensor]:
        """Return what the cross-attention puts out for the last token (B, d_model), and the logits there.

        The shapes are (B, d_model) and (B, vocabulary).
        """
        with torch.no_grad():
            added, _ = changed.blocks[-1].cross_attn(tokens, image_tokens)
            return added[:, -1], changed(prompts, patches)[0][:, -1]

    added, logits = final(model)
    effects = []
    for head in range(weights.shape[1]):
        added_without, logits_without = final(without_head(model, head))
        effects.append(
            HeadEffect(
                on_target=weights[asked, head, -1, cells].mean().item(),
                length=(added - added_without).norm(dim=-1).mean().item(),
                logit=(logits - logits_without)[asked, right].mean().item(),
                without=(logits_without.argmax(-1) == right).float().mean().item(),
            )
        )
    return effects
