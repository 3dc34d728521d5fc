"""A reference stands in only where tensors and numbers are all that it takes; a function or a list cannot cross the pipe."""

from collections.abc import Callable

import pytest
from torch import Tensor

from grader.grading.stand_ins import _takes_tensors


def tensors_and_numbers(value: Tensor, steps: int | Tensor, rate: float) -> Tensor:
    return value


def anything_by_default(value: Tensor, names: dict | None = None) -> Tensor:
    return value


def a_function(score: Callable[[Tensor], Tensor], value: Tensor) -> Tensor:
    return score(value)


def a_list(maps: list[Tensor]) -> Tensor:
    return maps[0]


def a_tensor_or_a_list(maps: list[Tensor] | Tensor) -> Tensor:
    return maps[0]


@pytest.mark.parametrize(
    ("reference", "stands_in"),
    [
        (tensors_and_numbers, True),
        (anything_by_default, True),
        (a_function, False),
        (a_list, False),
        (a_tensor_or_a_list, False),
        (Tensor, False),
    ],
)
def test_what_can_cross_the_pipe(reference: Callable, stands_in: bool) -> None:
    assert _takes_tensors(reference) is stands_in
