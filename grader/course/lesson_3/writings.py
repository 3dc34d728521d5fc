"""Other right ways to write lesson 3's exercises, as students write them. Some mistakes are edits of these."""

import math

import torch
from attention.training import shift_targets
from torch import Tensor, nn
from torch.nn import functional as F


def patches_in_loops(images: Tensor, patch_size: int) -> Tensor:
    """Return the patches of images, cut out one square after the other."""
    height, width = images.shape[-2:]
    if height % patch_size or width % patch_size:
        raise ValueError("patch_size does not divide the image")
    patches = []
    for row in range(0, height, patch_size):
        for column in range(0, width, patch_size):
            square = images[..., row : row + patch_size, column : column + patch_size]
            patches.append(square.flatten(-2))
    return torch.stack(patches, dim=-2)


def map_in_loop(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """Return the value-weighted map: the lengths of the vectors that patches add to tokens, summed over the heads."""
    weights = cross_attn(tokens, image_tokens)[1]
    value = cross_attn.W_V(image_tokens)
    width = value.shape[-1] // cross_attn.num_heads
    total = torch.zeros(())
    for head in range(cross_attn.num_heads):
        part = slice(head * width, (head + 1) * width)
        brought = value[..., part] @ cross_attn.W_O.weight[:, part].transpose(-2, -1)
        total = total + weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)
    return total.norm(dim=-1)


def swap_by_index(image_patches: Tensor, first: int | Tensor, second: int | Tensor) -> Tensor:
    """Return a copy of the patches in which both patches are exchanged."""
    scene = torch.arange(len(image_patches), device=image_patches.device)
    swapped = image_patches.clone()
    swapped[scene, first] = image_patches[scene, second]
    swapped[scene, second] = image_patches[scene, first]
    return swapped


def diagnose_in_one(model: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> list[str]:
    """Return the findings about a model, determined one after the other without helpers."""
    token_ids, prompt_lengths, image_patches = batch
    targets = shift_targets(token_ids, prompt_lengths).flatten()
    found = []
    if any(not parameter.requires_grad for parameter in model.parameters()):
        found.append("frozen")
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    logits, maps = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.flatten(0, -2), targets)
    gradients = torch.autograd.grad(loss, learned, allow_unused=True) if learned else ()
    if any(gradient is None or not gradient.any() for gradient in gradients):
        found.append("no gradient")
    rows = maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]
    entropy = torch.special.entr(rows).sum(-1).mean()
    if entropy > 0.99 * math.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    with torch.no_grad():
        logits, _ = model(token_ids, image_patches.roll(1, 0))
        if F.cross_entropy(logits.flatten(0, -2), targets) < 1.01 * loss:
            found.append("misaligned")
    return found
