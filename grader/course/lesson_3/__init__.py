"""Lesson 3, declared: a small vision-language model."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.diagnostics import diagnose
from attention.efficient import fused_forward, linear_attention, sliding_window_attention
from attention.generation import generate
from attention.grounding import value_weighted_map
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from attention.patches import patchify, swap_patches
from attention.positions import PositionEmbedding
from attention.training import shift_targets, train_step
from attention.vlm import MiniVLM, VisionLanguageBlock
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course.lesson_3.trained_model import draw_held_out, judge_answers, judge_maps
from grader.declaration.exercise import Check, Exercise, mistake
from grader.declaration.lesson import Lesson
from grader.declaration.probes import load, pair, purity_and_gradients, strided
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Value

CONDUCT = "gradients flow, float64 stays float64, inputs stay as they are"


def draw_weights(
    draw: InputSampler, layer: nn.Module, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Random weights by parameter name. Nothing is left at a special value: norms are not 1, biases are not 0."""

    def one(name: str, parameter: Tensor) -> Tensor:
        if name.endswith("weight") and "norm" in name:
            return 1 + draw.normal(*parameter.shape, scale=0.4, dtype=dtype)
        wide = parameter.ndim > 1 and "embedding" not in name
        return draw.normal(
            *parameter.shape, scale=1.2 / parameter.shape[-1] ** 0.5 if wide else 0.7, dtype=dtype
        )

    return {name: one(name, parameter) for name, parameter in layer.named_parameters()}


def make(build, *sizes, **options) -> nn.Module:
    """A reference layer, built for the names and shapes of its parameters; the global random state is left alone."""
    with torch.random.fork_rng(devices=[]):
        return build(*sizes, **options)


# ---------------------------------------------------------------- 3.1 patchify


def draw_images(
    draw: InputSampler, *, images: int, height: int, width: int, patch_size: int, dtype=torch.float32
) -> Inputs:
    return {"images": draw.normal(images, height, width, dtype=dtype), "patch_size": patch_size}


def draw_images_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_images(draw, **sizes)
    shape = patchify(**inputs).shape
    return {**inputs, "along": torch.randn(shape, generator=draw.generator, dtype=torch.float64)}


def patchify_values(patchify, images: Tensor, patch_size: int) -> Mapping[str, Value]:
    return {"patches": patchify(images, patch_size)}


def patchify_refuses(patchify, images: Tensor, patch_size: int) -> Mapping[str, Value]:
    try:
        patchify(images, patch_size)
    except ValueError:
        return {"a ValueError came": True}
    return {"a ValueError came": False}


def patchify_conduct(patchify, images: Tensor, patch_size: int, along: Tensor) -> Mapping[str, Value]:
    def call(images: Tensor) -> dict[str, Tensor]:
        return {"patches": patchify(images=strided(images), patch_size=patch_size)}

    return purity_and_gradients(call, {"images": images}, {"patches": along})


def _grid(images: Tensor, size: int) -> Tensor:
    """(B, rows, columns, size, size)"""
    return images.unfold(-2, size, size).unfold(-2, size, size)


@mistake(
    "patchify",
    "The patches come column by column. Keep the rows of patches outside: all of the top row first.",
)
def patches_in_columns(images: Tensor, patch_size: int) -> Tensor:
    return _grid(images, patch_size).transpose(1, 2).flatten(1, 2).flatten(-2)


@mistake("patchify", "Within a patch the pixels come column by column; read them row by row.")
def pixels_in_columns(images: Tensor, patch_size: int) -> Tensor:
    return _grid(images, patch_size).flatten(1, 2).transpose(-1, -2).flatten(-2)


@mistake(
    "patchify",
    "A reshape alone cuts strips, not squares: give rows and columns an axis each, then swap two axes.",
)
def reshape_alone(images: Tensor, patch_size: int) -> Tensor:
    return images.reshape(len(images), -1, patch_size**2)


@mistake(
    "patchify",
    "The two axes that change places are the wrong ones: a patch mixes pixels from the whole image.",
)
def wrong_axes(images: Tensor, patch_size: int) -> Tensor:
    count, height, width = images.shape
    grid = images.reshape(count, patch_size, height // patch_size, patch_size, width // patch_size)
    return grid.permute(0, 2, 4, 1, 3).reshape(count, -1, patch_size**2)


@mistake("patchify", "What does not divide is cut off in silence. Raise a ValueError instead.")
def cuts_off(images: Tensor, patch_size: int) -> Tensor:
    return _grid(images, patch_size).flatten(1, 2).flatten(-2)


@mistake("patchify", "One side is checked, the other is not: height and width must both divide.")
def checks_height_only(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-2] % patch_size:
        raise ValueError("the height does not divide")
    return _grid(images, patch_size).flatten(1, 2).flatten(-2)


@mistake("patchify", "One side is checked, the other is not: height and width must both divide.")
def checks_width_only(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-1] % patch_size:
        raise ValueError("the width does not divide")
    return _grid(images, patch_size).flatten(1, 2).flatten(-2)


PATCHIFY = Exercise(
    id="3.1",
    title="An image as a sequence",
    reference=(patchify,),
    points=10,
    difficulty=1,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="patches row by row, pixels row by row",
            points=7,
            probe=patchify_values,
            examples=trials(draw_images, dict(images=1, height=4, width=6, patch_size=2)),
            trials=trials(
                draw_images,
                dict(images=2, height=6, width=10, patch_size=2),
                dict(images=3, height=15, width=9, patch_size=3),
                dict(images=1, height=5, width=5, patch_size=5),
                dict(images=2, height=3, width=2, patch_size=1),
            ),
        ),
        Check(
            name="refuses",
            title="a ValueError where patches do not fit",
            points=2,
            needs=("values",),
            probe=patchify_refuses,
            examples=trials(
                draw_images,
                dict(images=1, height=4, width=5, patch_size=2),
                dict(images=1, height=5, width=4, patch_size=2),
            ),
            # 7·10 pixels do hold patches of 5·2; both sides have to divide.
            trials=trials(
                draw_images,
                dict(images=2, height=6, width=7, patch_size=3),
                dict(images=2, height=7, width=6, patch_size=3),
                dict(images=1, height=2, width=9, patch_size=6),
                dict(images=1, height=12, width=3, patch_size=6),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=patchify_conduct,
            trials=trials(
                draw_images_along, dict(images=2, height=6, width=9, patch_size=3, dtype=torch.float64)
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            cuts_off,
            checks_height_only,
            checks_width_only,
            patches_in_columns,
            pixels_in_columns,
            reshape_alone,
            wrong_axes,
        )
    ),
    review="From pixels to patches",
)

# ---------------------------------------------------------------- 3.2 PositionEmbedding


def draw_positions(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    n: int,
    d_model: int,
    dtype=torch.float32,
) -> Inputs:
    return {
        "n": n,
        "d_model": d_model,
        "positions": draw.normal(n, d_model, dtype=dtype),
        "tokens": draw.normal(*batch_shape, tokens, d_model, dtype=dtype),
    }


def draw_positions_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_positions(draw, **sizes)
    return {
        **inputs,
        "along": torch.randn(inputs["tokens"].shape, generator=draw.generator, dtype=torch.float64),
    }


def positions_values(PositionEmbedding, n: int, d_model: int, positions: Tensor, tokens: Tensor):
    layer = load(PositionEmbedding(n, d_model), {"embedding": positions})
    return {"output": layer(tokens)}


def positions_parameters(PositionEmbedding, n: int, d_model: int) -> Mapping[str, Value]:
    layer = PositionEmbedding(n=n, d_model=d_model)
    return {
        "parameters": sorted(name for name, _ in layer.named_parameters()),
        "shape": list(layer.embedding.shape),
        "learned": all(parameter.requires_grad for parameter in layer.parameters()),
    }


def positions_conduct(
    PositionEmbedding, n: int, d_model: int, positions: Tensor, tokens: Tensor, along: Tensor
):
    layer = load(PositionEmbedding(n, d_model), {"embedding": positions})

    def call(tokens: Tensor) -> dict[str, Tensor]:
        return {"output": layer(tokens=strided(tokens))}

    return purity_and_gradients(call, {"tokens": tokens}, {"output": along}, dict(layer.named_parameters()))


def draw_position_sizes(draw: InputSampler, *, n: int, d_model: int) -> Inputs:
    return {"n": n, "d_model": d_model}


class _Positions(nn.Module):
    """What the mistakes of 3.2 have in common: the parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))


@mistake(
    "PositionEmbedding", "The positions replace the tokens here. Add the two, so that both meanings stay."
)
class PositionsAlone(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding[: tokens.shape[-2]].expand_as(tokens)


@mistake("PositionEmbedding", "The tokens come back as they went in: add self.embedding.")
class PositionsMissing(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + 0.0 * self.embedding[: tokens.shape[-2]]


@mistake(
    "PositionEmbedding", "All tokens get one and the same vector; give each its own row of self.embedding."
)
class FirstPositionForAll(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[0]


@mistake("PositionEmbedding", "T tokens get the last T positions here; they should get the first T.")
class LastPositions(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[-tokens.shape[-2] :]


@mistake(
    "PositionEmbedding", "This fails where there are fewer tokens than positions: take the first T rows."
)
class AllPositions(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding


@mistake("PositionEmbedding", "The positions are multiplied with the tokens. Add them.")
class MultipliesPositions(_Positions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens * self.embedding[: tokens.shape[-2]]


@mistake(
    "PositionEmbedding",
    "The positions are fixed. Only an nn.Parameter is trained: make self.embedding one.",
)
class FixedPositions(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]


POSITIONS = Exercise(
    id="3.2",
    title="Learned positions",
    reference=(PositionEmbedding,),
    points=10,
    difficulty=1,
    minutes=6,
    checks=(
        Check(
            name="values",
            title="each token gets the vector of its place",
            points=6,
            probe=positions_values,
            examples=trials(draw_positions, dict(tokens=2, n=3, d_model=4)),
            trials=trials(
                draw_positions,
                dict(batch_shape=(2,), tokens=7, n=7, d_model=5),
                dict(tokens=3, n=11, d_model=5),
                dict(batch_shape=(2, 3), tokens=4, n=5, d_model=7),
                dict(batch_shape=(3,), tokens=1, n=2, d_model=5),
            ),
        ),
        Check(
            name="parameters",
            title="embedding is learned, of shape (n, d_model), and the only parameter",
            points=3,
            needs=("values",),
            probe=positions_parameters,
            examples=trials(draw_position_sizes, dict(n=3, d_model=4)),
            trials=trials(draw_position_sizes, dict(n=11, d_model=7)),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=positions_conduct,
            trials=trials(
                draw_positions_along, dict(batch_shape=(2,), tokens=3, n=5, d_model=7, dtype=torch.float64)
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            FixedPositions,
            PositionsAlone,
            PositionsMissing,
            FirstPositionForAll,
            LastPositions,
            AllPositions,
            MultipliesPositions,
        )
    ),
    review="Where is a token?",
)

# ---------------------------------------------------------------- 3.3 VisionLanguageBlock


def draw_block(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    patches: int,
    d_model: int,
    heads: int,
    d_ff: int,
    cross: bool = True,
    mask: str = "none",
    dtype=torch.float32,
) -> Inputs:
    masks = {"none": None, "causal": causal_mask(tokens), "random": draw.mask(tokens, tokens)}
    return {
        "sizes": {"d_model": d_model, "num_heads": heads, "d_ff": d_ff, "cross": cross},
        "weights": draw_weights(draw, make(VisionLanguageBlock, d_model, heads, d_ff, cross), dtype),
        "text_tokens": draw.normal(*batch_shape, tokens, d_model, dtype=dtype),
        "image_tokens": draw.normal(*batch_shape, patches, d_model, dtype=dtype) if cross else None,
        "mask": masks[mask],
    }


def draw_block_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_block(draw, **sizes)
    shape = (*inputs["text_tokens"].shape[:-2], sizes["heads"], sizes["tokens"], sizes["patches"])
    return {
        **inputs,
        "along": torch.randn(inputs["text_tokens"].shape, generator=draw.generator, dtype=torch.float64),
        "along_weights": torch.randn(shape, generator=draw.generator, dtype=torch.float64),
    }


def block_values(
    VisionLanguageBlock,
    sizes: Mapping,
    weights: Mapping,
    text_tokens: Tensor,
    image_tokens: Tensor,
    mask: Tensor,
) -> Mapping[str, Value]:
    block = load(VisionLanguageBlock(**sizes), weights)
    tokens, seen = pair(block(text_tokens, image_tokens, mask))
    return {"tokens": tokens, "cross weights": seen}


def block_parts(VisionLanguageBlock, sizes: Mapping) -> Mapping[str, Value]:
    block = VisionLanguageBlock(**sizes)
    return {
        "parameters": {name: list(value.shape) for name, value in sorted(block.named_parameters())},
        "cross_attn is None": block.cross_attn is None,
        "norm2 is None": block.norm2 is None,
        "feed-forward": [type(layer).__name__ for layer in block.ffn],
        "norms": [type(norm).__name__ for norm in (block.norm1, block.norm3)],
        "heads": block.self_attn.num_heads,
    }


def block_conduct(
    VisionLanguageBlock,
    sizes: Mapping,
    weights: Mapping,
    text_tokens: Tensor,
    image_tokens: Tensor,
    mask: Tensor,
    along: Tensor,
    along_weights: Tensor,
) -> Mapping[str, Value]:
    block = load(VisionLanguageBlock(**sizes), weights)

    def call(text_tokens: Tensor, image_tokens: Tensor, mask: Tensor) -> dict[str, Tensor]:
        out, seen = pair(
            block(text_tokens=strided(text_tokens), image_tokens=strided(image_tokens), mask=mask)
        )
        return {"tokens": out, "cross weights": seen}

    inputs = {"text_tokens": text_tokens, "image_tokens": image_tokens, "mask": mask}
    return purity_and_gradients(
        call, inputs, {"tokens": along, "cross weights": along_weights}, dict(block.named_parameters())
    )


def draw_block_sizes(
    draw: InputSampler, *, d_model: int, heads: int, d_ff: int, cross: bool | None = None
) -> Inputs:
    """Without `cross`, its default is asked for."""
    given = {} if cross is None else {"cross": cross}
    return {"sizes": {"d_model": d_model, "num_heads": heads, "d_ff": d_ff, **given}}


def _self(block, x: Tensor, mask: Tensor | None) -> Tensor:
    return block.self_attn(x, mask=mask)[0]


def _cross(block, x: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor | None]:
    """The look at the image, or nothing where the block has none."""
    return (0.0 * x, None) if block.cross_attn is None else block.cross_attn(x, image_tokens)


def _norm2(block, x: Tensor) -> Tensor:
    return x if block.norm2 is None else block.norm2(x)


def _rest(block, x: Tensor, image_tokens: Tensor, start: Tensor | None = None):
    """Cross-attention and feed-forward, as they should be."""
    seen, weights = _cross(block, _norm2(block, x), image_tokens)
    x = x + seen
    return x + block.ffn(block.norm3(x)), weights


@mistake(
    "VisionLanguageBlock",
    "The self-attention replaces the tokens: add its output to them (the first residual).",
)
class SelfWithoutResidual(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        return _rest(self, _self(self, self.norm1(text_tokens), mask), image_tokens)


@mistake(
    "VisionLanguageBlock",
    "The cross-attention replaces the tokens: add its output to them (the second residual).",
)
class CrossWithoutResidual(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        seen, weights = _cross(self, _norm2(self, x), image_tokens)
        x = x if weights is None else seen
        return x + self.ffn(self.norm3(x)), weights


@mistake(
    "VisionLanguageBlock",
    "The feed-forward replaces the tokens: add its output to them (the third residual).",
)
class FfnWithoutResidual(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        seen, weights = _cross(self, _norm2(self, x), image_tokens)
        return self.ffn(self.norm3(x + seen)), weights


@mistake("VisionLanguageBlock", "No residual at all: each step should add to the tokens, not replace them.")
class NoResiduals(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = _self(self, self.norm1(text_tokens), mask)
        seen, weights = _cross(self, _norm2(self, x), image_tokens)
        return self.ffn(self.norm3(x if weights is None else seen)), weights


@mistake(
    "VisionLanguageBlock", "The tokens are added twice. One residual for each step, nothing more at the end."
)
class DoubledResidual(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x, weights = super().forward(text_tokens, image_tokens, mask)
        return x + text_tokens, weights


@mistake(
    "VisionLanguageBlock",
    "This is post-norm: the sum is normalised. In pre-norm each step reads a normalised copy.",
)
class PostNorm(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = self.norm1(text_tokens + _self(self, text_tokens, mask))
        seen, weights = _cross(self, x, image_tokens)
        x = _norm2(self, x + seen)
        return self.norm3(x + self.ffn(x)), weights


@mistake(
    "VisionLanguageBlock",
    "The residual carries the normalised tokens. Add to the tokens as they were before the norm.",
)
class ResidualFromTheNorm(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = self.norm1(text_tokens)
        x = x + _self(self, x, mask)
        if self.cross_attn is not None:
            x = self.norm2(x)
        seen, weights = _cross(self, x, image_tokens)
        x = self.norm3(x + seen)
        return x + self.ffn(x), weights


@mistake("VisionLanguageBlock", "Nothing is normalised: norm1, norm2 and norm3 each stand before their step.")
class WithoutNorms(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, text_tokens, mask)
        seen, weights = _cross(self, x, image_tokens)
        x = x + seen
        return x + self.ffn(x), weights


@mistake(
    "VisionLanguageBlock",
    "A block looks at the image unless it is told otherwise: cross=True is the default.",
)
class TextOnlyByDefault(VisionLanguageBlock):
    def __init__(self, d_model, num_heads, d_ff, cross=False):
        super().__init__(d_model, num_heads, d_ff, cross)


@mistake(
    "VisionLanguageBlock",
    "The image is asked before the text has looked at itself. Self-attention comes first.",
)
class CrossBeforeSelf(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = _cross(self, _norm2(self, text_tokens), image_tokens)
        x = text_tokens + seen
        x = x + _self(self, self.norm1(x), mask)
        return x + self.ffn(self.norm3(x)), weights


@mistake(
    "VisionLanguageBlock",
    "Self- and cross-attention both read the tokens that came in: the second should read the sum.",
)
class SideBySide(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = _cross(self, _norm2(self, text_tokens), image_tokens)
        x = text_tokens + _self(self, self.norm1(text_tokens), mask) + seen
        return x + self.ffn(self.norm3(x)), weights


@mistake(
    "VisionLanguageBlock",
    "The image tokens are normalised here. The block takes them as they come; norm2 is the text's.",
)
class ImageNormalised(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        return _rest(self, x, None if image_tokens is None else _norm2(self, image_tokens))


@mistake(
    "VisionLanguageBlock",
    "The image asks and the text answers. Queries come from the text: cross_attn(text, image).",
)
class ImageAsks(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(image_tokens, self.norm2(x))
            x = x + seen
        return x + self.ffn(self.norm3(x)), weights


@mistake(
    "VisionLanguageBlock", "The cross-attention never sees the image: hand it image_tokens as its context."
)
class ImageUnseen(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(x))
            x = x + seen
        return x + self.ffn(self.norm3(x)), weights


@mistake("VisionLanguageBlock", "The mask is not used: the self-attention needs it.")
class MaskForgotten(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens)


@mistake(
    "VisionLanguageBlock", "The mask is turned around. True = may attend: hand it on as it is, without ~."
)
class MaskInverted(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens, None if mask is None else ~mask)


@mistake(
    "VisionLanguageBlock", "One norm is used for all three steps; each step has its own: norm1, norm2, norm3."
)
class OneNorm(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        seen, weights = _cross(self, self.norm1(x), image_tokens)
        x = x + seen
        return x + self.ffn(self.norm1(x)), weights


@mistake("VisionLanguageBlock", "The feed-forward step is missing: after attention comes x + ffn(norm3(x)).")
class FfnMissing(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens + _self(self, self.norm1(text_tokens), mask)
        seen, weights = _cross(self, _norm2(self, x), image_tokens)
        return x + seen, weights


@mistake("VisionLanguageBlock", "The weights that come back are averaged over the heads. Return all of them.")
class HeadsAveraged(VisionLanguageBlock):
    def forward(self, text_tokens, image_tokens, mask=None):
        x, weights = super().forward(text_tokens, image_tokens, mask)
        return x, None if weights is None else weights.mean(-3)


@mistake(
    "VisionLanguageBlock",
    "With cross=False there is nothing to look with: cross_attn and norm2 are None then.",
)
class AlwaysCross(VisionLanguageBlock):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__(d_model, num_heads, d_ff, cross=True)

    def forward(self, text_tokens, image_tokens, mask=None):
        if image_tokens is None:
            x = text_tokens + _self(self, self.norm1(text_tokens), mask)
            return x + self.ffn(self.norm3(x)), None
        return super().forward(text_tokens, image_tokens, mask)


BLOCK = Exercise(
    id="3.3",
    title="A block that reads and looks",
    reference=(VisionLanguageBlock,),
    points=20,
    difficulty=3,
    minutes=15,
    checks=(
        Check(
            name="values",
            title="self-attention, cross-attention, feed-forward, each with its norm and its residual",
            points=12,
            probe=block_values,
            map="cross weights",
            examples=trials(draw_block, dict(tokens=2, patches=3, d_model=4, heads=2, d_ff=3)),
            trials=trials(
                draw_block,
                dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, d_ff=11),
                dict(batch_shape=(2,), tokens=5, patches=5, d_model=9, heads=3, d_ff=7),
            ),
        ),
        Check(
            name="mask",
            title="the mask holds for the self-attention",
            points=3,
            needs=("values",),
            probe=block_values,
            examples=trials(draw_block, dict(tokens=3, patches=2, d_model=4, heads=2, d_ff=3, mask="causal")),
            trials=trials(
                draw_block,
                dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, d_ff=4, mask="causal"),
                dict(batch_shape=(2,), tokens=7, patches=5, d_model=6, heads=2, d_ff=4, mask="random"),
            ),
        ),
        Check(
            name="text only",
            title="with cross=False it is a text block: no cross_attn, no norm2, no image",
            points=2,
            needs=("values",),
            probe=block_values,
            examples=trials(draw_block, dict(tokens=2, patches=3, d_model=4, heads=2, d_ff=3, cross=False)),
            trials=trials(
                draw_block,
                dict(
                    batch_shape=(3,),
                    tokens=5,
                    patches=7,
                    d_model=6,
                    heads=2,
                    d_ff=5,
                    cross=False,
                    mask="causal",
                ),
            ),
        ),
        Check(
            name="parts",
            title="the parts have their names and shapes",
            points=1,
            needs=("values",),
            probe=block_parts,
            examples=trials(
                draw_block_sizes,
                dict(d_model=4, heads=2, d_ff=3, cross=False),
                dict(d_model=4, heads=2, d_ff=3),
            ),
            trials=trials(
                draw_block_sizes,
                dict(d_model=6, heads=2, d_ff=11, cross=True),
                dict(d_model=6, heads=3, d_ff=5, cross=False),
                dict(d_model=4, heads=2, d_ff=7),
            ),
        ),
        Check(
            name="batch",
            title="with and without batch dimensions",
            points=1,
            needs=("values",),
            probe=block_values,
            trials=trials(
                draw_block,
                dict(tokens=5, patches=7, d_model=6, heads=2, d_ff=3),
                dict(batch_shape=(2, 3), tokens=5, patches=4, d_model=6, heads=3, d_ff=7, mask="causal"),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=block_conduct,
            trials=trials(
                draw_block_along,
                dict(
                    batch_shape=(2,),
                    tokens=3,
                    patches=5,
                    d_model=6,
                    heads=2,
                    d_ff=7,
                    mask="causal",
                    dtype=torch.float64,
                ),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            AlwaysCross,
            MaskForgotten,
            MaskInverted,
            SelfWithoutResidual,
            CrossWithoutResidual,
            FfnWithoutResidual,
            NoResiduals,
            DoubledResidual,
            PostNorm,
            ResidualFromTheNorm,
            WithoutNorms,
            CrossBeforeSelf,
            SideBySide,
            ImageNormalised,
            ImageAsks,
            ImageUnseen,
            OneNorm,
            FfnMissing,
            HeadsAveraged,
            TextOnlyByDefault,
        )
    ),
    review="One block",
)

# ---------------------------------------------------------------- 3.4 MiniVLM


def draw_vlm(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    patches: int,
    d_vision: int,
    d_model: int,
    heads: int,
    layers: int,
    cross_layers: list[int] | None = None,
    vocabulary: int = 11,
    dtype=torch.float32,
) -> Inputs:
    sizes = {
        "d_vision": d_vision, "d_model": d_model, "num_heads": heads, "d_ff": d_model + 1, "num_layers": layers,
        "vocab_size": vocabulary, "max_tokens": tokens + 2, "num_patches": patches, "cross_layers": cross_layers,
    }  # fmt: skip
    return {
        "sizes": sizes,
        "weights": draw_weights(draw, make(MiniVLM, **sizes), dtype),
        "token_ids": draw.integers(0, vocabulary, *batch_shape, tokens),
        "image_patches": draw.normal(*batch_shape, patches, d_vision, dtype=dtype),
    }


def draw_vlm_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_vlm(draw, **sizes)
    shape = (*inputs["token_ids"].shape, inputs["sizes"]["vocab_size"])
    return {**inputs, "along": torch.randn(shape, generator=draw.generator, dtype=torch.float64)}


def vlm_values(MiniVLM, sizes: Mapping, weights: Mapping, token_ids: Tensor, image_patches: Tensor):
    model = load(MiniVLM(**sizes), weights)
    logits, maps = pair(model(token_ids, image_patches))
    return {"logits": logits, "cross weights": list(maps)}


def vlm_causal(MiniVLM, sizes: Mapping, weights: Mapping, token_ids: Tensor, image_patches: Tensor):
    """The logits of a prefix, alone and within the whole."""
    model = load(MiniVLM(**sizes), weights)
    whole, _ = pair(model(token_ids, image_patches))
    half = token_ids.shape[-1] // 2
    start, _ = pair(model(token_ids[..., :half], image_patches))
    return {
        "later words change nothing": torch.allclose(whole[..., :half, :], start, atol=1e-4),
        "logits": start,
    }


def vlm_conduct(
    MiniVLM, sizes: Mapping, weights: Mapping, token_ids: Tensor, image_patches: Tensor, along: Tensor
) -> Mapping[str, Value]:
    model = load(MiniVLM(**sizes), weights)

    def call(token_ids: Tensor, image_patches: Tensor) -> dict[str, Tensor]:
        logits, _ = pair(model(token_ids=token_ids, image_patches=strided(image_patches)))
        return {"logits": logits}

    inputs = {"token_ids": token_ids, "image_patches": image_patches}
    return purity_and_gradients(call, inputs, {"logits": along}, dict(model.named_parameters()))


def _vlm(
    model, token_ids: Tensor, image_tokens: Tensor, tokens: Tensor, mask: Tensor | None = None, last=None
):
    """Blocks and head, as they should be, on tokens that a mistake made."""
    maps = []
    for block in model.blocks:
        tokens, weights = block(tokens, image_tokens, mask)
        if weights is not None:
            maps.append(weights)
    return model.head((last or model.norm)(tokens)), maps


def _image(model, image_patches: Tensor) -> Tensor:
    return model.image_norm(model.image_positions(model.aligner(image_patches)))


def _text(model, token_ids: Tensor) -> Tensor:
    return model.text_positions(model.embedding(token_ids))


@mistake("MiniVLM", "A word sees the words after it. Hand the blocks causal_mask(T).")
class NoCausalMask(MiniVLM):
    def forward(self, token_ids, image_patches):
        return _vlm(self, token_ids, _image(self, image_patches), _text(self, token_ids))


@mistake("MiniVLM", "The causal mask is turned around: True = may attend, so no ~.")
class CausalMaskInverted(MiniVLM):
    def forward(self, token_ids, image_patches):
        mask = ~causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, _image(self, image_patches), _text(self, token_ids), mask)


@mistake("MiniVLM", "A word may not see itself here: the causal mask includes the diagonal.")
class CausalMaskStrict(MiniVLM):
    def forward(self, token_ids, image_patches):
        mask = causal_mask(token_ids.shape[-1]).tril(-1)
        return _vlm(self, token_ids, _image(self, image_patches), _text(self, token_ids), mask)


@mistake("MiniVLM", "The words have no positions: text_positions is not used.")
class TextWithoutPositions(MiniVLM):
    def forward(self, token_ids, image_patches):
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, _image(self, image_patches), self.embedding(token_ids), mask)


@mistake(
    "MiniVLM", "The patches have no positions: image_positions is not used, so the model cannot say where."
)
class ImageWithoutPositions(MiniVLM):
    def forward(self, token_ids, image_patches):
        image_tokens = self.image_norm(self.aligner(image_patches))
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, image_tokens, _text(self, token_ids), mask)


@mistake("MiniVLM", "The image tokens are not normalised: image_norm comes last, after the positions.")
class ImageWithoutNorm(MiniVLM):
    def forward(self, token_ids, image_patches):
        image_tokens = self.image_positions(self.aligner(image_patches))
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, image_tokens, _text(self, token_ids), mask)


@mistake(
    "MiniVLM", "Norm and positions are in the wrong order: image_norm(image_positions(aligner(patches)))."
)
class ImageNormTooEarly(MiniVLM):
    def forward(self, token_ids, image_patches):
        image_tokens = self.image_positions(self.image_norm(self.aligner(image_patches)))
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, image_tokens, _text(self, token_ids), mask)


@mistake("MiniVLM", "The patches go in unaligned, at the image's own width. The aligner comes first.")
class ImageNotAligned(MiniVLM):
    def forward(self, token_ids, image_patches):
        image_tokens = self.image_norm(self.image_positions(image_patches))
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(self, token_ids, image_tokens, _text(self, token_ids), mask)


@mistake("MiniVLM", "The last norm is missing: logits = head(norm(tokens)).")
class LastNormMissing(MiniVLM):
    def forward(self, token_ids, image_patches):
        mask = causal_mask(token_ids.shape[-1])
        return _vlm(
            self,
            token_ids,
            _image(self, image_patches),
            _text(self, token_ids),
            mask,
            last=lambda tokens: tokens,
        )


@mistake("MiniVLM", "Every block reads the words afresh: hand each block what the one before it returned.")
class BlocksSideBySide(MiniVLM):
    def forward(self, token_ids, image_patches):
        text, mask, maps = _text(self, token_ids), causal_mask(token_ids.shape[-1]), []
        for block in self.blocks:
            tokens, weights = block(text, _image(self, image_patches), mask)
            maps += [] if weights is None else [weights]
        return self.head(self.norm(tokens)), maps


@mistake(
    "MiniVLM",
    "The list holds a None for each block that does not look. Only blocks that cross-attend have a map.",
)
class NoneAmongTheMaps(MiniVLM):
    def forward(self, token_ids, image_patches):
        tokens, mask, maps = _text(self, token_ids), causal_mask(token_ids.shape[-1]), []
        for block in self.blocks:
            tokens, weights = block(tokens, _image(self, image_patches), mask)
            maps.append(weights)
        return self.head(self.norm(tokens)), maps


@mistake(
    "MiniVLM", "Only the last map comes back. Return a list with one map for each block that cross-attends."
)
class LastMapOnly(MiniVLM):
    def forward(self, token_ids, image_patches):
        logits, maps = super().forward(token_ids, image_patches)
        return logits, maps[-1:]


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


MINI_VLM = Exercise(
    id="3.4",
    title="The whole model",
    reference=(MiniVLM,),
    points=15,
    difficulty=2,
    minutes=12,
    builds_on=("3.2", "3.3"),
    checks=(
        Check(
            name="values",
            title="image and text meet, and every position predicts its next word",
            points=9,
            probe=vlm_values,
            examples=trials(
                draw_vlm,
                dict(
                    batch_shape=(1,),
                    tokens=3,
                    patches=2,
                    d_vision=3,
                    d_model=4,
                    heads=2,
                    layers=2,
                    vocabulary=5,
                ),
            ),
            trials=trials(
                draw_vlm,
                dict(batch_shape=(3,), tokens=5, patches=4, d_vision=7, d_model=6, heads=2, layers=2),
                dict(batch_shape=(2,), tokens=7, patches=5, d_vision=3, d_model=9, heads=3, layers=3),
            ),
        ),
        Check(
            name="causal",
            title="what comes later changes nothing before",
            points=2,
            needs=("values",),
            probe=vlm_causal,
            trials=trials(
                draw_vlm,
                dict(
                    batch_shape=(2,),
                    tokens=7,
                    patches=3,
                    d_vision=5,
                    d_model=6,
                    heads=3,
                    layers=2,
                    vocabulary=13,
                ),
            ),
        ),
        Check(
            name="layers",
            title="any blocks may look, and each has its map",
            points=2,
            needs=("values",),
            probe=vlm_values,
            examples=trials(
                draw_vlm,
                dict(
                    tokens=3,
                    patches=2,
                    d_vision=3,
                    d_model=4,
                    heads=2,
                    layers=2,
                    vocabulary=5,
                    cross_layers=[0, 1],
                ),
            ),
            trials=trials(
                draw_vlm,
                dict(
                    batch_shape=(2,),
                    tokens=5,
                    patches=3,
                    d_vision=5,
                    d_model=6,
                    heads=2,
                    layers=3,
                    cross_layers=[0, 2],
                ),
                dict(
                    batch_shape=(2,),
                    tokens=3,
                    patches=5,
                    d_vision=2,
                    d_model=6,
                    heads=3,
                    layers=2,
                    cross_layers=[],
                ),
            ),
        ),
        Check(
            name="batch",
            title="with and without batch dimensions",
            points=1,
            needs=("values",),
            probe=vlm_values,
            trials=trials(
                draw_vlm,
                dict(tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2),
                dict(batch_shape=(2, 3), tokens=4, patches=5, d_vision=3, d_model=6, heads=3, layers=2),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=vlm_conduct,
            trials=trials(
                draw_vlm_along,
                dict(
                    batch_shape=(2,),
                    tokens=5,
                    patches=3,
                    d_vision=7,
                    d_model=6,
                    heads=2,
                    layers=2,
                    dtype=torch.float64,
                ),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            LastMapOnly,
            NoCausalMask,
            CausalMaskInverted,
            CausalMaskStrict,
            TextWithoutPositions,
            ImageWithoutPositions,
            ImageWithoutNorm,
            ImageNormTooEarly,
            ImageNotAligned,
            LastNormMissing,
            BlocksSideBySide,
            NoneAmongTheMaps,
            SoftmaxOnTop,
            LastPositionOnly,
        )
    ),
    review="The whole model",
)

# ---------------------------------------------------------------- 3.5 shift_targets


def draw_sequences(
    draw: InputSampler,
    *,
    sequences: int,
    tokens: int,
    vocabulary: int = 51,
    pad_id: int = 0,
    ignore_index: int = -100,
) -> Inputs:
    """Sequences of a prompt, an answer of at least one word, and padding; the longest has none."""
    prompt_lengths = draw.integers(1, tokens - 1, sequences)
    lengths = prompt_lengths + 1 + (draw.uniform(sequences) * (tokens - prompt_lengths)).long()
    lengths[draw.integers(0, sequences, 1)] = tokens
    token_ids = draw.integers(1, vocabulary - 1, sequences, tokens)
    token_ids = torch.where(token_ids == pad_id, vocabulary - 1, token_ids)
    padded = torch.arange(tokens) >= lengths.unsqueeze(1)
    inputs = {"token_ids": token_ids.masked_fill(padded, pad_id), "prompt_lengths": prompt_lengths}
    return {**inputs, "options": {"pad_id": pad_id, "ignore_index": ignore_index}}


def targets_values(shift_targets, token_ids: Tensor, prompt_lengths: Tensor) -> Mapping[str, Value]:
    return {"targets": shift_targets(token_ids, prompt_lengths)}


def targets_options(shift_targets, token_ids: Tensor, prompt_lengths: Tensor, options: Mapping):
    return {"targets": shift_targets(token_ids=token_ids, prompt_lengths=prompt_lengths, **options)}


def targets_conduct(shift_targets, token_ids: Tensor, prompt_lengths: Tensor) -> Mapping[str, Value]:
    ids, lengths = strided(token_ids), prompt_lengths.clone()
    targets = shift_targets(ids, lengths)
    unchanged = torch.equal(ids, token_ids) and torch.equal(lengths, prompt_lengths)
    return {"targets": targets, "inputs unchanged": unchanged}


def _targets(
    token_ids, prompt_lengths, pad_id, ignore_index, *, first=-1, shift=1, keep_pad=False, fill=None
):
    """shift_targets with a screw loose, as the arguments say."""
    T = token_ids.shape[-1]
    following = torch.cat([token_ids[:, shift:], token_ids[:, :shift] if fill is None else fill], 1)
    position = torch.arange(T)
    keep = (position >= prompt_lengths[:, None] + first) & (
        position < T - shift if fill is None else position < T
    )
    keep = keep if keep_pad else keep & (following != pad_id)
    return torch.where(keep, following, ignore_index)


@mistake(
    "shift_targets",
    "Each position is asked for its own token, which it can see. The target is the next token.",
)
def not_shifted(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    keep = (torch.arange(token_ids.shape[-1]) >= prompt_lengths[:, None]) & (token_ids != pad_id)
    return torch.where(keep, token_ids, ignore_index)


@mistake("shift_targets", "The target is two places on. Position t predicts token t + 1.")
def shifted_twice(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, ignore_index, shift=2)


@mistake(
    "shift_targets",
    "The prompt counts too. Only the answer is to be learned: ignore targets within the prompt.",
)
def prompt_not_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, 0 * prompt_lengths, pad_id, ignore_index, first=0)


@mistake(
    "shift_targets",
    "The first word of the answer is never asked for: the last position of the prompt predicts it.",
)
def first_word_missed(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, ignore_index, first=0)


@mistake(
    "shift_targets",
    "The last word of the prompt is asked for as well. Targets begin at position prompt_length − 1.",
)
def one_too_early(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, ignore_index, first=-2)


@mistake("shift_targets", "Padding is a target here: ignore positions whose next token is padding.")
def padding_not_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, ignore_index, keep_pad=True)


@mistake(
    "shift_targets",
    "After the end of sequence one padding is still asked for: look at the next token, not at this one.",
)
def one_padding_left(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = _targets(token_ids, prompt_lengths, pad_id, ignore_index, keep_pad=True)
    return torch.where(token_ids == pad_id, ignore_index, targets)


@mistake("shift_targets", "The end of sequence is a target too: the model has to learn when to stop.")
def end_ignored(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    targets = _targets(token_ids, prompt_lengths, pad_id, ignore_index)
    last = (token_ids != pad_id).sum(1, keepdim=True) - 2
    return torch.where(torch.arange(token_ids.shape[-1]) >= last, ignore_index, targets)


@mistake(
    "shift_targets",
    "torch.roll brings the first token to the end. The last column has no next token: ignore it.",
)
def wraps_around(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, ignore_index, fill=token_ids[:, :1])


@mistake("shift_targets", "pad_id is taken for 0. Use the argument.")
def pad_is_zero(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, 0, ignore_index)


@mistake("shift_targets", "ignore_index is taken for −100. Use the argument.")
def ignore_is_fixed(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths, pad_id, -100)


@mistake("shift_targets", "One prompt length is used for the whole batch; each row has its own.")
def one_length_for_all(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    return _targets(token_ids, prompt_lengths[:1].expand_as(prompt_lengths), pad_id, ignore_index)


TARGETS = Exercise(
    id="3.5",
    title="What to learn: the next word of the answer",
    reference=(shift_targets,),
    points=10,
    difficulty=2,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="the answer and its end are targets, nothing else is",
            points=7,
            probe=targets_values,
            examples=trials(draw_sequences, dict(sequences=3, tokens=7)),
            trials=trials(
                draw_sequences,
                dict(sequences=5, tokens=11),
                dict(sequences=7, tokens=5),
                dict(sequences=1, tokens=3),
                dict(sequences=11, tokens=9),
            ),
        ),
        Check(
            name="options",
            title="pad_id and ignore_index are used",
            points=2,
            needs=("values",),
            probe=targets_options,
            examples=trials(draw_sequences, dict(sequences=3, tokens=5, pad_id=9, ignore_index=-1)),
            trials=trials(
                draw_sequences,
                dict(sequences=5, tokens=7, pad_id=3, ignore_index=-7),
                dict(sequences=7, tokens=5, pad_id=-1, ignore_index=-5),
            ),
        ),
        Check(
            name="conduct",
            title="token_ids stay as they are",
            points=1,
            needs=("values",),
            probe=targets_conduct,
            trials=trials(draw_sequences, dict(sequences=5, tokens=11)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            pad_is_zero,
            ignore_is_fixed,
            not_shifted,
            shifted_twice,
            prompt_not_ignored,
            first_word_missed,
            one_too_early,
            padding_not_ignored,
            one_padding_left,
            end_ignored,
            wraps_around,
            one_length_for_all,
        )
    ),
    review="What is learned",
)

# ---------------------------------------------------------------- 3.6 train_step, 3.7 generate: a model to try them on


def small_model(weights: Mapping, dropout: float = 0.0) -> nn.Module:
    """A model with the interface of MiniVLM and none of its parts; it writes down how it is called."""
    vocabulary, width = weights["words.weight"].shape

    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.look = nn.Linear(weights["look.weight"].shape[1], width, bias=False)
            self.head = nn.Linear(width, vocabulary)
            self.dropout = nn.Dropout(dropout)
            self.calls: list = []

        def forward(self, token_ids: Tensor, image_patches: Tensor):
            self.calls.append((self.training, torch.is_grad_enabled(), token_ids.shape[-1]))
            bias, count = self.head.bias, token_ids.shape[-1]
            position = torch.arange(1, count + 1, dtype=bias.dtype, device=bias.device).unsqueeze(-1)
            seen = self.words(token_ids).cumsum(-2) / position.sqrt()
            seen = torch.tanh(seen + self.look(image_patches.mean(-2)).unsqueeze(-2))
            return self.head(self.dropout(seen)), []

    return load(Small(), weights)


def small_weights(
    draw: InputSampler, vocabulary: int, width: int, d_vision: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    return {
        "words.weight": draw.normal(vocabulary, width, dtype=dtype),
        "look.weight": draw.normal(width, d_vision, dtype=dtype),
        "head.weight": draw.normal(vocabulary, width, dtype=dtype),
        "head.bias": draw.normal(vocabulary, dtype=dtype),
    }


def draw_training(
    draw: InputSampler, *, sequences: int, tokens: int, steps: int, vocabulary: int = 51, dtype=torch.float64
) -> Inputs:
    sequence = draw_sequences(draw, sequences=sequences, tokens=tokens, vocabulary=vocabulary)
    # Large weights: the gradients' norm is far above 1, so that clipping would show.
    weights = small_weights(draw, vocabulary, 5, 7, dtype)
    return {
        "weights": {name: 3 * weight for name, weight in weights.items()},
        "token_ids": sequence["token_ids"],
        "prompt_lengths": sequence["prompt_lengths"],
        "targets": shift_targets(sequence["token_ids"], sequence["prompt_lengths"]),
        "image_patches": draw.normal(sequences, 3, 7, dtype=dtype),
        "steps": steps,
    }


def with_right_targets(train_step, token_ids: Tensor, prompt_lengths: Tensor, targets: Tensor):
    """train_step where 3.5 gives the right targets of this batch, so that a mistake there is not paid for again."""
    names = getattr(train_step, "__globals__", {})
    own = names.get("shift_targets")

    def shift_targets(ids, lengths, pad_id=0, ignore_index=-100):
        same = torch.is_tensor(ids) and ids.shape == token_ids.shape and torch.equal(ids, token_ids)
        if same and torch.is_tensor(lengths) and torch.equal(lengths, prompt_lengths) and pad_id == 0:
            return targets.masked_fill(targets == -100, ignore_index)
        return own(ids, lengths, pad_id, ignore_index)  # another batch, or arguments in another order

    def step(*args, **options):
        names["shift_targets"] = shift_targets
        try:
            return train_step(*args, **options)
        finally:
            names["shift_targets"] = own

    return step


def training_values(
    train_step,
    weights: Mapping,
    token_ids: Tensor,
    prompt_lengths: Tensor,
    targets: Tensor,
    image_patches: Tensor,
    steps: int,
) -> Mapping[str, Value]:
    model = small_model(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    step = with_right_targets(train_step, token_ids, prompt_lengths, targets)
    losses = [step(model, optimizer, (token_ids, prompt_lengths, image_patches)) for _ in range(steps)]
    return {
        "losses": torch.tensor([float(loss) for loss in losses], dtype=image_patches.dtype),
        "weights": {name: parameter.detach().clone() for name, parameter in model.named_parameters()},
    }


def training_conduct(
    train_step,
    weights: Mapping,
    token_ids: Tensor,
    prompt_lengths: Tensor,
    targets: Tensor,
    image_patches: Tensor,
) -> Mapping[str, Value]:
    model = small_model(weights)
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    batch = (token_ids.clone(), prompt_lengths.clone(), image_patches.clone())
    step = with_right_targets(train_step, token_ids, prompt_lengths, targets)
    loss = step(model=model, optimizer=optimizer, batch=batch)
    return {
        "the loss is a float": isinstance(loss, float),
        "in training mode": all(training for training, _, _ in model.calls),
        "inputs unchanged": all(
            torch.equal(one, before)
            for one, before in zip(batch, (token_ids, prompt_lengths, image_patches), strict=True)
        ),
    }


def _step(model, optimizer, batch, *, clear=True, targets=shift_targets, finish=None, reduction="mean"):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    wanted = targets(token_ids, prompt_lengths)
    loss = F.cross_entropy(logits.transpose(1, 2), wanted, reduction=reduction)
    if clear:
        optimizer.zero_grad()
    loss.backward()
    if finish:
        finish(model)
    optimizer.step()
    return loss.item()


@mistake(
    "train_step", "Gradients pile up from step to step: call optimizer.zero_grad() before loss.backward()."
)
def no_zero_grad(model, optimizer, batch):
    return _step(model, optimizer, batch, clear=False)


@mistake("train_step", "The model is not put into training mode: call model.train() first.")
def stays_in_evaluation(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@mistake(
    "train_step",
    "The loss is a sum over the targets. Take their mean, so that long answers do not weigh more.",
)
def summed_loss(model, optimizer, batch):
    return _step(model, optimizer, batch, reduction="sum")


@mistake("train_step", "The prompt is learned as well: take the targets from shift_targets.")
def learns_the_prompt(model, optimizer, batch):
    return _step(model, optimizer, batch, targets=prompt_not_ignored)


@mistake(
    "train_step",
    "The logits are compared with the tokens at the same place. shift_targets gives the next ones.",
)
def learns_to_copy(model, optimizer, batch):
    return _step(model, optimizer, batch, targets=not_shifted)


@mistake("train_step", "The gradients are clipped. This exercise asks for the plain update.")
def clips(model, optimizer, batch):
    return _step(
        model, optimizer, batch, finish=lambda model: nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    )


@mistake(
    "train_step",
    "The weights never change: loss.backward(), then optimizer.step(), and no zero_grad() between the two.",
)
def no_update(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    logits, _ = model(token_ids, image_patches)
    return F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths)).item()


@mistake("train_step", "This is the loss after the update. Return the one that the update was made from.")
def loss_after_the_update(model, optimizer, batch):
    _step(model, optimizer, batch)
    with torch.no_grad():
        logits, _ = model(batch[0], batch[2])
        return F.cross_entropy(logits.transpose(1, 2), shift_targets(batch[0], batch[1])).item()


@mistake("train_step", "Each sequence counts the same here. Take one mean over all targets of the batch.")
def mean_of_means(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    targets = shift_targets(token_ids, prompt_lengths)
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").sum(1)
    loss = (losses / (targets != -100).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@mistake(
    "train_step",
    "The loss that comes back is a tensor, and all that it was computed from stays in memory: return loss.item().",
)
def returns_a_tensor(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    model.train()
    logits, _ = model(token_ids, image_patches)
    loss = F.cross_entropy(logits.transpose(1, 2), shift_targets(token_ids, prompt_lengths))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def draw_one_step(draw: InputSampler, **sizes) -> Inputs:
    inputs = dict(draw_training(draw, steps=1, **sizes))
    del inputs["steps"]
    return inputs


STEP = Exercise(
    id="3.6",
    title="One training step",
    reference=(train_step,),
    points=10,
    difficulty=2,
    minutes=8,
    builds_on=("3.5",),
    checks=(
        Check(
            name="values",
            title="loss and weights, over a few steps",
            points=8,
            probe=training_values,
            examples=trials(
                draw_training,
                # A notebook keeps its examples to five digits, so these are float32.
                dict(sequences=3, tokens=5, steps=1, vocabulary=7, dtype=torch.float32),
                dict(sequences=2, tokens=5, steps=3, vocabulary=7, dtype=torch.float32),
            ),
            trials=trials(
                draw_training,
                dict(sequences=5, tokens=7, steps=1),
                dict(sequences=3, tokens=11, steps=3),
            ),
        ),
        Check(
            name="conduct",
            title="training mode, a float, and the batch stays as it is",
            points=2,
            needs=("values",),
            probe=training_conduct,
            examples=trials(draw_one_step, dict(sequences=3, tokens=5, vocabulary=7)),
            trials=trials(draw_one_step, dict(sequences=3, tokens=5)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            stays_in_evaluation,
            returns_a_tensor,
            no_update,
            no_zero_grad,
            summed_loss,
            learns_the_prompt,
            learns_to_copy,
            clips,
            loss_after_the_update,
            mean_of_means,
        )
    ),
    review="One step",
)


def draw_prompts(
    draw: InputSampler, *, all_end: bool, prompts: int, tokens: int, max_new_tokens: int, vocabulary=11
) -> Inputs:
    """Prompts that a small model continues: rows end at different times, and no step is near a tie."""
    eos_id = 2
    while True:
        inputs = {
            "weights": small_weights(draw, vocabulary, 3 if vocabulary < 11 else 7, 5, torch.float64),
            "prompt_ids": draw.integers(3, vocabulary, prompts, tokens),
            "image_patches": draw.normal(prompts, 3, 5, dtype=torch.float64),
            "max_new_tokens": max_new_tokens,
            "eos_id": eos_id,
        }
        model = make(small_model, inputs["weights"])
        answer = generate(
            model, *(inputs[name] for name in ("prompt_ids", "image_patches")), max_new_tokens, eos_id
        )
        with torch.no_grad():
            best = model(answer, inputs["image_patches"])[0].topk(2, -1).values
        ended = (answer[:, tokens:] == eos_id).long()
        lengths = torch.where(ended.any(1), ended.argmax(1), max_new_tokens)
        clear = (best[..., 0] - best[..., 1]).min() > 1e-3
        if clear and len(lengths.unique()) > 2 and bool((lengths < max_new_tokens - 1).all()) == all_end:
            return inputs


def draw_ending(draw: InputSampler, **sizes) -> Inputs:
    """All rows end before the limit."""
    return draw_prompts(draw, all_end=True, **sizes)


def draw_going_on(draw: InputSampler, **sizes) -> Inputs:
    """Some rows are stopped by the limit."""
    return draw_prompts(draw, all_end=False, **sizes)


def generate_values(
    generate, weights: Mapping, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Mapping[str, Value]:
    return {"token_ids": generate(small_model(weights), prompt_ids, image_patches, max_new_tokens, eos_id)}


def generate_conduct(
    generate, weights: Mapping, prompt_ids: Tensor, image_patches: Tensor, max_new_tokens: int, eos_id: int
) -> Mapping[str, Value]:
    model = small_model(weights, dropout=0.5)
    model.train()
    model.look.eval()  # a frozen part, as one often has; it has to stay so
    before = {name: module.training for name, module in model.named_modules()}
    ids, patches = prompt_ids.clone(), image_patches.clone()
    answer = generate(
        model=model, prompt_ids=ids, image_patches=patches, max_new_tokens=max_new_tokens, eos_id=eos_id
    )
    return {
        "in evaluation mode": not any(training for training, _, _ in model.calls),
        "without gradients": not any(gradients for _, gradients, _ in model.calls),
        "every part's mode is as before": (after := {n: m.training for n, m in model.named_modules()})
        == before,
        "parts in training mode": sum(after.values()),
        "inputs unchanged": torch.equal(ids, prompt_ids) and torch.equal(patches, image_patches),
        "token_ids": answer,
    }


def _greedy(
    model, prompt_ids, image_patches, max_new_tokens, eos_id, *, fill=True, stop=torch.all, see=0, at=-1
):
    """Greedy decoding with a screw loose, as the arguments say."""
    token_ids = prompt_ids
    ended = torch.zeros(len(prompt_ids), dtype=torch.bool)
    for _ in range(max_new_tokens):
        logits, _ = model(token_ids[:, see:], image_patches)
        following = logits[:, at].argmax(-1)
        if fill:
            following = following.masked_fill(ended, eos_id)
        token_ids = torch.cat([token_ids, following.unsqueeze(1)], 1)
        ended = ended | (following == eos_id)
        if stop is not None and stop(ended):
            break
    return token_ids


def _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, **screws):
    """The same, in evaluation mode, without gradients, and with the modes put back."""
    modes = [module.training for module in model.modules()]
    model.eval()
    with torch.no_grad():
        token_ids = _greedy(model, prompt_ids, image_patches, max_new_tokens, eos_id, **screws)
    for module, training in zip(model.modules(), modes, strict=True):
        module.training = training
    return token_ids


@mistake("generate", "Rows that have ended go on talking: fill them with eos_id.")
def ended_rows_go_on(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, fill=False)


@mistake("generate", "It stops as soon as one row has ended. Go on until all of them have.")
def stops_at_the_first_end(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, stop=torch.any)


@mistake("generate", "It goes on after every row has ended. Stop there.")
def never_stops_early(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, stop=None)


@mistake("generate", "The model sees the last word alone. Hand it everything so far, prompt and answer.")
def forgets_the_prompt(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, see=-1)


@mistake("generate", "The next word is read off the first position. The last position predicts it.")
def reads_the_first_position(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id, at=0)


@mistake("generate", "Only the answer comes back. Return the prompt and the answer together.")
def without_the_prompt(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    token_ids = _quiet(model, prompt_ids, image_patches, max_new_tokens, eos_id)
    return token_ids[:, prompt_ids.shape[1] :]


@mistake("generate", "One word too many: at most max_new_tokens are added.")
def one_word_too_many(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens + 1, eos_id)


@mistake("generate", "One word short: up to max_new_tokens are added.")
def one_word_short(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    return _quiet(model, prompt_ids, image_patches, max_new_tokens - 1, eos_id)


@mistake("generate", "The words are drawn by chance. Greedy means the likeliest word: argmax.")
def samples(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    torch.manual_seed(1)
    token_ids = prompt_ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, _ = model(token_ids, image_patches)
            token_ids = torch.cat([token_ids, torch.multinomial(logits[:, -1].softmax(-1), 1)], 1)
    return token_ids


@mistake("generate", "The model runs in training mode, where dropout draws lots: call model.eval() first.")
def in_training_mode(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    with torch.no_grad():
        return _greedy(model, prompt_ids, image_patches, max_new_tokens, eos_id)


@mistake(
    "generate", "The model is left in evaluation mode. Put every module back into the mode that it was in."
)
def left_in_evaluation(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    with torch.no_grad():
        return _greedy(model, prompt_ids, image_patches, max_new_tokens, eos_id)


@mistake(
    "generate",
    "model.train() at the end wakes parts that were in evaluation mode. Note each module's mode and restore it.",
)
def all_in_training_after(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    model.eval()
    with torch.no_grad():
        token_ids = _greedy(model, prompt_ids, image_patches, max_new_tokens, eos_id)
    model.train()
    return token_ids


@mistake("generate", "Gradients are recorded, which costs memory for nothing: use torch.no_grad().")
def with_gradients(model, prompt_ids, image_patches, max_new_tokens, eos_id):
    modes = [module.training for module in model.modules()]
    model.eval()
    token_ids = _greedy(model, prompt_ids, image_patches, max_new_tokens, eos_id)
    for module, training in zip(model.modules(), modes, strict=True):
        module.training = training
    return token_ids


GENERATE = Exercise(
    id="3.7",
    title="Answering word by word",
    reference=(generate,),
    points=10,
    difficulty=2,
    minutes=10,
    checks=(
        Check(
            name="values",
            title="the likeliest word, again and again",
            points=6,
            probe=generate_values,
            examples=(
                *trials(draw_ending, dict(prompts=3, tokens=2, max_new_tokens=5, vocabulary=5)),
                *trials(draw_going_on, dict(prompts=3, tokens=2, max_new_tokens=3, vocabulary=5)),
            ),
            trials=(
                *trials(draw_going_on, dict(prompts=7, tokens=3, max_new_tokens=5)),
                *trials(draw_ending, dict(prompts=5, tokens=2, max_new_tokens=11)),
            ),
        ),
        Check(
            name="conduct",
            title="in evaluation mode, without gradients, and every mode as before",
            points=4,
            needs=("values",),
            probe=generate_conduct,
            examples=trials(draw_ending, dict(prompts=3, tokens=2, max_new_tokens=5, vocabulary=5)),
            trials=trials(draw_going_on, dict(prompts=5, tokens=3, max_new_tokens=7)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            in_training_mode,
            all_in_training_after,
            left_in_evaluation,
            with_gradients,
            ended_rows_go_on,
            stops_at_the_first_end,
            never_stops_early,
            forgets_the_prompt,
            reads_the_first_position,
            without_the_prompt,
            one_word_too_many,
            one_word_short,
            samples,
        )
    ),
    review="Answering",
)

# ---------------------------------------------------------------- 3.8 value_weighted_map, and the trained model


def draw_map(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    patches: int,
    d_model: int,
    heads: int,
    dtype=torch.float32,
) -> Inputs:
    return {
        "d_model": d_model,
        "heads": heads,
        "weights": draw_weights(draw, make(MultiHeadAttention, d_model, heads), dtype),
        "tokens": draw.normal(*batch_shape, tokens, d_model, scale=2.0, dtype=dtype),
        "image_tokens": draw.normal(*batch_shape, patches, d_model, scale=2.0, dtype=dtype),
    }


def map_values(
    value_weighted_map,
    MultiHeadAttention,
    d_model: int,
    heads: int,
    weights: Mapping,
    tokens: Tensor,
    image_tokens,
) -> Mapping[str, Value]:
    layer = load(MultiHeadAttention(d_model, heads), weights)
    return {"map": value_weighted_map(layer, tokens, image_tokens).detach()}


def map_conduct(
    value_weighted_map,
    MultiHeadAttention,
    d_model: int,
    heads: int,
    weights: Mapping,
    tokens: Tensor,
    image_tokens,
) -> Mapping[str, Value]:
    layer = load(MultiHeadAttention(d_model, heads), weights)
    layer.train()
    text, image = strided(tokens), strided(image_tokens)
    found = value_weighted_map(cross_attn=layer, tokens=text, image_tokens=image)
    return {
        "map": found.detach(),
        "inputs unchanged": torch.equal(text, tokens) and torch.equal(image, image_tokens),
        "the layer stays as it is": all(
            torch.equal(layer.state_dict()[name], weights[name]) for name in weights
        ),
        "the layer's mode stays as it is": layer.training,
    }


def _contributions(cross_attn, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """weight × value × slice of W_O: (..., H, T, S, d_model)"""
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(-1, (cross_attn.num_heads, -1))  # (d_model, H, d_head)
    return torch.einsum("...hts,...hsk,dhk->...htsd", weights, value, slices)


@mistake(
    "value_weighted_map",
    "This is the average of the heads' weights: it does not know how long the values are.",
)
def head_average(cross_attn, tokens, image_tokens):
    return cross_attn(tokens, image_tokens)[1].mean(-3)


@mistake("value_weighted_map", "These are the summed weights of the heads: the values and W_O are missing.")
def head_sum(cross_attn, tokens, image_tokens):
    return cross_attn(tokens, image_tokens)[1].sum(-3)


@mistake(
    "value_weighted_map",
    "The norm is taken per head and then summed. Heads may cancel: sum the vectors first.",
)
def norm_before_the_sum(cross_attn, tokens, image_tokens):
    return _contributions(cross_attn, tokens, image_tokens).norm(dim=-1).sum(-3)


@mistake("value_weighted_map", "The norm is taken per head and then averaged. Sum the heads' vectors first.")
def norm_before_the_mean(cross_attn, tokens, image_tokens):
    return _contributions(cross_attn, tokens, image_tokens).norm(dim=-1).mean(-3)


@mistake("value_weighted_map", "W_O is missing: what a head brings back is its value times its slice of W_O.")
def without_output_projection(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    return torch.einsum("...hts,...hsk->...tshk", weights, value).flatten(-2).norm(dim=-1)


@mistake(
    "value_weighted_map",
    "W_O is cut along the wrong axis: a head's slice is d_head of its columns, W_O.weight[:, …].",
)
def slices_of_rows(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.T.unflatten(-1, (cross_attn.num_heads, -1))
    return torch.einsum("...hts,...hsk,dhk->...tsd", weights, value, slices).norm(dim=-1)


@mistake("value_weighted_map", "Absolute values are summed. The length of a vector is its L2 norm.")
def l1_norm(cross_attn, tokens, image_tokens):
    return _contributions(cross_attn, tokens, image_tokens).sum(-4).abs().sum(-1)


@mistake("value_weighted_map", "The square root is missing: this is the squared length.")
def squared_norm(cross_attn, tokens, image_tokens):
    return _contributions(cross_attn, tokens, image_tokens).sum(-4).square().sum(-1)


@mistake("value_weighted_map", "The rows are normalised to sum to 1. Return the lengths as they are.")
def normalised_rows(cross_attn, tokens, image_tokens):
    found = value_weighted_map(cross_attn, tokens, image_tokens)
    return found / found.sum(-1, keepdim=True)


@mistake("value_weighted_map", "The patches are summed up before the norm, so nothing tells them apart.")
def norm_of_the_output(cross_attn, tokens, image_tokens):
    output, weights = cross_attn(tokens, image_tokens)
    return output.norm(dim=-1, keepdim=True) * weights.mean(-3)


@mistake(
    "value_weighted_map",
    "The values are used without the weights: a patch that nobody looks at brings nothing.",
)
def without_weights(cross_attn, tokens, image_tokens):
    lengths = cross_attn.W_O(cross_attn.W_V(image_tokens)).norm(dim=-1)
    return lengths.unsqueeze(-2).expand(*tokens.shape[:-1], image_tokens.shape[-2])


def trained_answers(
    model, record: Mapping, seed: int, prompts: Mapping, patches: Mapping
) -> Mapping[str, Value]:
    """The state after training, the record of the run, and what the model answers, word by word."""
    device = next(model.parameters()).device
    model.eval()
    answers = {}
    with torch.no_grad():
        for task, token_ids in prompts.items():
            token_ids = token_ids.to(device)
            for _ in range(3 if task == "read" else 1):
                logits = model(token_ids, patches[task].to(device))[0]
                token_ids = torch.cat([token_ids, logits[:, -1].argmax(-1, keepdim=True)], 1)
            answers[task] = token_ids[:, prompts[task].shape[1] :].cpu()
    return {
        "state": {name: value.detach().cpu() for name, value in model.named_parameters()},
        "path": record["path"],
        "seed": seed,
        "answers": answers,
    }


def trained_maps(
    model, record: Mapping, seed: int, value_weighted_map, prompts: Mapping, patches: Mapping
) -> Mapping[str, Value]:
    """The state after training, the model's own maps, and the value-weighted ones by the student's function."""
    device = next(model.parameters()).device
    model.eval()
    cross_attn = model.blocks[-1].cross_attn
    maps, weighted = {}, {}
    for task, token_ids in prompts.items():
        met = []
        forward = cross_attn.forward

        def listen(tokens, context=None, *rest, met=met, forward=forward, **more):
            met.append((tokens, context))
            return forward(tokens, context, *rest, **more)

        cross_attn.forward = listen
        try:
            with torch.no_grad():
                _, weights = model(token_ids.to(device), patches[task].to(device))
        finally:
            del cross_attn.forward
        with torch.no_grad():
            maps[task] = weights[-1].cpu()
            weighted[task] = value_weighted_map(cross_attn, *met[0]).cpu()
    return {
        "state": {name: value.detach().cpu() for name, value in model.named_parameters()},
        "path": record["path"],
        "seed": seed,
        "maps": maps,
        "value-weighted": weighted,
    }


GROUNDING = Exercise(
    id="3.8",
    title="Where it really looks",
    reference=(value_weighted_map,),
    points=10,
    difficulty=3,
    minutes=12,
    builds_on=("3.3", "3.4", "3.5", "3.6"),
    checks=(
        Check(
            name="values",
            title="how much each patch adds",
            points=3,
            probe=map_values,
            map="map",
            examples=trials(draw_map, dict(tokens=2, patches=3, d_model=4, heads=2)),
            trials=trials(
                draw_map,
                dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2),
                dict(tokens=5, patches=11, d_model=9, heads=3),
                dict(batch_shape=(2, 3), tokens=5, patches=7, d_model=6, heads=3),
            ),
        ),
        Check(
            name="conduct",
            title="float64 stays float64; inputs, layer and mode stay as they are",
            points=1,
            needs=("values",),
            probe=map_conduct,
            trials=trials(
                draw_map, dict(batch_shape=(2,), tokens=3, patches=5, d_model=6, heads=2, dtype=torch.float64)
            ),
        ),
        Check(
            name="trained answers",
            title="the model that you trained answers questions about scenes it has never seen",
            points=3,
            needs=("values",),
            probe=trained_answers,
            trials=trials(draw_held_out, dict(scenes=500)),
            judge=judge_answers,
            at="train-vlm",
            seconds=60,
        ),
        Check(
            name="trained maps",
            title="and looks at the patch that it speaks of",
            points=3,
            needs=("values",),
            probe=trained_maps,
            trials=trials(draw_held_out, dict(scenes=200)),
            judge=judge_maps,
            seconds=60,
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            head_average,
            head_sum,
            norm_before_the_sum,
            norm_before_the_mean,
            without_output_projection,
            slices_of_rows,
            l1_norm,
            squared_norm,
            normalised_rows,
            norm_of_the_output,
            without_weights,
        )
    ),
    review="Where it really looks",
)

# ---------------------------------------------------------------- 3.9 swap_patches


def draw_pairs(
    draw: InputSampler, *, scenes: int, patches: int, d_vision: int, dtype=torch.float32
) -> Inputs:
    """A pair for each scene."""
    first = draw.integers(0, patches, scenes)
    second = (first + draw.integers(1, patches, scenes)) % patches
    image_patches = draw.normal(scenes, patches, d_vision, dtype=dtype)
    return {"image_patches": image_patches, "first": first, "second": second}


def draw_swap(draw: InputSampler, **sizes) -> Inputs:
    """One pair for all scenes."""
    inputs = draw_pairs(draw, **sizes)
    return {**inputs, "first": int(inputs["first"][0]), "second": int(inputs["second"][0])}


def draw_same(draw: InputSampler, **sizes) -> Inputs:
    """A patch that changes places with itself."""
    inputs = draw_swap(draw, **sizes)
    return {**inputs, "second": inputs["first"]}


def draw_swap_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_swap(draw, **sizes)
    patches = inputs["image_patches"]
    return {**inputs, "along": draw.normal(*patches.shape, dtype=patches.dtype)}


def swap_values(swap_patches, image_patches: Tensor, first, second) -> Mapping[str, Value]:
    return {"patches": swap_patches(image_patches, first, second)}


def swap_conduct(swap_patches, image_patches: Tensor, first, second, along: Tensor) -> Mapping[str, Value]:
    def call(image_patches: Tensor) -> dict[str, Tensor]:
        return {"patches": swap_patches(image_patches=strided(image_patches), first=first, second=second)}

    kept = image_patches.clone()
    swap_patches(kept, first, second)
    unchanged = torch.equal(kept, image_patches)
    return {
        "the scene that went in is unchanged": unchanged,
        **purity_and_gradients(call, {"image_patches": image_patches}, {"patches": along}),
    }


def _rows(image_patches: Tensor, position) -> tuple:
    return torch.arange(len(image_patches)), position


@mistake(
    "swap_patches",
    "One patch is there twice and the other is lost: after the first assignment it is overwritten. Read both from the original.",
)
def copies_one_way(image_patches, first, second):
    out = image_patches.clone()
    out[_rows(out, first)] = image_patches[_rows(out, second)]
    return out


@mistake("swap_patches", "The scene that was handed in is changed. Work on a copy: .clone().")
def in_place(image_patches, first, second):
    with torch.no_grad():
        image_patches.copy_(swap_patches(image_patches, first, second))
    return image_patches


@mistake(
    "swap_patches", "Scenes change places here. The patches are the second axis: image_patches[:, first]."
)
def swaps_scenes(image_patches, first, second):
    out = image_patches.clone()
    out[first], out[second] = image_patches[second], image_patches[first]
    return out


@mistake(
    "swap_patches", "Pixels change places here. The patches are the second axis: image_patches[:, first]."
)
def swaps_pixels(image_patches, first, second):
    return swap_patches(image_patches.transpose(1, 2), first, second).transpose(1, 2)


@mistake(
    "swap_patches",
    "The same pairs are used for all scenes: with tensors, scene b gets first[b] and second[b].",
)
def all_pairs_everywhere(image_patches, first, second):
    out = image_patches.clone()
    out[:, first], out[:, second] = image_patches[:, second], image_patches[:, first]
    return out


@mistake("swap_patches", "Nothing has moved.")
def nothing_moves(image_patches, first, second):
    return image_patches.clone()


SWAP = Exercise(
    id="3.9",
    title="Intervene: swap two patches",
    reference=(swap_patches,),
    points=5,
    difficulty=1,
    minutes=5,
    checks=(
        Check(
            name="values",
            title="two patches change places, the same two in every scene",
            points=2,
            probe=swap_values,
            examples=trials(draw_swap, dict(scenes=2, patches=4, d_vision=3)),
            trials=(
                *trials(
                    draw_swap, dict(scenes=5, patches=7, d_vision=11), dict(scenes=3, patches=9, d_vision=5)
                ),
                *trials(draw_same, dict(scenes=2, patches=5, d_vision=7)),
            ),
        ),
        Check(
            name="pairs",
            title="a pair of its own for each scene",
            points=2,
            needs=("values",),
            probe=swap_values,
            examples=trials(draw_pairs, dict(scenes=2, patches=4, d_vision=3)),
            trials=trials(
                draw_pairs,
                dict(scenes=5, patches=7, d_vision=11),
                dict(scenes=7, patches=5, d_vision=3),
                dict(scenes=1, patches=3, d_vision=2),
            ),
        ),
        Check(
            name="conduct",
            title=CONDUCT,
            points=1,
            needs=("values",),
            probe=swap_conduct,
            examples=trials(draw_swap_along, dict(scenes=2, patches=3, d_vision=2)),
            trials=trials(draw_swap_along, dict(scenes=3, patches=7, d_vision=5, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (
            in_place,
            all_pairs_everywhere,
            copies_one_way,
            swaps_scenes,
            swaps_pixels,
            nothing_moves,
        )
    ),
    review="Intervene",
)

# ---------------------------------------------------------------- practice: 3.P1 to 3.P4, checked, worth no points


def draw_window(
    draw: InputSampler, *, batch_shape: tuple[int, ...] = (), n: int, d: int, d_v: int, window: int
) -> Inputs:
    return {
        "query": draw.normal(*batch_shape, n, d, scale=1.5),
        "key": draw.normal(*batch_shape, n, d, scale=1.5),
        "value": draw.normal(*batch_shape, n, d_v),
        "window": window,
    }


def draw_linear(draw: InputSampler, *, batch_shape: tuple[int, ...] = (), n: int, d: int, d_v: int) -> Inputs:
    inputs = dict(draw_window(draw, batch_shape=batch_shape, n=n, d=d, d_v=d_v, window=0))
    del inputs["window"]
    return inputs


def largest_tensor(call, *tensors: Tensor) -> int:
    """How many numbers the largest tensor holds that a call makes from these."""
    sizes = [0]

    class Watched(Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            made = super().__torch_function__(function, types, args, kwargs or {})
            sizes.extend(
                one.numel()
                for one in (made if isinstance(made, (tuple, list)) else [made])
                if isinstance(one, Tensor)
            )
            return made

    call(*(tensor.as_subclass(Watched) for tensor in tensors))
    return max(sizes)


def window_values(sliding_window_attention, query: Tensor, key: Tensor, value: Tensor, window: int):
    return {"output": sliding_window_attention(query, key, value, window)}


def window_memory(sliding_window_attention, query: Tensor, key: Tensor, value: Tensor, window: int):
    made = largest_tensor(lambda q, k, v: sliding_window_attention(q, k, v, window), query, key, value)
    return {"makes a tensor of n × n numbers": made >= query.shape[-2] ** 2}


def linear_values(linear_attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Value]:
    return {"output": linear_attention(query, key, value)}


def linear_memory(linear_attention, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Value]:
    made = largest_tensor(linear_attention, query, key, value)
    return {"makes a tensor of n × n numbers": made >= query.shape[-2] ** 2}


@mistake(
    "sliding_window_attention", "The window is one place too narrow: |i − j| ≤ window, the end included."
)
def window_too_narrow(query, key, value, window):
    return sliding_window_attention(query, key, value, max(window - 1, 0))


@mistake("sliding_window_attention", "The window is one place too wide: |i − j| ≤ window.")
def window_too_wide(query, key, value, window):
    return sliding_window_attention(query, key, value, window + 1)


@mistake("sliding_window_attention", "This window looks back only. It reaches `window` places to both sides.")
def looks_back_only(query, key, value, window):
    n = query.shape[-2]
    mask = torch.ones(n, n).tril().triu(-window).bool()
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@mistake(
    "sliding_window_attention", "The answer is right, but it builds the whole n × n matrix: nothing is saved."
)
def dense_window(query, key, value, window):
    n = query.shape[-2]
    mask = torch.ones(n, n).tril(window).triu(-window).bool()
    weights = (
        (query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    )
    return weights @ value


@mistake("sliding_window_attention", "Nothing is masked: every position sees all others.")
def no_window(query, key, value, window):
    return F.scaled_dot_product_attention(query, key, value)


WINDOW = Exercise(
    id="3.P1",
    title="Practice: a sliding window",
    reference=(sliding_window_attention,),
    points=0,
    difficulty=3,
    minutes=15,
    checks=(
        Check(
            name="values",
            title="equal to dense attention under a band mask",
            points=0,
            probe=window_values,
            examples=trials(draw_window, dict(n=5, d=2, d_v=3, window=1)),
            trials=trials(
                draw_window,
                dict(batch_shape=(2,), n=11, d=3, d_v=5, window=2),
                dict(batch_shape=(2, 3), n=7, d=5, d_v=2, window=3),
                dict(n=5, d=3, d_v=2, window=7),
                dict(n=5, d=3, d_v=2, window=0),
            ),
        ),
        Check(
            name="memory",
            title="without any n × n matrix",
            points=0,
            needs=("values",),
            probe=window_memory,
            examples=trials(draw_window, dict(n=64, d=2, d_v=3, window=1)),
            trials=trials(draw_window, dict(n=211, d=3, d_v=5, window=2)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (no_window, window_too_narrow, window_too_wide, looks_back_only, dense_window)
    ),
    review="What attention costs",
)


@mistake(
    "linear_attention",
    "The sums run over each position's own key, so no tokens are mixed. Sum over all keys first.",
)
def mixes_nothing(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    similarity = (query * key).sum(-1, keepdim=True)
    return similarity * value / similarity


@mistake("linear_attention", "The output is not normalised: divide by φ(q) · Σ φ(k).")
def not_normalised(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    return query @ (key.transpose(-2, -1) @ value)


@mistake("linear_attention", "The feature map is elu(x) + 1; without the 1 the similarities may be negative.")
def without_the_one(query, key, value):
    query, key = F.elu(query), F.elu(key)
    return query @ (key.transpose(-2, -1) @ value) / (query @ key.sum(-2).unsqueeze(-1))


@mistake("linear_attention", "This is softmax attention. Linear attention replaces exp(q·k) by φ(q)·φ(k).")
def softmax_attention(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


@mistake("linear_attention", "The answer is right, but φ(Q)φ(K)ᵀ is n × n. Multiply φ(K)ᵀ with V first.")
def quadratic_order(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    weights = query @ key.transpose(-2, -1)
    return weights / weights.sum(-1, keepdim=True) @ value


LINEAR = Exercise(
    id="3.P2",
    title="Practice: linear attention",
    reference=(linear_attention,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="equal to its quadratic form",
            points=0,
            probe=linear_values,
            examples=trials(draw_linear, dict(n=3, d=2, d_v=4)),
            trials=trials(
                draw_linear,
                dict(batch_shape=(2,), n=11, d=3, d_v=5),
                dict(n=5, d=7, d_v=2),
                dict(batch_shape=(2, 3), n=7, d=2, d_v=5),
            ),
        ),
        Check(
            name="memory",
            title="without any n × n matrix",
            points=0,
            needs=("values",),
            probe=linear_memory,
            examples=trials(draw_linear, dict(n=64, d=2, d_v=3)),
            trials=trials(draw_linear, dict(n=211, d=3, d_v=5)),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (mixes_nothing, not_normalised, without_the_one, softmax_attention, quadratic_order)
    ),
    review="What attention costs",
)


def draw_cross(draw: InputSampler, **sizes) -> Inputs:
    return {**draw_map(draw, **sizes), "mask": None}


def draw_self(draw: InputSampler, **sizes) -> Inputs:
    return {**draw_cross(draw, **sizes), "image_tokens": None}


def draw_masked_cross(draw: InputSampler, **sizes) -> Inputs:
    return {
        **draw_map(draw, **sizes),
        "mask": draw.mask(*sizes.get("batch_shape", ()), sizes["tokens"], sizes["patches"]),
    }


def draw_masked_self(draw: InputSampler, **sizes) -> Inputs:
    return {
        **draw_self(draw, **sizes),
        "mask": draw.mask(*sizes.get("batch_shape", ()), sizes["tokens"], sizes["tokens"]),
    }


def fused_values(
    fused_forward,
    MultiHeadAttention,
    d_model: int,
    heads: int,
    weights: Mapping,
    tokens: Tensor,
    image_tokens,
    mask,
) -> Mapping[str, Value]:
    layer = load(MultiHeadAttention(d_model, heads), weights)
    return {"output": fused_forward(layer, tokens, image_tokens, mask).detach()}


@mistake("fused_forward", "The heads are not split: one head of width d_model is another function.")
def one_wide_head(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    return layer.W_O(
        F.scaled_dot_product_attention(
            layer.W_Q(tokens), layer.W_K(context), layer.W_V(context), attn_mask=mask
        )
    )


@mistake("fused_forward", "The mask is not handed on: attn_mask=mask.")
def fused_without_mask(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context)


@mistake(
    "fused_forward",
    "The mask is turned around. Here too True = may attend; only nn.MultiheadAttention means the opposite.",
)
def fused_mask_inverted(layer, tokens, context=None, mask=None):
    return fused_forward(layer, tokens, context, None if mask is None else ~mask)


@mistake("fused_forward", "W_O is missing at the end.")
def fused_without_projection(layer, tokens, context=None, mask=None):
    kept, layer.W_O = layer.W_O, nn.Identity()
    try:
        return fused_forward(layer, tokens, context, mask)
    finally:
        layer.W_O = kept


FUSED = Exercise(
    id="3.P3",
    title="Practice: the fused kernel",
    reference=(fused_forward,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="the same output as MultiHeadAttention",
            points=0,
            probe=fused_values,
            examples=trials(draw_cross, dict(tokens=2, patches=3, d_model=4, heads=2)),
            trials=(
                *trials(draw_cross, dict(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2)),
                *trials(draw_self, dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3)),
            ),
        ),
        Check(
            name="mask",
            title="and the same mask",
            points=0,
            needs=("values",),
            probe=fused_values,
            examples=trials(draw_masked_cross, dict(tokens=2, patches=3, d_model=4, heads=2)),
            trials=(
                *trials(draw_masked_cross, dict(tokens=5, patches=7, d_model=6, heads=2)),
                *trials(draw_masked_self, dict(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3)),
            ),
        ),
    ),
    mistakes=tuple(
        one.__mistake__
        for one in (one_wide_head, fused_without_mask, fused_mask_inverted, fused_without_projection)
    ),
    review="What attention costs",
)


def patient(image_patches: Tensor, illness: str) -> nn.Module:
    """A model with the interface of MiniVLM that reads its answer off the first patch, and may be ill."""
    vocabulary = image_patches.shape[-1]

    class Patient(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(5.0))
            self.offset = nn.Parameter(torch.linspace(-0.1, 0.1, vocabulary))
            self.spare = nn.Parameter(torch.ones(3))

        def forward(self, token_ids: Tensor, image_patches: Tensor):
            batch, T = token_ids.shape
            S = image_patches.shape[-2]
            seen = image_patches[:, 0]
            if illness == "misaligned":  # every scene looks like the average one
                seen = seen.mean(0).expand_as(seen)
            logits = (self.scale * seen + self.offset).unsqueeze(1).expand(batch, T, vocabulary)
            if illness != "no gradient":
                logits = logits + self.spare.sum() * torch.linspace(0, 0.01, vocabulary, device=seen.device)
            scene, head, word = (torch.arange(size, device=seen.device) for size in (batch, 2, T))
            patch = scene[:, None, None] + head[:, None] + word  # (batch, 2, T)
            scores = 4.0 * F.one_hot(patch % S, S).float()
            if illness == "uniform":
                scores = 0.0 * scores
            if illness == "one patch":
                scores = 9.0 * F.one_hot(torch.ones_like(patch), S).float()
            return logits, [scores.softmax(-1)]

    model = Patient().to(image_patches.device)
    if illness == "frozen":
        model.offset.requires_grad_(False)
    return model


def draw_patient(draw: InputSampler, *, scenes: int, illness: str) -> Inputs:
    answers = draw.permutation(11)[:scenes] + 1  # 0 is padding
    patches = F.one_hot(answers, 13).float().unsqueeze(1) + draw.normal(scenes, 5, 13, scale=0.05)
    prompt = draw.integers(1, 13, scenes, 3)
    token_ids = torch.cat([prompt, answers.unsqueeze(1), torch.zeros(scenes, 1, dtype=torch.long)], 1)
    return {
        "illness": illness,
        "token_ids": token_ids,
        "prompt_lengths": torch.full((scenes,), 3),
        "image_patches": patches,
    }


def diagnose_values(
    diagnose, illness: str, token_ids: Tensor, prompt_lengths: Tensor, image_patches: Tensor
) -> Mapping[str, Value]:
    model = patient(image_patches, illness)
    return {"found": list(diagnose(model, (token_ids, prompt_lengths, image_patches)))}


@mistake("diagnose", "A healthy model is called ill: the list is empty where nothing is found.")
def always_ill(model, batch):
    return diagnose(model, batch) or ["misaligned"]


@mistake("diagnose", "Nothing is ever found.")
def never_ill(model, batch):
    return []


@mistake(
    "diagnose",
    "Uniform attention and attention on one patch are opposites; here they are told as one another.",
)
def collapses_confused(model, batch):
    other = {"uniform": "one patch", "one patch": "uniform"}
    return [other.get(name, name) for name in diagnose(model, batch)]


@mistake("diagnose", "A frozen parameter and one that no gradient reaches are two findings.")
def frozen_confused(model, batch):
    return ["no gradient" if name == "frozen" else name for name in diagnose(model, batch)]


DIAGNOSE = Exercise(
    id="3.P4",
    title="Practice: what is wrong with this model?",
    reference=(diagnose,),
    points=0,
    difficulty=3,
    minutes=15,
    builds_on=("3.5",),
    checks=(
        Check(
            name="values",
            title="five illnesses and a healthy model are told apart",
            points=0,
            probe=diagnose_values,
            examples=trials(
                draw_patient,
                dict(scenes=5, illness="none"),
                dict(scenes=5, illness="uniform"),
                dict(scenes=5, illness="one patch"),
                dict(scenes=5, illness="misaligned"),
                dict(scenes=5, illness="frozen"),
                dict(scenes=5, illness="no gradient"),
            ),
            trials=trials(
                draw_patient,
                dict(scenes=7, illness="none"),
                dict(scenes=7, illness="frozen"),
                dict(scenes=7, illness="no gradient"),
                dict(scenes=7, illness="uniform"),
                dict(scenes=7, illness="one patch"),
                dict(scenes=7, illness="misaligned"),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (never_ill, always_ill, collapses_confused, frozen_confused)),
    review="What goes wrong",
)

LESSON = Lesson(
    assignment="3-vlm",
    title="A small vision-language model",
    exercises=(
        PATCHIFY,
        POSITIONS,
        BLOCK,
        MINI_VLM,
        TARGETS,
        STEP,
        GENERATE,
        GROUNDING,
        SWAP,
        WINDOW,
        LINEAR,
        FUSED,
        DIAGNOSE,
    ),
    given={"MultiHeadAttention": MultiHeadAttention, "model": None, "record": None, "seed": 0},
    cell_seconds={"train-vlm": 240.0},
)
