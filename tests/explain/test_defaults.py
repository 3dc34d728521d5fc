"""A default value that the task does not ask for is found in the source, and tried on the reference."""

import pytest
from torch import nn

from grader.explain.defaults import asked_defaults, differing, other_defaults, with_asked


def loss(aligned, temperature=0.1, *, margin=2):
    return aligned / temperature + margin


class Layer(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads


def test_the_reference_with_another_default():
    (other,) = other_defaults((loss,), "def loss(aligned, temperature=0.5):\n    return 1")
    assert other.says == "The default of `temperature` is 0.5; the task asks for 0.1."
    assert other.replaces["loss"](3.0) == 8.0
    assert loss(3.0) == pytest.approx(32.0)  # the reference itself stays as it is


def test_a_parameter_that_is_given_by_name():
    (other,) = other_defaults((loss,), "def loss(aligned, *, margin=-1):\n    return 1")
    assert other.says == "The default of `margin` is −1; the task asks for 2."
    assert other.replaces["loss"](0.0, 1.0) == -1.0


def test_a_class_with_another_default():
    source = "class Layer(nn.Module):\n    def __init__(self, width, heads=8):\n        super().__init__()"
    (other,) = other_defaults((Layer,), source)
    assert other.replaces["Layer"](3).heads == 8
    assert Layer(3).heads == 4
    assert other.replaces["Layer"](3, 2).heads == 2


@pytest.mark.parametrize(
    "source",
    [
        "def loss(aligned, temperature=0.1):\n    return 1",
        "def loss(aligned, temperature=None):\n    return 1",
        "def loss(aligned, temperature=T):\n    return 1",
        "def other(aligned, temperature=0.5):\n    return 1",
        "def loss(aligned, temperature=",
    ],
)
def test_no_other_default(source):
    assert not list(other_defaults((loss,), source))


def test_the_answer_with_the_default_that_is_asked_for():
    asked = asked_defaults((loss, Layer))
    assert asked == {"loss": {"temperature": 0.1, "margin": 2}, "Layer": {"heads": 4}}
    source = "def loss(aligned, temperature=0.5, *, margin=3):\n    return 1"
    temperature, margin = differing(asked, source)
    assert with_asked(source, temperature).startswith("def loss(aligned, temperature=0.1, *, margin=3):")
    assert with_asked(source, margin).startswith("def loss(aligned, temperature=0.5, *, margin=2):")
    layer = "class Layer:\n    def __init__(self, width, heads=8):\n        self.heads = heads"
    (heads,) = differing(asked, layer)
    assert "heads=4" in with_asked(layer, heads)
