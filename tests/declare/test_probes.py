"""Probes: what they report of an answer that returns something else, has other parameters, or changes what it gets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from grader.declare.probes import (
    WrongForm,
    as_number,
    call_layer,
    effects_of,
    function_gradients,
    layer_gradients,
    named,
    side_effects,
    zeroed_layer_gradients,
)

QUERY = {"query": torch.ones(2, 3)}
ALONG = {"scores": torch.ones(2, 3)}


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (lambda query: None, "scores: None, expected a tensor"),
        (lambda query: query.tolist(), "scores: list, expected a tensor"),
        (lambda query: 1.0, "scores: float, expected a tensor"),
        (lambda query: query.T, "scores: shape (3, 2), expected (2, 3)"),
    ],
)
def test_no_arithmetic_of_ours_raises_for_what_came_back(answer: Callable, finding: str) -> None:
    with pytest.raises(WrongForm) as caught:
        function_gradients(answer, QUERY, ["scores"], ALONG)
    assert str(caught.value) == finding


@pytest.mark.parametrize(
    ("returned", "finding"),
    [
        (None, "got None, expected two: output and weights"),
        (torch.ones(2, 3), "got one value, expected two: output and weights"),
        ((torch.ones(2),), "got one value, expected two: output and weights"),
        ((1, 2, 3), "got 3 values, expected two: output and weights"),
        ([], "got 0 values, expected two: output and weights"),
    ],
)
def test_another_number_of_values_is_a_finding(returned: object, finding: str) -> None:
    with pytest.raises(WrongForm) as caught:
        named(returned, ["output", "weights"])
    assert str(caught.value) == finding
    with pytest.raises(WrongForm) as caught:
        named(returned, ["output", None])
    assert str(caught.value) == finding.partition(":")[0]


def test_a_pair_may_be_a_list() -> None:
    assert named([1, 2], ["output", "weights"]) == {"output": 1, "weights": 2}
    assert named((1, 2), ["output", None]) == {"output": 1}


@pytest.mark.parametrize(
    ("value", "finding"),
    [
        (None, "share: None, expected one number"),
        ("0.5", "share: str, expected one number"),
        (torch.ones(2), "share: shape (2,), expected one number"),
    ],
)
def test_what_is_no_number_is_a_finding(value: object, finding: str) -> None:
    with pytest.raises(WrongForm) as caught:
        as_number(value, "share")
    assert str(caught.value) == finding
    assert as_number(torch.tensor([0.5]), "share") == as_number(0.5, "share") == 0.5


def test_a_tensor_that_leads_back_to_nothing_has_no_gradients() -> None:
    found = function_gradients(lambda query: query.detach() * 2, QUERY, ["scores"], ALONG)
    assert found["gradient of query"] is None
    assert found["inputs unchanged"] is True
    found = function_gradients(lambda query: query * 2, QUERY, ["scores"], ALONG)
    assert found["gradient of query"].tolist() == [[2.0] * 3] * 2


# ---------------------------------------------------------------- layers


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.W_Q = nn.Linear(width, 3, bias=False)
        self.W_K = nn.Linear(width, 3, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.W_Q(tokens) + 2 * self.W_K(tokens)


class OtherNames(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.query, self.factor = self.W_Q, nn.Parameter(torch.ones(1))
        del self.W_Q


class InAList(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.parts = [self.W_Q, self.W_K]
        del self.W_Q, self.W_K


class OtherWidth(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width + 1)


class NoLayer(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        del self.W_K
        self.W_K = torch.ones(3, width)


class Function:
    def __init__(self, width: int) -> None: ...


class OneForBoth(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.W_K = self.W_Q


class Buffer(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        weight = self.W_K.weight.data
        del self.W_K.weight
        self.W_K.register_buffer("weight", weight)


class Frozen(Layer):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.W_K.requires_grad_(False)


WEIGHTS = {"W_Q.weight": torch.ones(3, 2), "W_K.weight": torch.ones(3, 2)}
TOKENS = {"tokens": torch.ones(5, 2)}
OUTWARD = {"output": torch.ones(5, 3)}


@pytest.mark.parametrize(
    ("layer", "finding"),
    [
        (OtherNames, "your layer has no W_Q; it has W_K, query, factor"),
        (InAList, "your layer has no W_Q; it has no parameters"),
        (OtherWidth, "W_Q.weight: shape (3, 3), expected (3, 2)"),
        (NoLayer, "W_K has the type Tensor, expected a layer"),
        (Function, "Function is not an nn.Module"),
    ],
)
def test_what_a_layer_has_is_said_where_it_lacks_what_was_asked_for(layer: type, finding: str) -> None:
    for probe, more in ((call_layer, {}), (zeroed_layer_gradients, {"grad_outputs": OUTWARD})):
        with pytest.raises(WrongForm) as caught:
            probe(layer, {"width": 2}, WEIGHTS, TOKENS, ["output"], **more)
        assert str(caught.value) == finding


def test_a_part_of_a_part_is_named_with_it() -> None:
    class Outer(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.attention = Layer(width)

    for path, finding in {
        "attention.W_Q.bias": "attention.W_Q has no bias; it has weight",
        "attention.W_Q": "attention.W_Q has the type Linear, expected a single parameter",
        "attention.W_Q.0.weight": "attention.W_Q has no 0; it has weight",
    }.items():
        with pytest.raises(WrongForm) as caught:
            call_layer(Outer, {"width": 2}, {path: torch.ones(3)}, TOKENS, ["output"])
        assert str(caught.value) == finding


@pytest.mark.parametrize(
    ("layer", "finding"),
    [
        (OneForBoth, "W_Q.weight and W_K.weight are one parameter, expected two"),
        (Buffer, "W_K.weight is not an nn.Parameter, so it does not learn"),
    ],
)
def test_what_does_not_learn_by_itself_is_a_finding(layer: type, finding: str) -> None:
    for probe in (layer_gradients, zeroed_layer_gradients):
        with pytest.raises(WrongForm) as caught:
            probe(layer, {"width": 2}, WEIGHTS, TOKENS, ["output"], OUTWARD)
        assert str(caught.value) == finding


def test_a_frozen_parameter_has_no_gradient_and_the_others_have_theirs() -> None:
    found = layer_gradients(Frozen, {"width": 2}, WEIGHTS, TOKENS, ["output"], OUTWARD)
    assert found["gradient of W_K.weight"] is None
    assert found["gradient of W_Q.weight"].tolist() == [[5.0, 5.0]] * 3
    assert found["gradient of tokens"].tolist() == [[9.0, 9.0]] * 5


# ---------------------------------------------------------------- side effects


def changes_a_view(query: Tensor, key: Tensor) -> Tensor:
    flat = key.reshape(-1)  # a copy, where the numbers do not lie in order
    flat -= 1
    return flat


def changes_both(query: Tensor, key: Tensor) -> Tensor:
    return query.add_(1) + key.unsqueeze_(0)


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (lambda query, key: query + key, []),
        (lambda query, key: query.t_(), ["query"]),
        (changes_a_view, ["key"]),
        (changes_both, ["query", "key"]),
    ],
)
def test_the_inputs_that_were_changed_are_named(answer: Callable, changed: list[str]) -> None:
    inputs = {"query": torch.ones(2, 3), "key": torch.ones(2, 3)}
    found = effects_of(answer, inputs)
    assert found == ({"inputs unchanged": False, "changed": changed} if changed else {"inputs unchanged": True})
    assert torch.equal(inputs["key"], torch.ones(2, 3))
    along = {"sum": torch.ones(2, 3)}
    assert function_gradients(answer, inputs, ["sum"], along).get("changed", []) == changed


def test_another_dtype_in_the_same_place_is_a_change() -> None:
    before, after = {"mask": torch.ones(2, dtype=torch.bool)}, {"mask": torch.ones(2)}
    assert side_effects(before, after) == {"inputs unchanged": False, "changed": ["mask"]}
    assert side_effects({**before, "n": 3}, before) == {"inputs unchanged": True}
