"""A wrong answer is written as a small change of a right one."""

import pytest
import torch
from attention.dot_product import scaled_scores
from torch import nn

from grader.declare.edits import edits, in_both
from grader.declare.errors import DeclarationError


def doubled(x, times=2):
    """Return x, times by times: this x * times is prose, and no edit finds it."""

    def inner(y):
        return y

    return inner(x * times)


def halved(x):
    return x / 2


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


def wrong(right, lines, **names):
    """Return the wrong definition that a mistake with these lines makes of a right one."""
    (mistake,) = edits(right, "a_slip: It is wrong.\n" + "".join(f"    {line}\n" for line in lines), **names)
    return next(iter(mistake.replaces.values()))


@pytest.mark.parametrize(
    ("lines", "comes_out"),
    [
        (["x * times  →  x + times"], 7),
        (["x * times  →"], None),
        (["+ times = 3"], 15),
        (["+ times = 3", "+ x = x + times"], 24),
        (["= result + 1"], 11),
        (["+ x = 1", "x * times  →  x * (times + 1)", "= -result"], -3),
        (["x * times", "    →  x", "       + times"], 7),  # a long change goes on in lines that are indented further
        (["+ x = (x", "  + times)", "= result", "  + 1"], 15),
    ],
)
def test_a_change_does_what_it_says(lines, comes_out):
    if comes_out is None:
        with pytest.raises(TypeError):
            wrong(doubled, lines)(5)
    else:
        assert wrong(doubled, lines)(5) == comes_out
    assert doubled(5) == 10


def test_a_method_is_changed_and_what_forward_gives():
    x = torch.eye(3)
    made = wrong(Layer, ["+ __init__: width = 2 * width", "proj(x)  →  proj(torch.cat([x, x], -1))", "= result.sum()"])(
        3
    )
    assert made.proj.weight.shape == (6, 6)
    assert made(x).ndim == 0


def test_names_hints_and_slips_are_read():
    first, second = edits(
        scaled_scores,
        """
        not_divided (slip): These are the plain dot products:
            √d_k is missing.
            / sqrt(query.shape[-1])  →
        halved: The half.
            = half(result)
        """,
        defines="scores",
        half=lambda result: result / 2,
    )
    assert (first.name, first.slip, second.slip) == ("not_divided", True, False)
    assert first.hint == "These are the plain dot products: √d_k is missing."
    assert first.replaces.keys() == {"scores"}
    x = torch.eye(4)
    assert torch.equal(first.replaces["scores"](x, x), x)
    assert torch.equal(second.replaces["scores"](x, x), x / 4)


def used(mistakes):
    """Take each wrong definition, as `grader build` does: until then the changed text is not compiled."""
    return [dict(one.replaces) for one in mistakes]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a_slip: It is wrong.\n    y * times  →  0", "'y * times' stands there 0 times"),
        ("a_slip: It is wrong.\n    times  →  0", "'times' stands there 2 times"),
        ("a_slip: It is wrong.\n    this x  →  0", "'this x' stands there 0 times"),
        ("a_slip: It is wrong.\n    x * times  →  x *", "what comes out is no Python"),
        ("a_slip: It is wrong.\n    = result +", "what comes out is no Python"),
        ("a_slip: It is wrong.\n    + forwards: x = 1\n    = 1", "what comes out is no Python"),
        ("a_slip: It is wrong.\n    + times  →", "'+ times  →' begins with '+', which adds a line, and has →"),
        ("a_slip: It is wrong.\n    = times  →  0", "begins with '=', which adds a line, and has →"),
        ("a_slip: It is wrong.", "no line changes anything. Between old and new stands →"),
        ("    x * times  →  0", "is no `name: hint`"),
        ("A slip: It is wrong.\n    + x = 1", "is no `name: hint`"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(text, says):
    with pytest.raises(DeclarationError, match="edits of doubled") as raised:
        used(edits(doubled, text))
    assert says in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_of_a_class_a_method_that_is_not_there_is_said():
    with pytest.raises(DeclarationError, match=r"edits of Layer, a_slip: .*forwards"):
        used(edits(Layer, "a_slip: It is wrong.\n    + forwards: x = 1"))


def test_a_slip_of_two_functions_is_made_in_both():
    made = edits(doubled, "adds: It adds.\n    = result + 1") + edits(
        halved, "adds_too: So does this.\n    = result + 1"
    )
    (both,) = in_both(made, adds="adds_too")
    assert (both.name, both.hint, both.codes) == ("adds_in_both", "It adds.", ("", ""))
    assert (both.replaces["doubled"](5), both.replaces["halved"](5)) == (11, 3.5)


def test_a_slip_that_nobody_declared_is_not_made_in_both():
    with pytest.raises(DeclarationError, match="there is no mistake adds_too"):
        in_both(edits(doubled, "adds: It adds.\n    = result + 1"), adds="adds_too")
