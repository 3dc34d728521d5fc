"""Lesson 3's model, open for inspection: every map it makes, and a way to change what a head hands on.

Its parameters have the names and shapes of lesson 3's `MiniVLM`, so the weights of the one fit the other. Weights come
from PyTorch's own attention, and lie on the way from the image to the answer: gradients reach them.

Axes: B questions, H heads, T text tokens, S patches.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.builtin import MultiHeadAttention, causal_mask
from attention.data.tokens import PAD


class Inside(NamedTuple):
    """What one pass computes on its way to the answer."""

    logits: Tensor  # (B, T, vocabulary)
    self_maps: list[Tensor]  # (B, H, T, T) of each block, over the words
    cross_map: Tensor  # (B, H, T, S) of the last block, over the image
    heads: Tensor  # (B, H, T, d_head) what the heads of that cross-attention hand to W_O


class Places(nn.Module):
    """A learned vector for each place."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (..., T, d_model), T ≤ n → the same shape."""
        return tokens + self.embedding.narrow(0, 0, tokens.shape[-2])


class Block(nn.Module):
    """The parts of one block; the last one of a model looks at the image."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))


class OpenVLM(nn.Module):
    """Patches and a prompt in, a score for every possible next word out; and everything in between."""

    def __init__(
        self,
        d_vision: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        vocab_size: int,
        max_tokens: int,
        num_patches: int,
    ) -> None:
        super().__init__()
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions, self.image_norm = Places(num_patches, d_model), nn.LayerNorm(d_model)
        self.embedding, self.text_positions = nn.Embedding(vocab_size, d_model), Places(max_tokens, d_model)
        last = num_layers - 1
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff, n == last) for n in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        """As lesson 3's model: logits (B, T, vocabulary), and a list with the map over the image (B, H, T, S)."""
        seen = self.inside(token_ids, image_patches)
        return seen.logits, [seen.cross_map]

    def inside(
        self, token_ids: Tensor, image_patches: Tensor, edit: Callable[[Tensor], Tensor] | None = None
    ) -> Inside:
        """Run one pass, and return all that it computes.

        Args:
            token_ids: (B, T)
            image_patches: (B, S, d_vision)
            edit: called with what the heads of the cross-attention hand on, (B, H, T, d_head); what it returns, of the
                same shape, goes on in its place.
        """
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        self_maps = []
        for block in self.blocks:
            words = block.norm1(text)
            weights, handed = heads_of(block.self_attn, words, words, mask)
            self_maps.append(weights)
            text = text + joined(block.self_attn, handed)
            if block.cross_attn is not None:
                cross_map, heads = heads_of(block.cross_attn, block.norm2(text), image)
                heads = heads if edit is None else edit(heads)
                text = text + joined(block.cross_attn, heads)
            text = text + block.ffn(block.norm3(text))
        return Inside(self.head(self.norm(text)), self_maps, cross_map, heads)


def heads_of(layer: nn.Module, tokens: Tensor, context: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return the maps of a layer's heads, and what each head brings back.

    Args:
        layer: a MultiHeadAttention.
        tokens: (..., T, d_model)
        context: (..., S, d_model)
        mask: bool, (T, S); True = may attend.

    Returns:
        weights (..., H, T, S), and weights times values (..., H, T, d_head).
    """
    query, key, value = (
        linear(given).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for linear, given in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    each = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device).expand(*key.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(query, key, each, attn_mask=mask)  # the identity shows the weights
    return weights, weights @ value


def joined(layer: nn.Module, heads: Tensor) -> Tensor:
    """Return what a layer adds to its tokens: heads (..., H, T, d_head) → (..., T, d_model)."""
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))


def answer_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, Tensor, Tensor]) -> float:
    """Take one step of training, and return the loss before it."""
    token_ids, prompt_lengths, image_patches = batch
    before, after = token_ids[:, :-1], token_ids[:, 1:]
    place = torch.arange(after.shape[1], device=after.device)
    answered = (place + 1 >= prompt_lengths[:, None]) & (after != PAD)
    logits, _ = model(before, image_patches)
    loss = F.cross_entropy(logits[answered], after[answered])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
