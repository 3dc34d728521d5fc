"""Matching image patches to words: the experiment that shows what alignment is.

Ten fixed random vectors stand for the ten digit words. A patch is matched right if the word nearest to it, by cosine
similarity, is its own. Axes: N patches of 64 pixels, 10 words.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.alignment import alignment_loss
from attention.data.digits import digits


def word_vectors(seed: int, d_text: int = 32) -> Tensor:
    """Return ten random directions, fixed: (10, d_text), each of length 1."""
    generator = torch.Generator().manual_seed(1000 + seed)
    return F.normalize(torch.randn(10, d_text, generator=generator), dim=-1)


def matching_accuracy(aligned: Tensor, words: Tensor, labels: Tensor) -> float:
    """Return the share of tokens (N, d) whose nearest word (V, d) is the right one (N,)."""
    similarity = F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T
    return (similarity.argmax(-1) == labels).float().mean().item()


def draw_linear(module: nn.Module, seed: int) -> None:
    """Draw every weight and bias anew, by name, as nn.Linear draws its own: one seed, one start."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, layer in sorted(module.named_modules()):
            for parameter in layer.parameters(recurse=False):
                bound = layer.weight.shape[-1] ** -0.5
                parameter.copy_((torch.rand(parameter.shape, generator=generator) * 2 - 1) * bound)


def train_aligner(aligner: nn.Module, words: Tensor, steps: int, seed: int) -> list[float]:
    """Pull each patch to its word: Adam, 1e-2, 256 patches a step. Trains in place, returns the losses."""
    device = words.device
    draw_linear(aligner, seed)
    optimizer = torch.optim.Adam(aligner.parameters(), lr=1e-2)
    patches, labels = (tensor.to(device) for tensor in digits("train"))
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(steps):
        chosen = torch.randint(len(labels), (256,), generator=generator).to(device)
        loss = alignment_loss(aligner(patches[chosen]), words, labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_words(words: Tensor, steps: int, seed: int) -> Tensor:
    """Return the opposite: pull each word to its patches, which stay as they are. Returns the moved words."""
    device = words.device
    moved = words.clone().requires_grad_()
    optimizer = torch.optim.Adam([moved], lr=1e-2)
    patches, labels = (tensor.to(device) for tensor in digits("train"))
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        chosen = torch.randint(len(labels), (256,), generator=generator).to(device)
        loss = alignment_loss(patches[chosen], moved, labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return moved.detach()
