"""Exercise 3.2: `PositionEmbedding`, a learned vector for each position."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.positions import PositionEmbedding
from torch import Tensor

from grader.course.common.model_state import make_with_nan
from grader.course.lesson_3 import stand_ins
from grader.declare.authoring import CheckSpec, Value, drawn, drawn_layer, drawn_part, given, sizes, written_exercise
from grader.declare.probes import load, named, purity_and_gradients

draw_positions = drawn_layer(
    drawn_part(embedding="n d_model"), dict(n="n", d_model="d_model"), tokens="* tokens d_model"
)

draw_position_sizes = drawn(n=given("n"), d_model=given("d_model"))


def position_parameters(PositionEmbedding, n: int, d_model: int) -> Mapping[str, Value]:
    """Return the properties of a layer's parameters.

    They are the names, the embedding's shape, whether all parameters are learned, and the number of
    positions that begin with different vectors.
    """
    layer = make_with_nan(lambda: PositionEmbedding(n=n, d_model=d_model))
    return {
        "parameters": sorted(name for name, _ in layer.named_parameters()),
        "shape": list(layer.embedding.shape),
        "learned": all(parameter.requires_grad for parameter in layer.parameters()),
        "places that begin apart": len(torch.unique(layer.embedding.nan_to_num(), dim=0)),
    }


def position_gradients(layer_class, sizes, weights, arguments, returns, grad_outputs) -> dict[str, Any]:
    """Return side effects and gradients of a layer, made with its sizes by position, for all its parameters.

    The names of the parameters may differ from the reference's. The check "parameters" compares the
    names.
    """
    layer = load(layer_class(*sizes.values()), weights)

    def call(**given: Tensor) -> dict[str, Any]:
        return named(layer(**given), returns)

    return purity_and_gradients(call, arguments, grad_outputs, dict(layer.named_parameters()))


POSITIONS = written_exercise("3.2 Learned positions", PositionEmbedding, (
    CheckSpec("values", 6, "each token gets the vector of its place", examples=[sizes(tokens=2, n=3, d_model=4)],
        trials=[sizes(batch_shape=(2,), tokens=7, n=7, d_model=5), sizes(tokens=3, n=11, d_model=5),
            sizes(batch_shape=(2, 3), tokens=4, n=5, d_model=7), sizes(batch_shape=(3,), tokens=1, n=2, d_model=5)]),
    CheckSpec("parameters", 3, "embedding is learned, of shape (n, d_model), and the only parameter",
        examples=[sizes(n=3, d_model=4)], trials=[sizes(n=11, d_model=7)],
        draw=draw_position_sizes, probe=position_parameters),
    CheckSpec("conduct", 1, trials=[sizes(batch_shape=(2,), tokens=3, n=5, d_model=7, dtype=torch.float64)],
        probe=position_gradients),
),
    draw=draw_positions, returns=("output",),
    difficulty=1, minutes=6, review="Where is a token?", stand_in=stand_ins.PositionEmbedding,
    mistakes="""
    fixed_positions: Your positions are fixed, because only an nn.Parameter is trained. Make self.embedding an
        nn.Parameter.
        self.embedding = nn.Parameter(torch.randn(n, d_model))
            →  self.register_buffer("embedding", torch.randn(n, d_model))
    places_alike: All places begin with the same vector, so the layer cannot tell them apart. Draw the vectors at
        random: torch.randn.
        torch.randn(n, d_model)  →  torch.zeros(n, d_model)
    from_the_second_row: The slice begins at the second row, so no token gets the first position. Begin at row 0.
        self.embedding[:count]  →  self.embedding[1 : count + 1]
    positions_alone: Your positions replace the tokens. Add the positions to the tokens instead.
        tokens + self.embedding[:count]  →  self.embedding[:count].expand_as(tokens)
    positions_missing: You return the tokens unchanged. Add the rows of self.embedding to them.
        tokens + self  →  tokens + 0.0 * self
    first_position_for_all: In your code all tokens get the same vector. Give each token its own row of
        self.embedding.
        self.embedding[:count]  →  self.embedding[0]
    last_position_for_all: In your code all tokens get the vector of the last place, row T − 1. Take the rows 0 to
        T − 1 with a slice.
        self.embedding[:count]  →  self.embedding[count - 1]
    last_positions: T tokens get the last T positions here. They should get the first T positions.
        [:count]  →  [-count:]
    all_positions: Your code fails if there are fewer tokens than positions. Take only the first T rows.
        [:count]  →
    multiplies_positions: The positions are multiplied by the tokens. Add them instead.
        tokens + self  →  tokens * self
""")  # fmt: skip
