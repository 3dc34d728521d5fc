"""Exercise 3.2: `PositionEmbedding`, a learned vector for each position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from attention.positions import PositionEmbedding
from torch import Tensor, nn

from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import load, named, purity_and_gradients
from grader.declaration.sampler import InputSampler
from grader.declaration.standard_checks import StandardChecks
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_positions(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    n: int,
    d_model: int,
    dtype=torch.float32,
) -> Inputs:
    """Draw the n vectors of the layer, and `tokens` ≤ n tokens."""
    return {
        "sizes": {"n": n, "d_model": d_model},
        "weights": {"embedding": sampler.normal(n, d_model, dtype=dtype)},
        "arguments": {"tokens": sampler.normal(*batch_shape, tokens, d_model, dtype=dtype)},
    }


def draw_position_sizes(sampler: InputSampler, *, n: int, d_model: int) -> Inputs:
    """Return the sizes of the layer; nothing is random."""
    return {"n": n, "d_model": d_model}


def position_parameters(PositionEmbedding, n: int, d_model: int) -> Mapping[str, Value]:
    """Report the parameters of a layer: their names, the embedding's shape, and whether all are learned."""
    layer = PositionEmbedding(n=n, d_model=d_model)
    return {
        "parameters": sorted(name for name, _ in layer.named_parameters()),
        "shape": list(layer.embedding.shape),
        "learned": all(parameter.requires_grad for parameter in layer.parameters()),
    }


def position_gradients(layer_class, sizes, weights, arguments, returns, grad_outputs) -> dict[str, Any]:
    """Do what `layer_gradients` does, with the sizes in their order and with the parameters that the layer has.

    The check "parameters" compares the names of both.
    """
    layer = load(layer_class(*sizes.values()), weights)

    def call(**given: Tensor) -> dict[str, Any]:
        return named(layer(**given), returns)

    return purity_and_gradients(call, arguments, grad_outputs, dict(layer.named_parameters()))


class _LearnedPositions(nn.Module):
    """A layer with the right parameter, `embedding` (n, d_model), and no forward pass."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))


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


@mistake(
    "PositionEmbedding", "The positions replace the tokens here. Add the two, so that both meanings stay."
)
class PositionsAlone(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding[: tokens.shape[-2]].expand_as(tokens)


@mistake("PositionEmbedding", "The tokens come back as they went in: add self.embedding.")
class PositionsMissing(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + 0.0 * self.embedding[: tokens.shape[-2]]


@mistake(
    "PositionEmbedding", "All tokens get one and the same vector; give each its own row of self.embedding."
)
class FirstPositionForAll(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[0]


@mistake("PositionEmbedding", "T tokens get the last T positions here; they should get the first T.")
class LastPositions(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[-tokens.shape[-2] :]


@mistake(
    "PositionEmbedding", "This fails where there are fewer tokens than positions: take the first T rows."
)
class AllPositions(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding


@mistake("PositionEmbedding", "The positions are multiplied with the tokens. Add them.")
class MultipliesPositions(_LearnedPositions):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens * self.embedding[: tokens.shape[-2]]


ONE_LEARNED_PARAMETER = Check(
    name="parameters",
    title="embedding is learned, of shape (n, d_model), and the only parameter",
    points=3,
    needs=("values",),
    probe=position_parameters,
    examples=trials(draw_position_sizes, dict(n=3, d_model=4)),
    trials=trials(draw_position_sizes, dict(n=11, d_model=7)),
)
POSITION_CHECKS = StandardChecks(reference=PositionEmbedding, returns=("output",), draw=draw_positions)
POSITIONS = Exercise(
    id="3.2",
    title="Learned positions",
    reference=(PositionEmbedding,),
    points=10,
    difficulty=1,
    minutes=6,
    checks=(
        POSITION_CHECKS.values(
            "each token gets the vector of its place",
            6,
            examples=[dict(tokens=2, n=3, d_model=4)],
            trials=[
                dict(batch_shape=(2,), tokens=7, n=7, d_model=5),
                dict(tokens=3, n=11, d_model=5),
                dict(batch_shape=(2, 3), tokens=4, n=5, d_model=7),
                dict(batch_shape=(3,), tokens=1, n=2, d_model=5),
            ],
        ),
        ONE_LEARNED_PARAMETER,
        POSITION_CHECKS.conduct(
            1,
            trials=[dict(batch_shape=(2,), tokens=3, n=5, d_model=7, dtype=torch.float64)],
            probe=position_gradients,
        ),
    ),
    mistakes=mistakes_in(globals(), "PositionEmbedding"),
    review="Where is a token?",
)
