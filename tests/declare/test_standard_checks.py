"""The checks that `StandardChecks` makes: their names, what they call, what they draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.declare.errors import DeclarationError
from grader.declare.exercise import Check
from grader.declare.sampler import InputSampler
from grader.declare.standard_checks import CONDUCT, StandardChecks
from grader.judge.reference_results import run_here
from grader.records import Inputs, Value


def sum_and_difference(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x + y, x - y


class Scaling(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factors


class ScalingWithBias(Scaling):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.bias = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.bias


def draw_two(sampler: InputSampler, *, numbers: int, dtype: torch.dtype = torch.float32) -> Inputs:
    return {"x": sampler.normal(numbers, dtype=dtype), "y": sampler.normal(numbers, dtype=dtype)}


def draw_scaling(sampler: InputSampler, *, width: int) -> Inputs:
    return {
        "sizes": {"width": width},
        "weights": {"factors": sampler.normal(width)},
        "arguments": {"x": sampler.normal(5, width)},
    }


PAIR = StandardChecks(reference=sum_and_difference, returns=("sum", "difference"), draw=draw_two)
SCALING = StandardChecks(reference=Scaling, returns=("scaled",), draw=draw_scaling, zero_others=True)


def drawn(check: Check) -> Inputs:
    return check.trials[0].draw(InputSampler("key"))


def report(check: Check, definition: Any) -> Mapping[str, Value]:
    got = run_here(check, {definition.__name__: definition}, drawn(check))
    assert got.error == "", got.message
    return got.values


def test_values_are_all_that_come_back_or_only_one() -> None:
    both = PAIR.check("values", 1, "x", trials=[dict(numbers=3)])
    one = PAIR.check("values", 1, "x", only="difference", trials=[dict(numbers=3)])
    assert both.name == "values"
    assert both.needs == ()
    assert list(report(both, sum_and_difference)) == ["sum", "difference"]
    assert list(report(one, sum_and_difference)) == ["difference"]
    arguments = drawn(one)["arguments"]
    assert torch.equal(report(one, sum_and_difference)["difference"], arguments["x"] - arguments["y"])


@pytest.mark.parametrize(
    ("check", "name", "title"),
    [
        (PAIR.check("batch", 1, trials=[dict(numbers=3)]), "batch", "leading batch dimensions are kept"),
        (PAIR.check("zeros", 1, "all zeros", trials=[dict(numbers=3)]), "zeros", "all zeros"),
        (PAIR.check("conduct", 1, trials=[dict(numbers=3)]), "conduct", CONDUCT),
        (PAIR.check("conduct", 1, "it learns", trials=[dict(numbers=3)]), "conduct", "it learns"),
    ],
)
def test_batch_and_conduct_have_a_title(check: Check, name: str, title: str) -> None:
    assert (check.name, check.title) == (name, title)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(DeclarationError, match="check 'values' of sum_and_difference: give a title"):
        PAIR.check("values", 1, trials=[dict(numbers=3)])
    with pytest.raises(DeclarationError, match="check 'batch' of sum_and_difference: give a draw"):
        replace(PAIR, draw=None).check("batch", 1, trials=[dict(numbers=3)])


def difference_alone(function, arguments: Mapping[str, Tensor]) -> Mapping[str, Value]:
    return {"difference": function(**arguments)[1]}


def called_by_its_name(sum_and_difference, x: Tensor, y: Tensor) -> Mapping[str, Value]:
    return {"sum": sum_and_difference(x, y)[0]}


def called_with_a_name(function, x: Tensor, y: Tensor) -> Mapping[str, Value]:
    return {"sum": function(x, y)[0]}


def directions_alone(function, arguments: Mapping[str, Tensor], grad_outputs: Mapping) -> Mapping[str, Value]:
    return {"directions": list(grad_outputs)}


@pytest.mark.parametrize(
    ("more", "inputs", "returned"),
    [
        (dict(probe=difference_alone), ["arguments", "returns"], ["difference"]),
        (dict(probe=directions_alone), ["arguments", "returns", "grad_outputs"], ["directions"]),
        (dict(probe=called_by_its_name), ["x", "y"], ["sum"]),
        (dict(probe=called_with_a_name, names={"function": "sum_and_difference"}), ["x", "y"], ["sum"]),
    ],
)
def test_a_probe_of_ones_own_gets_what_it_asks_for(
    more: dict[str, Any], inputs: list[str], returned: list[str]
) -> None:
    check = PAIR.check("conduct", 1, "x", trials=[dict(numbers=3)], **more)
    assert list(drawn(check)) == inputs
    assert list(report(check, sum_and_difference)) == returned


def test_each_trial_may_have_a_draw_of_its_own() -> None:
    def draw_same(sampler: InputSampler, *, numbers: int) -> Inputs:
        return dict.fromkeys("xy", sampler.normal(numbers))

    sizes = [dict(numbers=3), dict(numbers=5)]
    check = PAIR.check(
        "values", 1, "x", trials=sizes, examples=sizes, draw=(draw_two, draw_same), draw_public=draw_same
    )
    same = [torch.equal(*one.draw(InputSampler("key"))["arguments"].values()) for one in check.trials + check.examples]
    assert same == [False, True, True, True]


def test_fields_of_the_check_may_be_given() -> None:
    names = {"function": "another"}
    check = PAIR.check("conduct", 1, needs=("sum",), rtol=30, names=names, trials=[dict(numbers=3)])
    assert (check.needs, check.rtol, check.names) == (("sum",), 30, names)


def test_directions_are_drawn_after_the_inputs_in_the_shape_and_dtype_of_the_outputs() -> None:
    check = PAIR.check("conduct", 1, trials=[dict(numbers=3, dtype=torch.float64)])
    sampler = InputSampler("key")
    draw_two(sampler, numbers=3, dtype=torch.float64)
    expected = [sampler.normal(3, dtype=torch.float64) for _ in range(2)]
    directions = drawn(check)["grad_outputs"]
    assert list(directions) == ["sum", "difference"]
    for direction, right in zip(directions.values(), expected, strict=True):
        assert direction.dtype == torch.float64
        assert torch.equal(direction, right)
    gradients = report(check, sum_and_difference)
    assert torch.allclose(gradients["gradient of y"], expected[0] - expected[1])


def test_drawing_leaves_the_callers_random_numbers_alone() -> None:
    class Random(Scaling):
        def __init__(self, width: int) -> None:
            super().__init__(width)
            nn.init.normal_(self.factors)

    check = StandardChecks(reference=Random, returns=("scaled",), draw=draw_scaling).check(
        "conduct", 1, trials=[dict(width=3)]
    )
    before = torch.random.get_rng_state()
    drawn(check)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_parameter_without_weights_is_set_to_zero_where_that_is_wanted() -> None:
    wrong = type("Scaling", (ScalingWithBias,), {})
    zeroed = SCALING.check("values", 1, "x", trials=[dict(width=3)])
    kept = StandardChecks(reference=Scaling, returns=("scaled",), draw=draw_scaling).check(
        "values", 1, "x", trials=[dict(width=3)]
    )
    right = report(zeroed, Scaling)["scaled"]
    assert torch.equal(report(zeroed, wrong)["scaled"], right)
    assert torch.equal(report(kept, wrong)["scaled"], right + 1)
    conduct = SCALING.check("conduct", 1, trials=[dict(width=3)])
    assert list(report(conduct, wrong)) == ["inputs unchanged", "scaled", "gradient of x", "gradient of factors"]
