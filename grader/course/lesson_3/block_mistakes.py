"""Wrong answers to exercise 3.3: blocks with an error in the mask, in a step, or in their order."""

from __future__ import annotations

from attention.vlm import VisionLanguageBlock
from torch import Tensor

from grader.declaration.exercise import mistake


class _StepsOfABlock(VisionLanguageBlock):
    """The right block, with a method for each step; the wrong answers below override some of them."""

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = self.cross_step(self.self_step(text_tokens, mask), image_tokens)
        return self.ffn_step(tokens), weights

    def self_step(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        return tokens + self.attend_self(self.norm1(tokens), mask)

    def cross_step(self, tokens: Tensor, image_tokens: Tensor | None) -> tuple[Tensor, Tensor | None]:
        seen, weights = self.attend_image(self.apply_norm2(tokens), image_tokens)
        return tokens + seen, weights

    def ffn_step(self, tokens: Tensor) -> Tensor:
        return tokens + self.ffn(self.norm3(tokens))

    def attend_self(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        return self.self_attn(tokens, mask=mask)[0]

    def attend_image(self, tokens: Tensor, image_tokens: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Attend to the image; return zeros and None in a block without cross-attention."""
        return (0.0 * tokens, None) if self.cross_attn is None else self.cross_attn(tokens, image_tokens)

    def apply_norm2(self, tokens: Tensor) -> Tensor:
        """Apply norm2; return the tokens as they are in a block without it."""
        return tokens if self.norm2 is None else self.norm2(tokens)


@mistake(
    "VisionLanguageBlock",
    "With cross=False there is nothing to look with: cross_attn and norm2 are None then.",
)
class AlwaysCross(_StepsOfABlock):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__(d_model, num_heads, d_ff, cross=True)

    def cross_step(self, tokens, image_tokens):
        return (tokens, None) if image_tokens is None else super().cross_step(tokens, image_tokens)


@mistake(
    "VisionLanguageBlock",
    "A block with cross=False may be handed an image, too: ask whether self.cross_attn is None, not whether there is an image.",
)
class LooksIfThereIsAnImage(_StepsOfABlock):
    def cross_step(self, tokens, image_tokens):
        if image_tokens is None:
            return tokens, None
        seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        return tokens + seen, weights


@mistake("VisionLanguageBlock", "The mask is not used: the self-attention needs it.", name="mask_forgotten")
class BlockForgetsMask(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens)


@mistake(
    "VisionLanguageBlock",
    "The mask is turned around. True = may attend: hand it on as it is, without ~.",
    name="mask_inverted",
)
class BlockInvertsMask(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens, None if mask is None else ~mask)


@mistake(
    "VisionLanguageBlock",
    "The self-attention replaces the tokens: add its output to them (the first residual).",
)
class SelfWithoutResidual(_StepsOfABlock):
    def self_step(self, tokens, mask):
        return self.attend_self(self.norm1(tokens), mask)


@mistake(
    "VisionLanguageBlock",
    "The cross-attention replaces the tokens: add its output to them (the second residual).",
)
class CrossWithoutResidual(_StepsOfABlock):
    def cross_step(self, tokens, image_tokens):
        seen, weights = self.attend_image(self.apply_norm2(tokens), image_tokens)
        return (tokens if weights is None else seen), weights


@mistake(
    "VisionLanguageBlock",
    "The feed-forward replaces the tokens: add its output to them (the third residual).",
)
class FfnWithoutResidual(_StepsOfABlock):
    def ffn_step(self, tokens):
        return self.ffn(self.norm3(tokens))


@mistake("VisionLanguageBlock", "No residual at all: each step should add to the tokens, not replace them.")
class NoResiduals(CrossWithoutResidual):
    def self_step(self, tokens, mask):
        return self.attend_self(self.norm1(tokens), mask)

    def ffn_step(self, tokens):
        return self.ffn(self.norm3(tokens))


@mistake(
    "VisionLanguageBlock", "The tokens are added twice. One residual for each step, nothing more at the end."
)
class DoubledResidual(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = super().forward(text_tokens, image_tokens, mask)
        return tokens + text_tokens, weights


@mistake(
    "VisionLanguageBlock",
    "Each step adds its tokens twice, inside and outside: x + (x + step(x)). One residual for each step.",
)
class StepsDoubled(_StepsOfABlock):
    def self_step(self, tokens, mask):
        return tokens + super().self_step(tokens, mask)

    def cross_step(self, tokens, image_tokens):
        sum_, weights = super().cross_step(tokens, image_tokens)
        return (tokens if weights is None else tokens + sum_), weights

    def ffn_step(self, tokens):
        return tokens + super().ffn_step(tokens)


@mistake(
    "VisionLanguageBlock",
    "This is post-norm: the sum is normalised. In pre-norm each step reads a normalised copy.",
)
class PostNorm(_StepsOfABlock):
    def self_step(self, tokens, mask):
        return self.norm1(tokens + self.attend_self(tokens, mask))

    def cross_step(self, tokens, image_tokens):
        seen, weights = self.attend_image(tokens, image_tokens)
        return self.apply_norm2(tokens + seen), weights

    def ffn_step(self, tokens):
        return self.norm3(tokens + self.ffn(tokens))


@mistake(
    "VisionLanguageBlock",
    "The residual carries the normalised tokens. Add to the tokens as they were before the norm.",
)
class ResidualFromTheNorm(_StepsOfABlock):
    def self_step(self, tokens, mask):
        tokens = self.norm1(tokens)
        return tokens + self.attend_self(tokens, mask)

    def cross_step(self, tokens, image_tokens):
        tokens = self.apply_norm2(tokens)
        seen, weights = self.attend_image(tokens, image_tokens)
        return tokens + seen, weights

    def ffn_step(self, tokens):
        tokens = self.norm3(tokens)
        return tokens + self.ffn(tokens)


@mistake("VisionLanguageBlock", "Nothing is normalised: norm1, norm2 and norm3 each stand before their step.")
class WithoutNorms(_StepsOfABlock):
    def self_step(self, tokens, mask):
        return tokens + self.attend_self(tokens, mask)

    def apply_norm2(self, tokens):
        return tokens

    def ffn_step(self, tokens):
        return tokens + self.ffn(tokens)


@mistake(
    "VisionLanguageBlock",
    "The image is asked before the text has looked at itself. Self-attention comes first.",
)
class CrossBeforeSelf(_StepsOfABlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = self.cross_step(text_tokens, image_tokens)
        return self.ffn_step(self.self_step(tokens, mask)), weights


@mistake(
    "VisionLanguageBlock",
    "Self- and cross-attention both read the tokens that came in: the second should read the sum.",
)
class SideBySide(_StepsOfABlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.attend_image(self.apply_norm2(text_tokens), image_tokens)
        return self.ffn_step(self.self_step(text_tokens, mask) + seen), weights


@mistake(
    "VisionLanguageBlock",
    "The image tokens are normalised here. The block takes them as they come; norm2 is the text's.",
)
class ImageNormalised(_StepsOfABlock):
    def cross_step(self, tokens, image_tokens):
        return super().cross_step(tokens, None if image_tokens is None else self.apply_norm2(image_tokens))


@mistake(
    "VisionLanguageBlock",
    "The image asks and the text answers. Queries come from the text: cross_attn(text, image).",
    name="image_asks",
)
class ImageAsksInBlock(_StepsOfABlock):
    def attend_image(self, tokens, image_tokens):
        swapped = (image_tokens, tokens) if self.cross_attn is not None else (tokens, image_tokens)
        return super().attend_image(*swapped)


@mistake(
    "VisionLanguageBlock", "The cross-attention never sees the image: hand it image_tokens as its context."
)
class ImageUnseen(_StepsOfABlock):
    def attend_image(self, tokens, image_tokens):
        return super().attend_image(tokens, None)


@mistake(
    "VisionLanguageBlock", "One norm is used for all three steps; each step has its own: norm1, norm2, norm3."
)
class OneNorm(_StepsOfABlock):
    def apply_norm2(self, tokens):
        return self.norm1(tokens)

    def ffn_step(self, tokens):
        return tokens + self.ffn(self.norm1(tokens))


@mistake("VisionLanguageBlock", "The feed-forward step is missing: after attention comes x + ffn(norm3(x)).")
class FfnMissing(_StepsOfABlock):
    def ffn_step(self, tokens):
        return tokens


@mistake("VisionLanguageBlock", "The weights that come back are averaged over the heads. Return all of them.")
class HeadsAveraged(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = super().forward(text_tokens, image_tokens, mask)
        return tokens, None if weights is None else weights.mean(-3)


@mistake(
    "VisionLanguageBlock",
    "A block looks at the image unless it is told otherwise: cross=True is the default.",
)
class TextOnlyByDefault(VisionLanguageBlock):
    def __init__(self, d_model, num_heads, d_ff, cross=False):
        super().__init__(d_model, num_heads, d_ff, cross)
