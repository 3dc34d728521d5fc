"""Exercises 1.7 SelfAttention and 1.8 CrossAttention, whose queries come from text and keys from an image."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import torch
from attention.dot_product import masked_attention
from attention.single_head import CrossAttention, SelfAttention
from torch import Tensor, nn

from grader.course.lesson_1.shared import draw_mask
from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Inputs, Value

LAYER_CONDUCT = "gradients reach every parameter, float64 stays float64, inputs stay as they are"


def draw_projections(sampler: InputSampler, d_k: int, dtype: torch.dtype, **widths: int) -> dict[str, Tensor]:
    """Draw a weight matrix for each name in `widths`; W_Q=8 means that the input of W_Q is 8 wide."""
    return {
        f"{name}.weight": sampler.normal(d_k, width, scale=1.5 / sqrt(width), dtype=dtype)
        for name, width in widths.items()
    }


def draw_layer_sizes(sampler: InputSampler, **sizes: int) -> Inputs:
    """Return the sizes of a layer as {"sizes": …}; nothing is random."""
    return {"sizes": sizes}


def layer_parameters(layer_class, sizes: Mapping) -> Mapping[str, Value]:
    """List the names and shapes of all parameters of a new layer: ["W_K.weight (3, 7)", …]."""
    named = sorted(layer_class(**sizes).named_parameters())
    return {"parameters": [f"{name} {tuple(parameter.shape)}" for name, parameter in named]}


# ---------------------------------------------------------------- 1.7 SelfAttention


def draw_self_attention(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    d_model: int,
    d_k: int,
    mask: str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw the layer's weights and arguments; `mask` is a kind of `draw_mask`, or None for no mask."""
    drawn_mask = {"mask": draw_mask(sampler, mask, batch_shape, tokens, tokens)} if mask else {}
    return {
        "sizes": {"d_model": d_model, "d_k": d_k},
        "weights": draw_projections(sampler, d_k, dtype, W_Q=d_model, W_K=d_model, W_V=d_model),
        "arguments": {"tokens": sampler.normal(*batch_shape, tokens, d_model, dtype=dtype), **drawn_mask},
    }


@mistake("SelfAttention", "Keys and queries come from one projection. Each has its own: W_K makes the keys.")
class KeysFromWQ(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_Q(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The values come from W_K. They have a projection of their own: W_V.")
class ValuesFromWK(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_K(tokens), mask)


@mistake(
    "SelfAttention", "Queries and keys have changed places: W_Q makes what asks, W_K what is compared with."
)
class RolesSwapped(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_K(tokens), self.W_Q(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The output averages the tokens as they came in. The values are W_V(tokens).")
class ValuesNotProjected(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), tokens, mask)


@mistake(
    "SelfAttention", "Tokens are compared as they came in. Project them first: W_Q for queries, W_K for keys."
)
class NothingProjected(SelfAttention):
    def forward(self, tokens, mask=None):
        return masked_attention(tokens, tokens, self.W_V(tokens), mask)


@mistake("SelfAttention", "The scores are not divided by √d_k. Your masked_attention of 1.6 does it for you.")
class SelfUnscaled(SelfAttention):
    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens) * sqrt(self.W_Q.out_features)
        return masked_attention(query, self.W_K(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The scores are divided by √d_model. d_k is the width after the projection.")
class ScaledByDModel(SelfAttention):
    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens) * sqrt(self.W_Q.out_features / self.W_Q.in_features)
        return masked_attention(query, self.W_K(tokens), self.W_V(tokens), mask)


@mistake("SelfAttention", "The mask never arrives: hand it on to masked_attention.")
class SelfMaskDropped(SelfAttention):
    def forward(self, tokens, mask=None):
        return super().forward(tokens)


@mistake(
    "SelfAttention", "The projections have a bias. They are asked for without: nn.Linear(…, bias=False)."
)
class SelfWithBias(SelfAttention):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k) for _ in range(3))


@mistake(
    "SelfAttention", "The weights come back cut off by .detach(). Without it, training can learn from them."
)
class SelfWeightsDetached(SelfAttention):
    def forward(self, tokens, mask=None):
        output, weights = super().forward(tokens, mask)
        return output, weights.detach()


SELF_CHECKS = StandardChecks(
    reference=SelfAttention, returns=("output", "weights"), draw=draw_self_attention, zero_others=True
)

SELF_MASK = SELF_CHECKS.further_values(
    "mask",
    "the mask is obeyed",
    4,
    map="weights",
    examples=[dict(tokens=3, d_model=4, d_k=2, mask="causal")],
    trials=[
        dict(tokens=7, d_model=5, d_k=3, mask="causal"),
        dict(batch_shape=(3,), tokens=5, d_model=7, d_k=2, mask="padding"),
        dict(batch_shape=(2,), tokens=5, d_model=3, d_k=7, mask="each"),
    ],
)

SELF_PARAMETERS = SELF_CHECKS.further_values(
    "parameters",
    "W_Q, W_K and W_V without bias are the only parameters",
    2,
    probe=layer_parameters,
    draw=draw_layer_sizes,
    examples=[dict(d_model=4, d_k=2)],
    trials=[dict(d_model=7, d_k=3)],
)

SELF_GRADIENTS = SELF_CHECKS.conduct(
    2,
    title=LAYER_CONDUCT,
    examples=[dict(tokens=3, d_model=4, d_k=2, mask="causal", dtype=torch.float32)],
    trials=[dict(batch_shape=(2,), tokens=5, d_model=7, d_k=3, mask="causal", dtype=torch.float64)],
)

SELF_ATTENTION = Exercise(
    id="1.7",
    title="Self-attention",
    reference=(SelfAttention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"),
    bans=frozenset({"fused attention"}),
    checks=(
        SELF_CHECKS.values(
            "tokens ask, and the same tokens answer",
            6,
            map="weights",
            examples=[dict(tokens=3, d_model=4, d_k=2)],
            trials=[dict(tokens=5, d_model=7, d_k=3), dict(tokens=7, d_model=3, d_k=11)],
        ),
        SELF_MASK,
        SELF_CHECKS.batch(
            1,
            trials=[
                dict(batch_shape=(3,), tokens=5, d_model=7, d_k=2),
                dict(batch_shape=(2, 3), tokens=5, d_model=11, d_k=7),
            ],
        ),
        SELF_PARAMETERS,
        SELF_GRADIENTS,
    ),
    mistakes=mistakes_in(globals(), "SelfAttention"),
    review="Self-attention",
)

# ---------------------------------------------------------------- 1.8 CrossAttention


def draw_cross_attention(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    words: int,
    patches: int,
    d_text: int,
    d_image: int,
    d_k: int,
    mask: str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw the layer's weights and arguments; `mask` is a kind of `draw_mask`, or None for no mask."""
    drawn_mask = {"mask": draw_mask(sampler, mask, batch_shape, words, patches)} if mask else {}
    return {
        "sizes": {"d_text": d_text, "d_image": d_image, "d_k": d_k},
        "weights": draw_projections(sampler, d_k, dtype, W_Q=d_text, W_K=d_image, W_V=d_image),
        "arguments": {
            "text_tokens": sampler.normal(*batch_shape, words, d_text, dtype=dtype),
            "image_tokens": sampler.normal(*batch_shape, patches, d_image, dtype=dtype),
            **drawn_mask,
        },
    }


@mistake(
    "CrossAttention",
    "The keys come from the text, so the image is never compared with. W_K reads image_tokens.",
)
class KeysFromText(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(image_tokens), mask)


@mistake(
    "CrossAttention",
    "The values come from the text: the answer holds nothing of the image. W_V reads image_tokens.",
)
class ValuesFromText(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The image asks and the text answers. Turn it around: queries from the text, the rest from the image.",
)
class ImageAsks(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The text looks at itself: the image is not used. Keys and values come from image_tokens.",
)
class TextLooksAtItself(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)


@mistake(
    "CrossAttention",
    "The widths are the wrong way round: W_Q reads d_text numbers, W_K and W_V read d_image.",
)
class WidthsSwapped(CrossAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_text, d_k)


@mistake("CrossAttention", "The values come from W_K. They have a projection of their own: W_V.")
class CrossValuesFromWK(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_K(image_tokens), mask)


@mistake(
    "CrossAttention", "The scores are not divided by √d_k. Your masked_attention of 1.6 does it for you."
)
class CrossUnscaled(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens) * sqrt(self.W_Q.out_features)
        return masked_attention(query, self.W_K(image_tokens), self.W_V(image_tokens), mask)


@mistake("CrossAttention", "The mask never arrives: hand it on to masked_attention.")
class CrossMaskDropped(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens)


@mistake(
    "CrossAttention", "The projections have a bias. They are asked for without: nn.Linear(…, bias=False)."
)
class CrossWithBias(CrossAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_image, d_k)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(width, d_k) for width in (d_text, d_image, d_image))


@mistake(
    "CrossAttention", "The weights come back cut off by .detach(). Without it, training can learn from them."
)
class CrossWeightsDetached(CrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = super().forward(text_tokens, image_tokens, mask)
        return output, weights.detach()


CROSS_CHECKS = StandardChecks(
    reference=CrossAttention, returns=("output", "weights"), draw=draw_cross_attention, zero_others=True
)

CROSS_VALUES = CROSS_CHECKS.values(
    "text asks, the image answers",
    6,
    map="weights",
    examples=[
        dict(words=2, patches=3, d_text=4, d_image=4, d_k=5),
        dict(words=2, patches=3, d_text=4, d_image=5, d_k=6),
    ],
    trials=[
        dict(words=5, patches=7, d_text=11, d_image=3, d_k=2),
        dict(words=3, patches=5, d_text=2, d_image=7, d_k=11),
    ],
)

CROSS_MASK = CROSS_CHECKS.further_values(
    "mask",
    "the mask is obeyed",
    4,
    map="weights",
    examples=[dict(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared")],
    trials=[
        dict(words=5, patches=7, d_text=11, d_image=3, d_k=2, mask="shared"),
        dict(batch_shape=(3,), words=5, patches=7, d_text=2, d_image=11, d_k=13, mask="padding"),
        dict(batch_shape=(2,), words=7, patches=5, d_text=3, d_image=11, d_k=13, mask="each"),
    ],
)

CROSS_PARAMETERS = CROSS_CHECKS.further_values(
    "parameters",
    "W_Q, W_K and W_V without bias are the only parameters",
    2,
    probe=layer_parameters,
    draw=draw_layer_sizes,
    examples=[dict(d_text=4, d_image=5, d_k=6)],
    trials=[dict(d_text=7, d_image=5, d_k=3)],
)

CROSS_GRADIENTS = CROSS_CHECKS.conduct(
    2,
    title=LAYER_CONDUCT,
    examples=[dict(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared", dtype=torch.float32)],
    trials=[
        dict(
            batch_shape=(2,),
            words=5,
            patches=7,
            d_text=11,
            d_image=3,
            d_k=13,
            mask="padding",
            dtype=torch.float64,
        )
    ],
)

CROSS_ATTENTION = Exercise(
    id="1.8",
    title="Cross-attention: text asks, the image answers",
    reference=(CrossAttention,),
    points=15,
    difficulty=2,
    minutes=10,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"),
    bans=frozenset({"fused attention"}),
    checks=(
        CROSS_VALUES,
        CROSS_MASK,
        CROSS_CHECKS.batch(
            1,
            trials=[
                dict(batch_shape=(3,), words=5, patches=7, d_text=11, d_image=2, d_k=13),
                dict(batch_shape=(2, 3), words=7, patches=5, d_text=11, d_image=13, d_k=17),
            ],
        ),
        CROSS_PARAMETERS,
        CROSS_GRADIENTS,
    ),
    mistakes=mistakes_in(globals(), "CrossAttention"),
    review="Cross-attention",
)
