"""Exercise 3.4: `MiniVLM`, the whole model."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.vlm import MiniVLM

from grader.course.lesson_3 import model_mistakes
from grader.course.lesson_3.layer_weights import build_quietly, draw_layer_weights
from grader.declaration.exercise import Exercise, mistakes_in
from grader.declaration.probes import load, pair
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.records import Inputs, Value


def draw_model(
    sampler: InputSampler,
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
    """Draw a model's weights and arguments; with cross_layers=None the model uses its default."""
    sizes = {
        "d_vision": d_vision,
        "d_model": d_model,
        "num_heads": heads,
        "d_ff": d_model + 1,
        "num_layers": layers,
        "vocab_size": vocabulary,
        "max_tokens": tokens + 2,
        "num_patches": patches,
        "cross_layers": cross_layers,
    }
    return {
        "sizes": sizes,
        "weights": draw_layer_weights(sampler, build_quietly(MiniVLM, **sizes), dtype),
        "arguments": {
            "token_ids": sampler.integers(0, vocabulary, *batch_shape, tokens),
            "image_patches": sampler.normal(*batch_shape, patches, d_vision, dtype=dtype),
        },
    }


def call_model(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> Mapping[str, Value]:
    """Make a model of some sizes, put our weights into it, and return logits and maps, in whatever sequence."""
    model = load(layer_class(**sizes), weights)
    logits, maps = pair(model(*arguments.values()))
    return {"logits": logits, "cross weights": list(maps)}


def compare_prefix(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> Mapping[str, Value]:
    """Return the logits of a prefix, and whether they are the same within the whole."""
    model = load(layer_class(**sizes), weights)
    token_ids, image_patches = arguments.values()
    whole, _ = pair(model(token_ids, image_patches))
    half = token_ids.shape[-1] // 2
    start, _ = pair(model(token_ids[..., :half], image_patches))
    return {
        "later words change nothing": torch.allclose(whole[..., :half, :], start, atol=1e-4),
        "logits": start,
    }


# The None leaves the maps out of the probes of StandardChecks, so the check of gradients differentiates the
# logits alone. Most checks of values use `call_model`, which returns the maps, too.
STANDARD_MODEL = StandardChecks(reference=MiniVLM, returns=("logits", None), draw=draw_model)
CAUSAL_SIZES = dict(batch_shape=(2,), tokens=7, patches=3, d_vision=5, d_model=6, heads=3, layers=2)
MODEL_IS_CAUSAL = STANDARD_MODEL.values(
    "what comes later changes nothing before",
    2,
    name="causal",
    needs=("values",),
    probe=compare_prefix,
    trials=[dict(CAUSAL_SIZES, vocabulary=13)],
)
TINY_MODEL = dict(tokens=3, patches=2, d_vision=3, d_model=4, heads=2, layers=2, vocabulary=5)
THREE_LAYERS = dict(batch_shape=(2,), tokens=5, patches=3, d_vision=5, d_model=6, heads=2, layers=3)
TWO_LAYERS = dict(batch_shape=(2,), tokens=3, patches=5, d_vision=2, d_model=6, heads=3, layers=2)
ANY_LAYERS = STANDARD_MODEL.values(
    "any blocks may look, and each has its map",
    2,
    name="layers",
    needs=("values",),
    probe=call_model,
    examples=[dict(TINY_MODEL, cross_layers=[0, 1])],
    trials=[dict(THREE_LAYERS, cross_layers=[0, 2]), dict(TWO_LAYERS, cross_layers=[])],
)
MODEL_BATCH = STANDARD_MODEL.batch(
    1,
    title="with and without batch dimensions",
    probe=call_model,
    trials=[
        dict(tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2),
        dict(batch_shape=(2, 3), tokens=4, patches=5, d_vision=3, d_model=6, heads=3, layers=2),
    ],
)
MODEL_GRADIENT_SIZES = dict(batch_shape=(2,), tokens=5, patches=3, d_vision=7, d_model=6, heads=2, layers=2)
MINI_VLM = Exercise(
    id="3.4",
    title="The whole model",
    reference=(MiniVLM,),
    points=15,
    difficulty=2,
    minutes=12,
    builds_on=("3.2", "3.3"),
    checks=(
        STANDARD_MODEL.values(
            "image and text meet, and every position predicts its next word",
            9,
            probe=call_model,
            examples=[dict(batch_shape=(1,), **TINY_MODEL)],
            trials=[
                dict(batch_shape=(3,), tokens=5, patches=4, d_vision=7, d_model=6, heads=2, layers=2),
                dict(batch_shape=(2,), tokens=7, patches=5, d_vision=3, d_model=9, heads=3, layers=3),
            ],
        ),
        MODEL_IS_CAUSAL,
        ANY_LAYERS,
        MODEL_BATCH,
        STANDARD_MODEL.conduct(1, trials=[dict(MODEL_GRADIENT_SIZES, dtype=torch.float64)]),
    ),
    mistakes=mistakes_in(vars(model_mistakes), "MiniVLM"),
    review="The whole model",
)
