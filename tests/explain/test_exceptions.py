"""What students read of exceptions: code that is run here, and the sentence that it leads to (exceptions.txt)."""

import linecache
import math
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.declare.probes import as_number, as_tensor, learned, load, pair
from grader.explain.exceptions import meaning as exceptions
from grader.explain.exceptions.meaning import EXCEPTION_RULES, meaning
from grader.explain.values.wording import two_lengths
from grader.judge.where_raised import the_line

BLOCK = re.compile(r"^== (.+?) \| (.+?)\n(.+?)\n>>(.*)$", re.M | re.S)


def blocks(file: str) -> list:
    """Read blocks of "== name | call", a source, and ">> what is said"."""
    text = (Path(__file__).parent / file).read_text("utf-8")
    return [
        pytest.param(call, source + "\n", says.strip(), id=name)
        for part in text.split("\n\n== ")
        for name, call, source, says in BLOCK.findall("== " + part.removeprefix("== ").strip())
    ]


def copy(weight: torch.Tensor, value: torch.Tensor) -> None:
    """Put a value into a parameter, as the probes do."""
    with torch.no_grad():
        weight.copy_(value)


def gradients(layer: nn.Module) -> None:
    """Ask for the gradients of all parameters, as the probes do."""
    total = sum(parameter.sum() for parameter in layer.parameters())
    torch.autograd.grad(total.requires_grad_(), list(layer.parameters()))


def in_batch(tensor: torch.Tensor) -> torch.Tensor:
    """Put a batch of five in front."""
    return tensor.expand(5, *tensor.shape)


def summed(tensor: torch.Tensor, edit) -> torch.Tensor:
    """Call a function that the answer hands on, and go on with what it returns."""
    return edit(tensor).sum()


class Both(nn.Module):
    """A layer with a part that reads four numbers and gives three."""

    def __init__(self) -> None:
        super().__init__()
        self.W_O = nn.Linear(4, 3)


class Looks:
    """A layer that refuses a context of another width, as torch's attention does."""

    def __call__(self, tokens: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        raise AssertionError("expecting key weights shape of (4, 3), but got torch.Size([4, 4])")


def newer_root(x: float) -> float:
    """Refuse a negative number in the words of Python 3.14."""
    raise ValueError(f"expected a nonnegative input, got {float(x)}")


NAMES = {"Looks": Looks, "torch": torch, "nn": nn, "F": F, "math": math}
CALLER = {"pair": pair, "as_tensor": as_tensor, "copy": copy, "grad": gradients, "B": in_batch}
CALLER |= {"number": as_number, "load": load, "learned": learned}
CALLER |= {"Both": Both, "summed": summed, "newer_root": newer_root}
CALLER |= {"q": torch.rand(2, 4), "k": torch.rand(3, 4)}


def said(source: str, call: str, others: str = "") -> str:
    """Run a call of an answer, which must raise, and return what is said.

    Args:
        others: source of another exercise, which is there before.
    """
    files = {"<other>": "1.1", "<answer>": "1.2"}
    for file, text in zip(files, (others, source), strict=True):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # .T of a batch warns
        exec(compile(others, "<other>", "exec"), names)
        exec(compile(source, "<answer>", "exec"), names)
        with pytest.raises(Exception) as raised:  # noqa: PT011  (which one it is, the case says)
            eval(call, {**names, **CALLER})
    place = the_line(raised.value, files, "1.2")
    return meaning(type(raised.value).__name__, str(raised.value), place.line, place.shapes, source)


@pytest.mark.parametrize(("call", "source", "says"), blocks("exceptions.txt"))
def test_the_sentence(call: str, source: str, says: str) -> None:
    assert said(source, call) == says


def test_every_rule_has_been_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def noted(pattern: str, rule: object):
        def note(raising, found):
            says = rule if isinstance(rule, str) else rule(raising, found)
            seen.update([pattern] if says else [])
            return says

        return note

    rules = tuple((pattern, noted(pattern, rule)) for pattern, rule in EXCEPTION_RULES)
    monkeypatch.setattr(exceptions, "EXCEPTION_RULES", rules)
    for block in blocks("exceptions.txt"):
        call, source, _ = block.values
        said(source, call)
    assert [pattern for pattern, _ in rules if pattern not in seen] == []


MASKED = """
def attention(query, key, value, mask=None):
    if query.ndim > 5:
        raise ValueError("too many axes")
    weights = (query @ key.mT).masked_fill(mask == 0, -1e9).softmax(-1)
    return weights @ value
"""


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            "attention(torch.rand(3, 4), torch.rand(5, 4), torch.rand(3, 2), torch.ones(3, 5))",
            "`weights` and `value` cannot be multiplied as they are:"
            " the last axis of the first must be as long as the second-to-last axis of the second.",
        ),
        (
            "attention(*(torch.rand(1, 1, 1, 1, 1, 1),) * 3)",
            "the function refuses this value. Which values does it accept?",
        ),
        ("attention([], [], [])", None),
    ],
)
def test_in_another_exercise_no_change_of_its_line_is_advised(call: str, says: str | None) -> None:
    text = said(f"def f():\n    return {call}\n", "f()", MASKED)
    assert text == ("A value that you pass to this code does not fit: " + says if says else "")


@pytest.mark.parametrize("function", ["", "mm: "])  # PyTorch 2.15 says which one it was
def test_a_line_that_was_cut_is_found(function: str) -> None:
    source = "def f(query, key):\n    return torch.matmul(query, key) + 0 * query.sum() + 0 * key.sum()\n"
    message = f"{function}mat1 and mat2 shapes cannot be multiplied (2x4 and 3x4)"
    shapes = {"query": (2, 4), "key": (3, 4)}
    for line in (source.splitlines()[1], "return torch.matmul(query, key) + 0 * query.s…"):
        text = meaning("RuntimeError", message, line, shapes, source)
        assert text == (
            "`query` and `key` cannot be multiplied as they are: the sizes fit if the last two axes of `key` are swapped."
        )


@pytest.mark.parametrize("source", ["", "def f(:", "x = 1\x00", "(" * 500])
@pytest.mark.parametrize("line", ["", "(", "def f(:", "\x00", "return x @ y"])
def test_code_that_cannot_be_read_is_no_error(source: str, line: str) -> None:
    product = "mat1 and mat2 shapes cannot be multiplied (2x4 and 3x4)"
    sizes = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    name = "name 'patchsize' is not defined"
    for error, message in [("RuntimeError", product), ("RuntimeError", sizes), ("NameError", name), ("", "")]:
        assert isinstance(meaning(error, message, line, {"x": (2, 4), "y": (3, 4)}, source), str)


class Raised(NamedTuple):
    message: str
    sizes: dict
    line: str = "x + y"


UNEQUAL = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension 1"


@pytest.mark.parametrize(
    ("trials", "says"),
    [
        ([((5, 2), dict(d_k=5, d_v=2))], "d_k and d_v"),
        ([((7, 21), dict(patches=7, batch_shape=(3,)))], "the number of patches and the number of patches in the whole batch"),
        # In one trial two sizes are the same: the others tell which one it is.
        ([((3, 2), dict(words=3, d_k=3, d_v=2)), ((5, 2), dict(words=5, d_k=7, d_v=2))], "the number of words and d_v"),
        ([((3, 2), dict(words=3, d_k=3, d_v=2))], ""),
        ([((6, 2), dict(words=5, d_v=2))], ""),
    ],
)  # fmt: skip
def test_two_lengths_have_names(trials: list, says: str) -> None:
    raised = [Raised(UNEQUAL.format(*lengths), sizes) for lengths, sizes in trials]
    assert two_lengths(raised) == (f"Two sizes on this line do not match: {says}." if says else "")
