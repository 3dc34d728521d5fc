"""Inputs that are drawn from their shapes."""

import torch

from grader.declare.drawn import and_more, drawn, drawn_layer, given, integers, then, where_given
from grader.declare.sampler import InputSampler


def test_shapes_say_what_is_drawn() -> None:
    draw = drawn(
        tokens="* count heads·width",
        place=integers(0, "count", "*"),
        bias=where_given("bias", "bias"),
        least=given("least", 1),
    )
    inputs = draw(InputSampler("key"), batch_shape=(2,), count=3, heads=2, width=5, dtype=torch.float64)
    assert [*inputs] == ["tokens", "place", "least"]
    assert inputs["tokens"].shape == (2, 3, 10)
    assert inputs["tokens"].dtype == torch.float64
    assert inputs["place"].shape == (2,)
    assert draw(InputSampler("key"), count=3, heads=2, width=5, bias=4)["bias"].shape == (4,)


def test_more_is_drawn_after_the_rest_and_made_of_what_is_drawn() -> None:
    first = drawn(tokens="* count")
    inputs = and_more(first, direction=then("* count", torch.Tensor.abs))(
        InputSampler("key"), batch_shape=(2,), count=3
    )
    sampler = InputSampler("key")
    assert [*inputs] == ["tokens", "direction"]
    assert torch.equal(inputs["tokens"], first(sampler, batch_shape=(2,), count=3)["tokens"])
    assert torch.equal(inputs["direction"], sampler.normal(2, 3).abs())


def test_what_is_made_of_a_mask_has_the_dtype_of_the_trial() -> None:
    draw = drawn(ones=then("count", lambda numbers: (numbers > 0.8) * 1.0), places=then(integers(0, 9, "count"), abs))
    for given_dtype, expected in (({}, torch.float32), ({"dtype": torch.float64}, torch.float64)):
        inputs = draw(InputSampler("key"), count=3, **given_dtype)
        assert (inputs["ones"].dtype, inputs["places"].dtype) == (expected, torch.int64)


def test_a_layer_is_drawn_with_its_weights() -> None:
    draw = drawn_layer(torch.nn.Linear, dict(in_features="d", out_features="heads·d"), tokens="* d")
    inputs = draw(InputSampler("key"), batch_shape=(5,), d=3, heads=2)
    assert inputs["sizes"] == {"in_features": 3, "out_features": 6}
    assert {name: tuple(weight.shape) for name, weight in inputs["weights"].items()} == {"weight": (6, 3), "bias": (6,)}
    assert inputs["arguments"]["tokens"].shape == (5, 3)
