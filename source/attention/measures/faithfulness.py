"""What the lab measures about explanations: four maps of one answer, the weights exchanged, heads put in and taken out.

Explanations speak of the word that the model says first, whether it is right or not.
Axes: B questions of one kind, H heads, T tokens of the prompt, S patches.
"""

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from attention.measures.evaluation import BLANK_PATCH
from attention.open_vlm import OpenVLM


def value_weighted(model: OpenVLM, image_patches: Tensor, cross_map: Tensor) -> Tensor:
    """Return lesson 3's value-weighted map: how long a vector each patch adds to each token, over all heads together.

    Args:
        image_patches: (B, S, d_vision)
        cross_map: (B, H, T, S)

    Returns:
        (B, T, S)
    """
    layer = model.blocks[-1].cross_attn
    image = model.image_norm(model.image_positions(model.aligner(image_patches)))
    value = layer.W_V(image).unflatten(-1, (layer.num_heads, -1))  # (B, S, H, d_head)
    slices = layer.W_O.weight.unflatten(-1, (layer.num_heads, -1))  # (d_model, H, d_head)
    return torch.einsum("bhts,bshk,dhk->btsd", cross_map, value, slices).norm(dim=-1)


def four_maps(
    model: OpenVLM,
    prompts: Tensor,
    image_patches: Tensor,
    attention_rollout: Callable[..., Tensor],
    gradient_attention: Callable[..., Tensor],
) -> dict[str, Tensor]:
    """Return four explanations of the first word that the model says, by name: maps (B, S) over the patches."""
    seen = model.inside(prompts, image_patches)
    score = seen.logits[:, -1].amax(-1)  # the logit of the word that it says
    cross_map, self_maps = seen.cross_map.detach(), [weights.detach() for weights in seen.self_maps]
    maps = {
        "head average": cross_map.mean(-3),
        "value-weighted": value_weighted(model, image_patches, cross_map),
        "rollout": attention_rollout(self_maps, cross_map),
        "gradient × attention": gradient_attention(seen.cross_map, score),
    }
    return {name: found[:, -1].detach() for name, found in maps.items()}


def first_word(model: OpenVLM, prompts: Tensor, image_patches: Tensor) -> Tensor:
    """Return the word that the model says first: (B,)."""
    with torch.no_grad():
        return model(prompts, image_patches)[0][:, -1].argmax(-1)


def probability_of(model: OpenVLM, prompts: Tensor, words: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a score: called with image patches (B, S, d_vision).

    It returns the probability of each word, (B,), of words (B,).
    """

    def score(image_patches: Tensor) -> Tensor:
        with torch.no_grad():
            following = model(prompts, image_patches)[0][:, -1].softmax(-1)
        return following.gather(1, words.unsqueeze(1)).squeeze(1)

    return score


def with_weights(model: OpenVLM, prompts: Tensor, image_patches: Tensor, change: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the word that the model says first when its attention over the image is changed: (B,).

    Args:
        change: called with the weights (B, H, T, S), returns those that are used in their place.
    """
    seen = model.inside(prompts, image_patches)
    layer = model.blocks[-1].cross_attn
    image = model.image_norm(model.image_positions(model.aligner(image_patches)))
    value = layer.W_V(image).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)  # (B, H, S, d_head)
    with torch.no_grad():
        logits = model.inside(prompts, image_patches, lambda _: change(seen.cross_map) @ value).logits
    return logits[:, -1].argmax(-1)


def shuffled(heads: Collection[int], seed: int = 7) -> Callable[[Tensor], Tensor]:
    """Return a change of weights (B, H, T, S).

    In these heads they go to other patches, in a random order for each scene.
    """

    def change(weights: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        order = torch.rand(weights.shape[0], weights.shape[-1], generator=generator).argsort(1)
        moved = weights.gather(-1, order.to(weights.device)[:, None, None].expand_as(weights))
        chosen = torch.tensor([head in heads for head in range(weights.shape[1])], device=weights.device)
        return torch.where(chosen[:, None, None], moved, weights)

    return change


def taken_out(heads: Collection[int]) -> Callable[[Tensor], Tensor]:
    """Return an edit of what the heads hand on (B, H, T, d_head): these heads hand on nothing."""

    def edit(handed: Tensor) -> Tensor:
        kept = torch.tensor([head not in heads for head in range(handed.shape[1])], device=handed.device)
        return handed * kept[:, None, None]

    return edit


def put_in_and_taken_out(
    model: OpenVLM, patch_head: Callable[..., Tensor], prompts: Tensor, clean: Tensor, twin: Tensor
) -> dict[str, list[float]]:
    """Return what each head can do alone, and what the others can do without it, as shares of the scenes.

    Only scenes count whose twin is answered with another word.

    Args:
        patch_head: as in exercise 6.4.
        clean, twin: image patches (B, S, d_vision).

    Returns:
        For each head, "put in": with its output from the clean scene the twin gets the clean scene's answer;
        "taken out": without it the clean scene loses its answer; "alone": all other heads hand on nothing, and the
        clean scene keeps its answer.
    """
    wanted = first_word(model, prompts, clean)
    counts = wanted != first_word(model, prompts, twin)
    heads = range(model.blocks[-1].cross_attn.num_heads)

    def share(logits: Tensor) -> float:
        return (logits[:, -1].argmax(-1) == wanted)[counts].float().mean().item()

    def without(gone: Collection[int]) -> float:
        return share(model.inside(prompts, clean, taken_out(gone)).logits)

    with torch.no_grad():
        return {
            "put in": [share(patch_head(model, head, prompts, clean, twin)) for head in heads],
            "taken out": [1 - without([head]) for head in heads],
            "alone": [without([one for one in heads if one != head]) for head in heads],
        }


def effects_of(score: Callable[[Tensor], Tensor], image_patches: Tensor) -> Tensor:
    """Return how much the score of each scene falls when one patch is blanked: (B, S)."""
    whole, places = score(image_patches), range(image_patches.shape[1])
    return torch.stack([whole - score(_blanked(image_patches, place)) for place in places], 1)


def _blanked(image_patches: Tensor, place: int) -> Tensor:
    changed = image_patches.clone()
    changed[:, place] = BLANK_PATCH.to(image_patches)
    return changed


def rank_correlation(one: Tensor, other: Tensor) -> Tensor:
    """Return Kendall's τ of the rows of two tensors (B, n).

    It is the share of pairs in the same order minus that in the other, (B,).

    Kendall 1938, https://doi.org/10.1093/biomet/30.1-2.81; a pair that is equal in one of them counts for neither.
    """
    first, second = ((rows.unsqueeze(1) - rows.unsqueeze(2)).sign() for rows in (one, other))
    return (first * second).sum((1, 2)) / (one.shape[1] * (one.shape[1] - 1))
