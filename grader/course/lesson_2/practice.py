"""The exercises for practice: 2.P1 attention_entropy, 2.P2 classify_pattern, 2.P3 ImageTextFusion."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import torch
from attention.fusion import ImageTextFusion
from attention.patterns import attention_entropy, classify_pattern
from torch import Tensor

from grader.course.lesson_2.layers import count_parameters, draw_head_projections, draw_projection
from grader.declaration.exercise import Exercise, mistake, mistakes_in
from grader.declaration.probes import load, named
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Inputs

# ---------------------------------------------------------------- 2.P1 attention_entropy


def draw_sharp_maps(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw maps with some weights of exactly 0; the first query gives all its weight to the second key."""
    scores = sampler.normal(*batch_shape, queries, keys, scale=3.0, dtype=dtype)
    scores = scores.masked_fill(~sampler.mask(*batch_shape, queries, keys), -torch.inf)
    scores[..., 0, :] = -torch.inf
    scores[..., 0, 1] = 0.0
    return {"weights": scores.softmax(-1)}


@mistake(
    "attention_entropy",
    "0 · log 0 counts as 0 here, but computes to NaN. Leave out the weights that are 0, or use torch.special.entr.",
)
def nan_at_zero(weights: Tensor) -> Tensor:
    return -(weights * weights.log()).sum(-1) / log(weights.shape[-1])


@mistake(
    "attention_entropy",
    "Divide by the entropy of a uniform row, log S, so that 1 is the most there can be.",
    name="not_normalised",
)
def entropy_not_normalised(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-1)


@mistake("attention_entropy", "Return one number for each query, not one for the whole map.")
def one_for_all(weights: Tensor) -> Tensor:
    return (torch.special.entr(weights).sum(-1) / log(weights.shape[-1])).mean()


@mistake(
    "attention_entropy",
    "The entropy is taken over the queries. Each query spreads its attention over the keys: the last axis.",
)
def over_the_queries(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-2) / log(weights.shape[-2])


ENTROPY_CHECKS = StandardChecks(reference=attention_entropy, returns=("entropy",), draw=draw_sharp_maps)

ENTROPY = Exercise(
    id="2.P1",
    title="How widely does a query look?",
    reference=(attention_entropy,),
    points=0,
    difficulty=1,
    minutes=5,
    checks=(
        ENTROPY_CHECKS.values(
            "0 for one key, 1 for all keys alike",
            0,
            examples=[dict(queries=3, keys=5)],
            trials=[
                dict(queries=5, keys=7),
                dict(batch_shape=(2, 3), queries=7, keys=5, dtype=torch.float64),
            ],
        ),
    ),
    mistakes=mistakes_in(globals(), "attention_entropy"),
    review="Reading a map",
)

# ---------------------------------------------------------------- 2.P2 classify_pattern


def draw_patterns(sampler: InputSampler, *, n: int) -> Inputs:
    """Draw a map of each of the five patterns, in random order, with 15 % noise."""
    position = torch.arange(n)
    near = torch.ones(n, n).tril(1).triu(-1)
    hub, far = torch.zeros(n, n), torch.zeros(n, n)
    hub[:, int(sampler.integers(1, n - 1))] = 1
    far[position, (position + n // 2) % n] = 1
    kinds = (torch.ones(n, n) / n, hub, torch.eye(n), near / near.sum(-1, keepdim=True), far)
    noise = sampler.uniform(len(kinds), n, n)
    noise = noise / noise.sum(-1, keepdim=True)
    order = sampler.permutation(len(kinds))
    return {"maps": (0.85 * torch.stack(kinds) + 0.15 * noise)[order]}


def pattern_values(function, arguments: Mapping[str, Tensor]) -> dict[str, Any]:
    """Find the word for each map."""
    return {"patterns": [function(weights) for weights in arguments["maps"]]}


@mistake(
    "classify_pattern", "A hub is a key that all queries look at: a column of the map. Rows always sum to 1."
)
def hub_in_rows(weights: Tensor) -> str:
    return classify_pattern(weights.T) if classify_pattern(weights) == "hub" else classify_pattern(weights)


@mistake("classify_pattern", "Ask for the diagonal before the band: a diagonal lies inside every band.")
def band_before_diagonal(weights: Tensor) -> str:
    return "local" if classify_pattern(weights) == "diagonal" else classify_pattern(weights)


@mistake(
    "classify_pattern",
    'A map that spreads evenly is "uniform", whatever else it may look like: ask for it first.',
)
def never_uniform(weights: Tensor) -> str:
    return "other" if classify_pattern(weights) == "uniform" else classify_pattern(weights)


PATTERN_CHECKS = StandardChecks(reference=classify_pattern, returns=("patterns",), draw=draw_patterns)

PATTERN = Exercise(
    id="2.P2",
    title="A word for a map",
    reference=(classify_pattern,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        PATTERN_CHECKS.values(
            "uniform, hub, diagonal, local or other",
            0,
            probe=pattern_values,
            examples=[dict(n=7)],
            trials=[dict(n=11), dict(n=13), dict(n=17)],
        ),
    ),
    mistakes=mistakes_in(globals(), "classify_pattern"),
    builds_on=("2.P1",),
    review="Reading a map",
)

# ---------------------------------------------------------------- 2.P3 ImageTextFusion


def draw_fusion(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    text: int,
    image: int,
    d_text: int,
    d_image: int,
    heads: int | None = None,
    d_head: int,
) -> Inputs:
    """Draw a layer's weights and arguments; with heads=None the layer uses its default of 4 heads."""
    d_model = (heads or 4) * d_head
    sizes = {"d_text": d_text, "d_image": d_image, "d_model": d_model}
    weights: dict[str, Tensor] = {}
    for side, width in (("text", d_text), ("image", d_image)):
        weights[f"{side}_norm.weight"] = sampler.uniform(width) + 0.5
        weights[f"{side}_norm.bias"] = sampler.normal(width)
        weights |= draw_projection(sampler, f"{side}_in", width, d_model)
        weights |= draw_projection(sampler, f"{side}_out", d_model, width)
    for prefix in ("text_from_image.", "image_from_text."):
        weights |= draw_head_projections(sampler, prefix, d_model, d_model)
    return {
        "sizes": sizes if heads is None else {**sizes, "num_heads": heads},
        "weights": weights,
        "arguments": {
            "text_tokens": sampler.normal(*batch_shape, text, d_text),
            "image_tokens": sampler.normal(*batch_shape, image, d_image),
        },
    }


def fusion_values(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None]
) -> dict[str, Any]:
    """Make and call a layer, num_heads by keyword where it is not the default; count its parameters."""
    d_text, d_image, d_model, *_ = sizes.values()
    options = {name: value for name, value in sizes.items() if name == "num_heads"}
    fusion = load(layer_class(d_text, d_image, d_model, **options), weights)
    return {**named(fusion(*arguments.values()), returns), "numbers to learn": count_parameters(fusion)}


@mistake(
    "ImageTextFusion",
    "The residual is added inside the layer. The caller adds it, once; twice makes activations grow layer by layer.",
)
class ResidualInside(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = super().forward(text_tokens, image_tokens)
        return text_tokens + text, image_tokens + image


@mistake(
    "ImageTextFusion",
    "The image looks at a text that has just been changed. Both sides look at what came in.",
)
class OneAfterTheOther(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        seen = self.text_from_image(text, image)[0]
        return self.text_out(seen), self.image_out(self.image_from_text(image, text + seen)[0])


@mistake("ImageTextFusion", "The two directions have changed places: the text asks in text_from_image.")
class DirectionsSwapped(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.image_from_text(text, image)[0]),
            self.image_out(self.text_from_image(image, text)[0]),
        )


@mistake("ImageTextFusion", "The tokens are not normalised. Put them through text_norm and image_norm first.")
class NoNorm(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(text_tokens), self.image_in(image_tokens)
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )


FUSION_CHECKS = StandardChecks(
    reference=ImageTextFusion, returns=("text update", "image update"), draw=draw_fusion
)

FUSION = Exercise(
    id="2.P3",
    title="Both directions at once",
    reference=(ImageTextFusion,),
    points=0,
    difficulty=3,
    minutes=10,
    builds_on=("2.4", "2.5", "2.6"),
    checks=(
        FUSION_CHECKS.values(
            "the text looks at the image and the image at the text",
            0,
            probe=fusion_values,
            examples=[dict(batch_shape=(2,), text=3, image=4, d_text=3, d_image=5, heads=2, d_head=2)],
            trials=[
                dict(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2),
                dict(text=7, image=3, d_text=5, d_image=11, heads=2, d_head=3),
                dict(text=3, image=5, d_text=7, d_image=11, d_head=2),
            ],
        ),
    ),
    mistakes=mistakes_in(globals(), "ImageTextFusion"),
    review="Both directions",
)
