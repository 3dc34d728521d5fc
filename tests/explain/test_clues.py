"""Which line is named as the cause of an effect (clues.txt), and that each such effect does occur in code that runs."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.explain.code.clues import clue
from grader.explain.code.read_code import Effect
from tests.explain.test_exceptions import blocks


@pytest.mark.parametrize(("effect", "source", "says"), blocks("clues.txt"))
def test_the_line(effect: str, source: str, says: str) -> None:
    effect, _, name = effect.partition(" ")
    found = clue(Effect[effect], source, name)
    assert (found.says if found else "") == says


def run(source: str, *arguments: torch.Tensor) -> torch.Tensor:
    names = {"torch": torch, "nn": nn, "F": F}
    exec(source, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of float(x) where x has a gradient
        return names["f"](*arguments)


def of(effect: str) -> list:
    """The functions of the table for which a line is named."""
    return [block for block in blocks("clues.txt") if block.values[0] == effect and block.values[2]]


# Of the lines that are named here the effect is certain: none of these names a line that is harmless.
@pytest.mark.parametrize(
    ("effect", "source", "says"),
    [block for block in of("GRADIENT") if "def f(x)" in block.values[1] and "np." not in block.values[1]],
)
def test_no_gradient_passes(effect: str, source: str, says: str) -> None:
    x = torch.rand(2, 3, requires_grad=True)
    with torch.enable_grad():
        result = run(source, x)
    if isinstance(result, torch.Tensor) and result.requires_grad:
        assert torch.autograd.grad(result.sum(), x)[0].count_nonzero() in (0, x.numel())
        assert "round" in says or "float(" in says


@pytest.mark.parametrize(("effect", "source", "says"), of("FLOAT32"))
def test_float32_comes(effect: str, source: str, says: str) -> None:
    assert run(source, torch.rand(3, 4, dtype=torch.float64)).dtype is torch.float32


@pytest.mark.parametrize(("effect", "source", "says"), of("IN_PLACE"))
def test_an_input_is_changed(effect: str, source: str, says: str) -> None:
    first = torch.randn(3, 3)
    before = first.clone()
    if "def f(n, x)" in source:
        run(source, 2, first)
    else:
        run(source, *(first, torch.rand(3, 3))[: source.partition(":")[0].count(",") + 1])
    assert not torch.equal(first, before)


@pytest.mark.parametrize("source", ["", "def f(:", "x = 1\x00", "(" * 500, "return x", "lambda x: x.item()"])
@pytest.mark.parametrize("effect", Effect)
def test_code_without_a_function_is_no_error(effect: Effect, source: str) -> None:
    assert clue(effect, source, "x") is None or source == "lambda x: x.item()"
