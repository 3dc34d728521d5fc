"""Wrong answers to exercise 3.4: models with an error in one part of the forward pass."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from attention.masks import causal_mask
from attention.vlm import MiniVLM
from torch import Tensor

from grader.declaration.exercise import mistake


class _PartsOfAModel(MiniVLM):
    """The right model, with a method for each part; a wrong answer that inherits it overrides one."""

    def forward(self, token_ids, image_patches):
        tokens, maps = self.text(token_ids), []
        image_tokens, mask = self.image(image_patches), self.mask(token_ids.shape[-1])
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            maps.append(weights)
        return self.head(self.last_norm(tokens)), self.returned(maps)

    def text(self, token_ids: Tensor) -> Tensor:
        """Embed the words and add their positions."""
        return self.text_positions(self.embedding(token_ids))

    def image(self, image_patches: Tensor) -> Tensor:
        """Align the patches, add their positions, and normalise."""
        return self.image_norm(self.image_positions(self.aligner(image_patches)))

    def mask(self, count: int) -> Tensor | None:
        """Make the mask of the self-attention over `count` words."""
        return causal_mask(count)

    def last_norm(self, tokens: Tensor) -> Tensor:
        return self.norm(tokens)

    def returned(self, maps: Iterable[Tensor | None]) -> list:
        """Choose the maps that `forward` returns; a block without cross-attention has None."""
        return [weights for weights in maps if weights is not None]


@mistake(
    "MiniVLM", "Only the last map comes back. Return a list with one map for each block that cross-attends."
)
class LastMapOnly(MiniVLM):
    def forward(self, token_ids, image_patches):
        logits, maps = super().forward(token_ids, image_patches)
        return logits, maps[-1:]


@mistake("MiniVLM", "A word sees the words after it. Hand the blocks causal_mask(T).")
class NoCausalMask(_PartsOfAModel):
    def mask(self, count):
        return None


@mistake("MiniVLM", "The causal mask is turned around: True = may attend, so no ~.")
class CausalMaskInverted(_PartsOfAModel):
    def mask(self, count):
        return ~causal_mask(count)


@mistake("MiniVLM", "A word may not see itself here: the causal mask includes the diagonal.")
class CausalMaskStrict(_PartsOfAModel):
    def mask(self, count):
        return causal_mask(count).tril(-1)


@mistake("MiniVLM", "The words have no positions: text_positions is not used.")
class TextWithoutPositions(_PartsOfAModel):
    def text(self, token_ids):
        return self.embedding(token_ids)


@mistake(
    "MiniVLM", "The patches have no positions: image_positions is not used, so the model cannot say where."
)
class ImageWithoutPositions(_PartsOfAModel):
    def image(self, image_patches):
        return self.image_norm(self.aligner(image_patches))


@mistake("MiniVLM", "The image tokens are not normalised: image_norm comes last, after the positions.")
class ImageWithoutNorm(_PartsOfAModel):
    def image(self, image_patches):
        return self.image_positions(self.aligner(image_patches))


@mistake(
    "MiniVLM", "Norm and positions are in the wrong order: image_norm(image_positions(aligner(patches)))."
)
class ImageNormTooEarly(_PartsOfAModel):
    def image(self, image_patches):
        return self.image_positions(self.image_norm(self.aligner(image_patches)))


@mistake("MiniVLM", "The patches go in unaligned, at the image's own width. The aligner comes first.")
class ImageNotAligned(_PartsOfAModel):
    def image(self, image_patches):
        return self.image_norm(self.image_positions(image_patches))


@mistake("MiniVLM", "The last norm is missing: logits = head(norm(tokens)).")
class LastNormMissing(_PartsOfAModel):
    def last_norm(self, tokens):
        return tokens


@mistake(
    "MiniVLM", "The last norm stands after every block. It comes once, after all of them: head(norm(tokens))."
)
class NormAfterEveryBlock(_PartsOfAModel):
    def forward(self, token_ids, image_patches):
        tokens, maps = self.text(token_ids), []
        image_tokens, mask = self.image(image_patches), self.mask(token_ids.shape[-1])
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            tokens = self.norm(tokens)
            maps.append(weights)
        return self.head(tokens), self.returned(maps)


@mistake("MiniVLM", "Every block reads the words afresh: hand each block what the one before it returned.")
class BlocksSideBySide(_PartsOfAModel):
    def forward(self, token_ids, image_patches):
        text, image_tokens, mask = (
            self.text(token_ids),
            self.image(image_patches),
            self.mask(token_ids.shape[-1]),
        )
        outputs = [block(text, image_tokens, mask) for block in self.blocks]
        return self.head(self.norm(outputs[-1][0])), self.returned(weights for _, weights in outputs)


@mistake(
    "MiniVLM",
    "The list holds a None for each block that does not look. Only blocks that cross-attend have a map.",
    slip=True,
)
class NoneAmongTheMaps(_PartsOfAModel):
    def returned(self, maps):
        return maps


@mistake(
    "MiniVLM",
    "The maps are put together into one tensor. Return them as a list, which may also be empty.",
    slip=True,
)
class StackedMaps(_PartsOfAModel):
    def returned(self, maps):
        found = super().returned(maps)
        return torch.stack(found) if found else torch.empty(0)


@mistake(
    "MiniVLM",
    "The maps are cut off from the gradient: return them as the blocks give them, without detach().",
)
class DetachedMaps(_PartsOfAModel):
    def returned(self, maps):
        return [weights.detach() for weights in super().returned(maps)]


@mistake("MiniVLM", "These are probabilities. Return the logits; the loss makes its own softmax.")
class SoftmaxOnTop(MiniVLM):
    def forward(self, token_ids, image_patches):
        logits, maps = super().forward(token_ids, image_patches)
        return torch.softmax(logits, -1), maps


@mistake("MiniVLM", "Only the last position is scored. Every position predicts its next word.")
class LastPositionOnly(MiniVLM):
    def forward(self, token_ids, image_patches):
        logits, maps = super().forward(token_ids, image_patches)
        return logits[..., -1, :], maps
